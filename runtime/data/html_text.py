"""Text of a page or of a fragment of one."""

import re

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree

_NEVER_TEXT = ["script", "style", "noscript", "template"]
_PREFORMATTED = re.compile(r"<(pre|code|textarea)\b", re.IGNORECASE)


def page_text(html: str, main_content: bool) -> str:
    """The visible text, entities decoded once, white space kept inside `pre` and inside `code` of several lines.

    `main_content`: without navigation, banners and the like. Where that finds nothing (a bare fragment may look like
    none), all of the text is taken.
    """
    tree = HTMLTree.parse(html)
    if _PREFORMATTED.search(html):
        _preserve_code(tree)
    text = extract_plain_text(tree, main_content=main_content, alt_texts=False, skip_elements=_NEVER_TEXT)
    if main_content and not text.strip():
        return page_text(html, main_content=False)
    return text


def _preserve_code(tree: HTMLTree) -> None:
    """Put `code` that spans lines, and is not in a `pre` already, into one: pages style it with CSS that is not here."""
    body = tree.body
    for code in body.query_selector_all("code") if body else ():
        if "\n" in code.text and not _is_inside(code, "pre") and code.parent:
            block = tree.create_element("pre")
            code.parent.replace_child(block, code)
            block.append_child(code)


def _is_inside(node: object, tag: str) -> bool:
    parent = getattr(node, "parent", None)
    return parent is not None and (getattr(parent, "tag", None) == tag or _is_inside(parent, tag))
