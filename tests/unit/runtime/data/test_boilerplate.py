"""Lines of pages that say nothing of what the page is about."""

from collections import Counter

import pytest

from runtime.data.boilerplate import without_boilerplate


@pytest.mark.parametrize(
    "line",
    [
        "Skip to main content", "Prev\t Up\t Next", "Home | Contents | Search", "Share on Facebook", "We use cookies to improve this site.",
        "© 2024 Some Company. All rights reserved.", "Read more", "Page 3 of 12", "上一页", "首页 > 登录 | 注册", "上一篇：春日的图书馆",
        "版权所有 © 某某公司", "京ICP备12345678号-1", "当前位置：首页 > 新闻 > 本地", "责任编辑：王小明", "扫描二维码关注我们", "相关阅读",
        "分享到微信", "分享到：微信 微博 QQ空间", "分享至朋友圈", "分享本文到新浪微博", "一键分享", "分享给好友", "分享到：",
        "转发给微信好友", "推荐给朋友",
        "分享到QQ空间、微博和豆瓣", "微信 | 微博 | QQ", "收藏 点赞 评论", "打开微信，使用“扫一扫”即可将网页分享至朋友圈。",
        "微信扫一扫 分享朋友圈",
        "用微信扫码查看全文", "复制链接",
        "\t\tHome\t\tLibraries\t\tPeople\t\tFAQ\t\tMore", "首页 新闻 产品 关于我们",
    ],
)  # fmt: skip
def test_boilerplate_goes_and_is_counted(line: str) -> None:
    taken: Counter[str] = Counter()
    assert without_boilerplate(f"正文的第一句话。\n{line}\nThe last sentence.", taken) == "正文的第一句话。\nThe last sentence."
    assert taken == {"boilerplate": 1}


@pytest.mark.parametrize(
    "line",
    [
        "Next, the reader finds the index of the book.", "The copyright of a work belongs to whoever wrote it.",
        "Search the tree from its root.", "News for people", "Help people", "More about developers", "下载 文档",
        "首页上有一篇关于图书馆的报道。", "版权属于作者，出版社只有使用权。", "下一页的内容更加有趣。",
        "他把照片分享到微信，朋友们都很喜欢。", "分享到微信的链接打不开", "微信", "转发", "评论", "转发邮件", "分享微博",
        "推荐给读者的书单", "微信和微博是两种应用。",
        "分享：一种生活态度", "微信扫码支付的原理是什么", "分享微信的使用技巧", "打开微信，输入密码。",
        "He printed the page and went home",
        "",
    ],
)  # fmt: skip
def test_sentences_that_mention_it_stay(line: str) -> None:
    assert without_boilerplate(f"a\n{line}\nb", Counter()) == f"a\n{line}\nb"
