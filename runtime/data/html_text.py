"""Text of a page or of a fragment of one."""

import re

from resiliparse.extract.html2text import extract_plain_text

_NEVER_TEXT = ["script", "style", "noscript", "template"]
# From the last opening tag before a closing one: a search from each of many that are never closed would take their number squared.
_CODE = re.compile(
    r"(?P<pre><pre\b(?:(?!<pre\b).)*?</pre\s*>)|<code\b(?:(?!<code\b)[^>])*>(?P<content>(?:(?!<code\b).)*?)</code\s*>",
    re.IGNORECASE | re.DOTALL,
)
_IN_A_SENTENCE = re.compile(r"([^>]|<p\b[^>]*>|</?(a|b|i|em|strong|span|code|kbd|var|tt|dt)\b[^>]*>)\s*\Z", re.IGNORECASE)
_CONTEXT = 200
# The main-content mode drops a text node that is one wide character (resiliparse 2.0.1): 第<b>一</b>章 would lose its number.
# An invisible companion keeps it.
_LONE = re.compile(r"((?:^|>)\s*(?:[^\x00-\x7f]|&#?\w+;))(?=\s*(?:<|$))")
_COMPANION = "\u2060"  # word joiner, no text of its own


def page_text(html: str, main_content: bool) -> str:
    """The visible text, entities decoded once, white space kept inside `pre` and inside `code` that is a block.

    `main_content`: without navigation, banners and the like. Where that finds nothing (a bare fragment may look like
    none), all of the text is taken.
    """
    marked = _LONE.sub(rf"\1{_COMPANION}", _CODE.sub(_preserved, html))
    text = _extracted(marked, main_content)
    return text if text.strip() or not main_content else _extracted(marked, main_content=False)


def _extracted(html: str, main_content: bool) -> str:
    text = extract_plain_text(html, main_content=main_content, alt_texts=False, skip_elements=_NEVER_TEXT)
    return text.replace(_COMPANION, "")


def _preserved(found: re.Match[str]) -> str:
    """Put a block of code that is in no `pre` into one: pages lay it out with style sheets, which are not here."""
    lines = (found["content"] or "").count("\n")
    if lines == 0 or (lines == 1 and _is_in_a_sentence(found)):  # a sentence may be wrapped within its code
        return found[0]
    return f"<pre>{found[0]}</pre>"


def _is_in_a_sentence(found: re.Match[str]) -> bool:
    return _IN_A_SENTENCE.search(found.string[max(0, found.start() - _CONTEXT) : found.start()]) is not None
