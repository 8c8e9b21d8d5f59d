"""Markup, characters, personal data and quality."""

from typing import Annotated, Literal

from pydantic import Field

from compiler.spec.declare import Limited, Named, Section, Text, identity, section

Rules = Literal["gopher", "c4", "gopher_c4", "chinese_basic", "chinese_web", "code", "none"]


class PersonalData(Section):
    """Personal data that is replaced in every text."""

    emails: bool = identity("E-mail addresses.", "电子邮件地址。", default=True)
    phones: bool = identity(
        "Phone numbers: Chinese ones, and international ones that begin with +.",
        "电话号码（中国号码，及以 + 开头的国际号码）。",
        default=True,
    )
    ids: bool = identity("Chinese resident identity numbers whose check digit is right.", "校验位正确的中国居民身份证号。", default=True)
    cards: bool = identity("Numbers of bank cards whose check digit is right.", "校验位正确的银行卡号。", default=True)
    ip_addresses: bool = identity("Public IPv4 and IPv6 addresses.", "公网 IPv4 与 IPv6 地址。", default=True)
    placeholders: Named[Text] = identity(
        "What stands in the place of a kind; a kind that is not named has its own name in angle brackets, as <email>.",
        "各类信息的替换文本；未列出的用尖括号加类别名，如 <email>。",
        default={},
    )


class Perplexity(Section):
    """Documents that a model of clean text finds strange."""

    reference: Text = identity(
        "Clean text that the model is trained from: a file or folder, relative to the project root.",
        "训练语言模型的干净文本：文件或文件夹，相对于项目根目录。",
    )
    order: Limited = identity(
        "Length of the longest n-gram.", "n 元语法的最大长度。", unit="words, or Han characters", ge=2, le=6, default=5
    )
    percentile: Annotated[float, Field(gt=0, lt=1)] | None = identity(
        "Documents above this share of the perplexities of their language are dropped; null sets no share.",
        "丢弃困惑度超过本语言该分位数的文档；null 表示不按分位数筛选。",
        default=0.9,
    )
    limit: Annotated[float, Field(gt=1)] | None = identity(
        "Documents above this perplexity are dropped, whatever their share; null sets no limit.",
        "丢弃困惑度高于该值的文档；null 表示不设上限。",
        default=None,
    )


class Clean(Section):
    """Markup, characters, personal data and quality rules."""

    html: Literal["main_content", "none"] = identity(
        "What is kept of a page: its main content, or all of its text.", "网页保留的内容：正文或全部文字。", default="main_content"
    )
    normalization: Literal["none", "cjk", "nfkc"] = identity(
        "Unicode folding; cjk folds full-width letters and digits and keeps Chinese punctuation.",
        "Unicode 归一化；cjk 折叠全角字母数字并保留中文标点。",
        default="none",
    )
    boilerplate: bool = identity(
        "Whether lines of navigation, sharing and legal notices are taken out.", "是否去除导航、分享与法律声明等样板行。", default=False
    )
    rules: Named[Rules] = identity(
        "Quality rules per language; those of the key `code` hold for sources of the domain `code`.",
        "各语言的质量规则；键 code 用于领域为 code 的来源。",
        default={},
    )
    limits: Named[Named[float | None]] = identity(
        "Limits that replace those of the rules, by language and rule; null switches a rule off, or takes all of a language out.",
        "按语言和规则替换限值；null 表示关闭该规则，或取消该语言的全部限值。",
        default={},
    )
    pii: PersonalData | None = section("Personal data that is replaced; null leaves it.", "替换个人信息；null 表示不处理。", default=None)
    perplexity: Perplexity | None = section(
        "Documents that a model of clean text finds strange are dropped; null switches the sieve off.",
        "丢弃语言模型认为异常的文档；null 表示不筛选。",
        default=None,
    )
