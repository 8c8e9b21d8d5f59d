"""Lines that stand on pages whatever the page is about: navigation, sharing, log-in, cookies, copyright, registration numbers.

A line goes only where nothing but such words is in it; a sentence that mentions them stays.
"""

import re
from collections import Counter

LINES = "boilerplate"
_LONGEST = 160  # characters; longer lines are prose
_ENGLISH = (
    r"skip to (?:main )?content",
    r"(?:home|previous|prev|next|up|top|back to top|contents|index|menu|search|print|share|login|log in|sign (?:in|up)|register|subscribe)",
    r"(?:share|follow us|tweet|pin it|like us)(?: (?:on|this|via))?"
    r"(?: (?:facebook|twitter|x|linkedin|weibo|wechat|email|page|article|post)){0,8}",
    r"(?:this (?:site|website)|we) uses? cookies.*",
    r"(?:accept|reject|manage)(?: all)? cookies",
    r"(?:privacy policy|terms of (?:use|service)|cookie policy|contact us|about us|sitemap|advertisement|sponsored)",
    r"(?:copyright|©|\(c\)).{0,120}",
    r"(?:.{0,80})all rights reserved.?",
    r"(?:read|learn|view|show|see|load) more(?: \.\.\.)?",
    r"\d+ (?:comments?|views?|shares?|likes?)",
    r"page \d+ (?:of|/) \d+",
    r"leave a (?:reply|comment)",
)
_PLACE = (
    r"(?:微信(?:好友|朋友圈)?|朋友圈|(?:新浪|腾讯)?微博|QQ(?:空间|好友)?|好友|朋友|豆瓣(?:网)?|知乎|人人网?|开心网|(?:百度)?贴吧|抖音|小红书|(?:今日)?头条"
    r"|钉钉|领英|邮件|邮箱|Facebook|Twitter|LinkedIn|WhatsApp|Telegram|更多)"
)
_PLACES = rf"{_PLACE}(?:[\s、，,/|·]*(?:和|与|及|或)?{_PLACE})*"
_CHINESE = (
    r"(?:首页|上一[页篇章]|下一[页篇章]|末页|尾页|返回顶部|返回首页|回到顶部|目录|登录|注册|搜索|打印|收藏|分享|分享到|关注我们|联系我们|关于我们|网站地图)",
    rf"(?:一键)?(?:分享|转发)(?:本[文页]|文章|此文)?(?:(?:[到至给][：:]?\s*|[：:]\s*|\s+){_PLACES}|[到至给]?[：:])",
    rf"(?:推荐|发送)(?:本文|文章)?[给到至]\s*{_PLACES}",
    r"打开微信.{0,30}扫一扫.{0,30}",
    r"(?:请?使用|用)?微信[“\"]?(?:扫一扫|扫码|扫描(?:二维码)?)[”\"]?.{0,20}(?:分享|关注|朋友圈|好友|阅读|查看)(?:[本全]文)?[。！]?",
    r"(?:一键分享|复制链接|点赞|举报)",
    r"(?:上一篇|下一篇|上一页|下一页)[：:].{0,60}",
    r"(?:版权所有|著作权所有).{0,120}",
    r".{0,60}(?:版权所有|保留所有权利|保留一切权利).{0,60}",
    r".{0,40}ICP[备证]\s?\d+号?(?:-\d+)?.{0,40}",
    r".{0,40}公网安备\s?\d+号?",
    r"(?:当前位置|您的位置|您现在的位置)[：:]?.{0,100}",
    r"(?:责任编辑|责编|编辑|来源|浏览次数|阅读次数|点击量|点击数|阅读量)[：:][^。]{0,40}",
    r"(?:点击|扫码|扫描二维码|长按).{0,20}(?:下载|关注|查看|阅读)(?:全文|更多|原文|我们)?",
    r"(?:相关阅读|相关新闻|热门推荐|推荐阅读|更多精彩内容|展开全文|阅读全文|查看更多)",
)
_MENU = (
    r"(?:home|news|blog|about(?: us)?|contact(?: us)?|faqs?|help|support|more|people|products|services|libraries"
    r"|docs|documentation|downloads?|community|developers?|login|log in|sign (?:in|up)|register|search"
    r"|首页|新闻|产品|服务|关于|关于我们|联系我们|帮助|下载|文档|社区|论坛|博客|登录|注册|搜索)"
)
_ITEM = rf"(?:{'|'.join((*_ENGLISH[1:2], *_CHINESE[:1]))})"
_BETWEEN = r"[\s|·•>»/]+"
_SHARING = rf"(?:{_PLACE}|分享|收藏|点赞|转发|评论|复制链接|举报)"
_ROWS = (
    rf"{_ITEM}(?:{_BETWEEN}{_ITEM})+",
    rf"(?:分享到?|收藏|点赞)(?:{_BETWEEN}{_SHARING})+",
    rf"{_PLACE}(?:{_BETWEEN}{_PLACE}){{2,}}",
    rf"{_MENU}(?:{_BETWEEN}{_MENU}){{3,}}",
)
_WHOLE = re.compile(rf"\s*(?:{'|'.join((*_ENGLISH, *_CHINESE, *_ROWS))})\s*", re.IGNORECASE)


def without_boilerplate(text: str, taken: Counter[str]) -> str:
    """The text without lines of boilerplate; counts them."""
    lines = text.split("\n")
    kept = [line for line in lines if len(line) > _LONGEST or not line or not _WHOLE.fullmatch(line)]
    if len(kept) == len(lines):
        return text
    taken[LINES] += len(lines) - len(kept)
    return "\n".join(kept)
