"""Markup, characters and quality."""

from typing import Literal

from compiler.spec.declare import Named, Section, identity


class Clean(Section):
    """Markup, characters and quality rules."""

    html: Literal["main_content", "none"] = identity(
        "What is kept of a page: its main content, or all of its text.", "网页保留的内容：正文或全部文字。", default="main_content"
    )
    normalization: Literal["none", "cjk", "nfkc"] = identity(
        "Unicode folding; cjk folds full-width letters and digits and keeps Chinese punctuation.",
        "Unicode 归一化；cjk 折叠全角字母数字并保留中文标点。",
        default="none",
    )
    rules: Named[Literal["gopher", "chinese_basic", "none"]] = identity("Quality rules per language.", "各语言的质量规则。", default={})
    perplexity: float | None = identity(
        "Documents above this perplexity are dropped; null switches the sieve off.", "困惑度上限；null 表示不筛选。", default=None
    )
