"""Text of a page or of a fragment of one."""

import re
from collections.abc import Iterator
from html import unescape

import numpy as np
from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree

_NEVER_TEXT = ["script", "style", "noscript", "template"]
# Numbers that generators put before the lines of code: Pygments, Chroma, Rouge, highlighters of blogs.
_LINE_NUMBERS = ["td.linenos", "span.linenos", "span.lineno", "pre.lineno", "span.lnt", "td.gutter", "td.rouge-gutter"]
_NAMES_OF_NUMBERS = ("lineno", "lnt", "gutter")
# Of a formula that is also there in TeX, what browsers draw.
_DRAWN, _IN_TEX = ["semantics > :not(annotation)", ".katex-html"], 'encoding="application/x-tex"'
# What generators of manuals and wikis put around the content under a class of their own: links to neighbours, signs behind headings.
_AROUND_THE_CONTENT = [
    "div.navheader", "div.navfooter", "table.nav_table", "a.headerlink", ".viewcode-link", ".viewcode-back", "span.mw-editsection",
]  # fmt: skip
_NO_CONTENT = ["nav", "header", "footer", "aside", "form", "button", "select", '[role="navigation"]', "ul.docnav"]
_PROSE, _MUCH, _SHARE = 80, 500, 0.7  # bytes of a line of prose; bytes and share of prose from which main content is not whole
# From the last opening tag before a closing one: a search from each of many that are never closed would take their number squared.
_CODE = re.compile(
    r"(?P<pre><pre\b(?:(?!<pre\b).)*?</pre\s*>)|<code\b(?:(?!<code\b)[^>])*>(?P<content>(?:(?!<code\b).)*?)</code\s*>",
    re.IGNORECASE | re.DOTALL,
)
_IN_A_SENTENCE = re.compile(r"([^>]|<p\b[^>]*>|</?(a|b|i|em|strong|span|code|kbd|var|tt|dt)\b[^>]*>)\s*\Z", re.IGNORECASE)
_CONTEXT, _CONTEXT_OF_ROOT = 200, 2000
# A parser that runs no scripts takes the text of one in the head for the beginning of the body.
_NOSCRIPT = re.compile(r"<noscript\b(?:(?!<noscript\b).)*?</noscript\s*>", re.IGNORECASE | re.DOTALL)
_KEPT_AS_IT_IS = re.compile(r"(<(pre|textarea)\b.*?</\2\s*>)", re.IGNORECASE | re.DOTALL)
# Scripts that are written without blanks, with their punctuation; Hangul has blanks.
_UNSPACED = "\u2e80-\u312f\u31a0-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff9f\U00020000-\U0003ffff"
_STYLED = r"</?(?:a|b|i|em|strong|span|u)\b[^<>]*>"
_WRAPPED = re.compile(rf"([{_UNSPACED}](?:{_STYLED})*)[ \t\r]*\n\s*(?=(?:{_STYLED})*[{_UNSPACED}])", re.IGNORECASE)
# The main-content mode drops a text node that is one wide character (resiliparse 2.0.1): 第<b>一</b>章 would lose its number.
# An invisible companion keeps it.
_LONE = re.compile(r"((?:^|>)\s*(?:[^\x00-\x7f]|&#?\w+;))(?=\s*(?:<|$))")
_COMPANION = "\u2060"  # word joiner, no text of its own
# The extraction counts every list from one: what a list begins after is put in as entries of nothing, and taken out with its lines.
_STARTED = re.compile(r"""<ol\b[^<>]{0,300}?\sstart\s*=\s*["']?0{0,9}(\d{1,3})(?!\d)[^<>]*>""", re.IGNORECASE)
_STARTED_LISTS = 100  # of a page: it must not grow without bound
_BEFORE_THE_START = re.compile(rf"^[ \t]*\d+\.[ \t]*{_COMPANION}[ \t]*\n", re.MULTILINE)
# Detection of the main content looks at the parts of a page; where there are none, somebody has cut the content out already.
_PARTS_OF_A_PAGE = re.compile(r"<(?:html|head|body|nav|header|footer|aside)\b", re.IGNORECASE)
# The main-content mode takes any `ul` less than four levels below `body` for navigation. Deeper ones are judged as all else is.
_LIST_TAG = re.compile(r"<(/?)ul\b[^<>]*>", re.IGNORECASE)
_LINK = re.compile(r"<a\b(?:(?!<a\b).)*?</a\s*>", re.IGNORECASE | re.DOTALL)
_ANY_TAG, _ENTRY = re.compile(r"<[^<>]*>"), re.compile(r"<li\b[^<>]*>", re.IGNORECASE)
_BULLET, _TELLING = "•", 20  # what an entry begins with in the text; characters by which it is found again
_DEEPER, _SHALLOWER = "<div>" * 3, "</div>" * 3
# The main-content mode goes by names: a section "Search" or "Menu" of a manual would be lost, where a generator made the id of a
# heading, or of the section that begins with it, from the heading's text.
_NAMED = re.compile(
    r"""(?P<begin><(?:h[1-6]|section|div(?=[^<>]{0,500}\bclass\s*=\s*["']?section\b))\b[^<>]{0,500}?)(?P<id>\sid\s*=\s*["']?(?P<name>[^\s"'<>]+)["']?)"""
    r"""(?=[^<>]{0,500}>\s*(?:<span\b[^<>]*>\s*</span>\s*)*(?:<h[1-6]\b[^<>]*>)?(?P<heading>(?:(?!</?h[1-6]\b).){1,300})</h[1-6])""",
    re.IGNORECASE | re.DOTALL,
)
_FIGURE = re.compile(r"<figure\b[^<>]*>((?:(?!</?figure\b).)*)</figure\s*>", re.IGNORECASE | re.DOTALL)
_BLOCK_OF_TEXT = re.compile(r"<(?:pre|table|blockquote)\b", re.IGNORECASE)
_TIME = re.compile(r"(?P<before>[^<>\s][^\S\n]*)?<time\b[^<>]*>(?P<content>[^<>]*)</time\s*>(?=(?P<after>\s*[^<>\s])?)", re.IGNORECASE)
# XML lets any element end in its own tag. To HTML such a tag opens, and what is no markup within it swallows the rest of the page.
_OF_XML = re.compile(r"\s*<\?xml|<html\b[^<>]*\sxmlns\s*=", re.IGNORECASE)
_SWALLOWS = re.compile(r"<(script|style|title|textarea|iframe|noscript|noframes|noembed|xmp|select|object)\b([^<>]*)/>", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)\b[^<>]*>")
# Elements that have no content, or that end where the next of their kind begins: they do not nest, closed or not.
_FLAT = frozenset(
    "area base br col embed hr img input link meta source track wbr p li dt dd tr td th thead tbody tfoot option rt rp colgroup".split()  # noqa: SIM905
)
_INLINE = frozenset("a abbr b bdi bdo big cite code em font i kbd mark q s samp small span strong sub sup tt u var".split())  # noqa: SIM905
_DEEPEST = 512  # as in browsers; the time of the extraction grows with the square of the depth


def page_text(html: str, main_content: bool) -> str:
    """The visible text, entities decoded once, white space kept inside `pre` and inside `code` that is a block.

    `main_content`: without navigation, banners and the like. Of a fragment, and where nothing is found, all of the text is taken.
    Where much prose between its first and its last line is left out, such as lists and boxes of a manual, it stays.
    Elements nested deeper than 512 are taken as if their tags were not there. A line end between two characters of a script
    without blanks, such as Chinese, is nothing, and a blank elsewhere (CSS Text Module Level 3, 4.1.3).
    """
    html = _SWALLOWS.sub(r"<\1\2></\1>", html) if _OF_XML.search(html, 0, _CONTEXT_OF_ROOT) else html
    html = _NOSCRIPT.sub("", html)
    html = _shallow(html) if _may_be_deep(html) else html
    main_content = main_content and _PARTS_OF_A_PAGE.search(html) is not None
    marked = _LONE.sub(rf"\1{_COMPANION}", _unwrapped(_CODE.sub(_preserved, html)))
    marked = _STARTED.sub(lambda found: found[0] + f"<li>{_COMPANION}</li>" * (int(found[1]) - 1), marked, count=_STARTED_LISTS)
    marked = _unmistakable(marked) if main_content else marked
    tree, never = HTMLTree.parse(marked), _never_text(marked)
    main = _main(tree, marked, never) if main_content else ""
    return main if main.strip() else _extracted(tree, never, main_content=False)


def _unmistakable(html: str) -> str:
    """The page without what the main-content mode takes for something else: figures of code, dates in sentences, names of headings."""
    if "<figure" in html:
        html = _FIGURE.sub(lambda found: f"<div>{found[1]}</div>" if _BLOCK_OF_TEXT.search(found[1]) else found[0], html)
    if "<time" in html:
        html = _TIME.sub(_undated, html)
    return _NAMED.sub(lambda found: found["begin"] if _is_named_after(found["name"], found["heading"]) else found[0], html)


def _undated(found: re.Match[str]) -> str:
    """The text of a date that stands in a sentence, or the date as it is."""
    return f"{found['before'] or ''}{found['content']}" if found["before"] or found["after"] else found[0]


def _is_named_after(name: str, heading: str) -> bool:
    return _slug(name) == _slug(unescape(_ANY_TAG.sub("", heading)))


def _slug(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def _never_text(html: str) -> list[str]:
    """Selectors of what is no text of a page; of those that few pages need, where this one may."""
    numbers = _LINE_NUMBERS if any(name in html for name in _NAMES_OF_NUMBERS) else ()
    return [*_NEVER_TEXT, *numbers, *(_DRAWN if _IN_TEX in html else ())]


def _unwrapped(html: str) -> str:
    """The page without the line ends between characters of scripts that have no blanks."""
    if not _WRAPPED.search(html):
        return html
    parts, at = [], 0
    for found in _KEPT_AS_IT_IS.finditer(html):
        parts += [_WRAPPED.sub(r"\1", html[at : found.start()]), found[0]]
        at = found.end()
    return "".join((*parts, _WRAPPED.sub(r"\1", html[at:])))


def _main(tree: HTMLTree, html: str, never: list[str]) -> str:
    skipped = [*never, *_AROUND_THE_CONTENT]
    main = _extracted(tree, skipped, main_content=True)
    if not main.strip():
        return main
    page = _extracted(tree, [*skipped, *_NO_CONTENT], main_content=False)
    whole = _whole(main, page)
    if whole is not main or (deeper := _with_deeper_lists(html, _starts(page) - _starts(main))) == html:
        return whole
    return _behind_the_start(main, _extracted(HTMLTree.parse(deeper), skipped, main_content=True))


def _with_deeper_lists(html: str, missing: set[str]) -> str:
    """The page with its lists of text so deep that they are not taken for navigation; those of links stay where they are.

    missing: what the lines begin with that the main content lacks; a list that begins otherwise stays where it is too.
    """
    parts, at = list[str](), 0
    for start, end in _lists(html):
        found = html[start:end]
        if _begins_with_one(_start_of(found), missing) and _is_of_text(found):
            parts += [html[at:start], _DEEPER, found, _SHALLOWER]
            at = end
    return "".join((*parts, html[at:])) if parts else html


def _lists(html: str) -> Iterator[tuple[int, int]]:
    """Where the lists that are in no other begin and end."""
    depth = start = 0
    for tag in _LIST_TAG.finditer(html):
        if not tag[1]:
            start = start if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield start, tag.end()


def _is_of_text(html: str) -> bool:
    """Whether at least half of a list is no link."""
    return 2 * len(_shown(_LINK.sub("", html))) >= len(_shown(html))


def _starts(text: str) -> set[str]:
    """What the lines begin with, short ones as a whole."""
    return {_squeezed(line[:_CONTEXT]).lstrip(_BULLET)[:_TELLING] for line in text.split("\n")} - {""}


def _begins_with_one(start: str, lines: set[str]) -> bool:
    return any(start[:length] in lines for length in range(1, _TELLING + 1))


def _start_of(html: str) -> str:
    """What the first entry of a list begins with."""
    first = _ENTRY.search(html)
    begin = first.end() if first else 0
    return unescape(_shown(html[begin : begin + 2 * _CONTEXT]))[:_TELLING]


def _shown(html: str) -> str:
    return _squeezed(_ANY_TAG.sub("", html))


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _behind_the_start(main: str, more: str) -> str:
    """The lines of `more` from the first one of `main` on, where it holds them all; what stands before the content is none of it."""
    lines = more.split("\n")
    bare, found = [line.strip() for line in lines], [stripped for line in main.split("\n") if (stripped := line.strip())]
    return "\n".join(lines[bare.index(found[0]) :]) if set(found) <= set(bare) else main


def _whole(main: str, page: str) -> str:
    """Main content, or the lines of the page from its first to its last one where much of their prose is missing in it."""
    found = [line.strip() for line in main.split("\n") if line and not line.isspace()]
    lines = page.split("\n")
    bare = [line.strip() for line in lines]
    if found[0] not in bare or found[-1] not in bare:
        return main
    start, end = bare.index(found[0]), len(bare) - bare[::-1].index(found[-1])
    here, there = _prose(found), _prose(bare[start:end])
    return main if there - here < _MUCH or here > _SHARE * there else "\n".join(lines[start:end])


def _prose(lines: list[str]) -> int:
    """Bytes of the long lines."""
    return sum(size for size in (len(line.encode("utf-8", "surrogatepass")) for line in lines) if size >= _PROSE)


def _extracted(tree: HTMLTree, skipped: list[str], main_content: bool) -> str:
    text = extract_plain_text(tree, main_content=main_content, alt_texts=False, skip_elements=skipped)
    return _BEFORE_THE_START.sub("", text).replace(_COMPANION, "") if _COMPANION in text else text


def _preserved(found: re.Match[str]) -> str:
    """Put a block of code that is in no `pre` into one: pages lay it out with style sheets, which are not here."""
    lines = (found["content"] or "").count("\n")
    if lines == 0 or (lines == 1 and _is_in_a_sentence(found)):  # a sentence may be wrapped within its code
        return found[0]
    return f"<pre>{found[0]}</pre>"


def _is_in_a_sentence(found: re.Match[str]) -> bool:
    return _IN_A_SENTENCE.search(found.string[max(0, found.start() - _CONTEXT) : found.start()]) is not None


def _may_be_deep(html: str) -> bool:
    """Whether more than 512 tags may be open at once; tags that open nothing are counted too."""
    signs = np.frombuffer(html.encode("utf-8", "surrogatepass"), np.uint8)
    tags = np.flatnonzero(signs[:-1] == ord("<"))
    if len(tags) <= _DEEPEST:
        return False
    open_tags = np.cumsum(np.where(signs[tags + 1] == ord("/"), -1, 1))
    return bool((open_tags - np.minimum(np.minimum.accumulate(open_tags), 0)).max() > _DEEPEST)


def _shallow(html: str) -> str:
    """The page without the tags of elements that are nested too deep."""
    depth = 0

    def bounded(found: re.Match[str]) -> str:
        nonlocal depth
        name = found[2].lower()
        if name in _FLAT:
            return found[0]
        depth += 0 if found[1] else 1
        deep = depth > _DEEPEST
        depth -= 1 if found[1] and depth else 0
        return ("" if name in _INLINE else "\n") if deep else found[0]

    return _TAG.sub(bounded, html)
