"""Text of pages and of fragments: what is content, what stands around it, and time that is linear in the page."""

import pytest

from runtime.data.html_text import _CODE, _preserved, _unmistakable, _with_deeper_lists, page_text

CHINESE = "这一段讲的是程序在没有参数时做什么。"
ENGLISH = (
    "The library that opened yesterday is one of the largest in the city, and it has more than a million books. Readers may take "
    "ten of them home at once. Children have a floor to themselves, with low shelves and a room for tales that are read aloud. "
    "Whoever works late will find the doors open until nine, except on Mondays, when the staff puts everything back in order."
)


@pytest.mark.parametrize("main_content", [True, False])
@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a &amp;lt; b</p><pre>def f():\n    return 1</pre>", "a &lt; b\n\ndef f():\n    return 1"),
        ("<html><body><pre>    x\n  y</pre></body></html>", "    x\n  y"),
        ("<div>intro</div><code>def f():\n    return 1</code>", "intro\ndef f():\n    return 1"),
        ("<p>see <code>a\n      b</code> now</p>", "see a b now"),
        ("<style>p{}</style><p>a</p><script>var x = '<p>no</p>';</script>", "a"),
        ("中文&nbsp;<b>粗</b>体 &#x4e2d;", "中文\u00a0粗体 中"),
        ("<p>第<b>一</b>章，共<em>3</em>个</p>", "第一章，共3个"),
        ("<p>水 <i> 火 </i> <b>&#x5c71;</b></p>", "水 火 山"),
        ("猫", "猫"),
        ("<p>第一行，\r\n  第二<b>行</b>\n<i>完</i></p>", "第一行，第二行完"),
        ("<p>用 Git\n管理，\nfor all</p><pre>甲\n乙</pre>", "用 Git 管理， for all\n\n甲\n乙"),
        ("<p>한국\n말</p>", "한국 말"),
        ("<noscript>enable scripts</noscript><p>a</p>", "a"),
    ],
)
def test_text_of_pages_and_fragments(html: str, text: str, main_content: bool) -> None:
    assert page_text(html, main_content) == text


def test_navigation_is_left_out_of_the_main_content_and_a_page_of_nothing_else_is_not_lost() -> None:
    page = f'<html><body><nav><a href="x">Home</a></nav><main><p>{ENGLISH}</p></main></body></html>'
    assert "Home" not in page_text(page, main_content=True)
    assert "Home" in page_text(page, main_content=False)
    assert page_text("<nav>only this</nav>", main_content=True) == "only this"


def test_lists_and_boxes_within_the_content_stay_and_what_is_around_goes() -> None:
    said = [f"Sentence {number} of the manual says what the field means, in its own words and at some length." for number in range(40)]
    fields = "".join(f'<li class="listitem"><a href="x{number}.html">Field</a> {one}</li>' for number, one in enumerate(said[:20]))
    box = f'<div class="sidebar"><p>{"</p><p>".join(said[20:38])}</p></div>'
    list_of_links = f'<div class="sidebar-right related"><ul>{fields}</ul></div>'
    content = f"<h1>Fields of a line</h1><p>{said[38]}</p>{list_of_links}{box}<p>{said[39]}</p>"
    page = f"<html><body><nav>{said[5]}</nav>{content}<footer><p>{said[6]} Imprint.</p></footer></body></html>"
    text = page_text(page, main_content=True)
    assert all(text.count(one) == 1 for one in said)
    assert text.startswith("Fields of a line") and "Imprint" not in text


@pytest.mark.parametrize("main_content", [True, False])
@pytest.mark.parametrize("name", ["script", "style", "title", "textarea", "iframe", "noscript", "select"])
@pytest.mark.parametrize(
    "root", ['<?xml version="1.0"?>\n<html>', '<!DOCTYPE html>\n<html lang="en" xmlns="http://www.w3.org/1999/xhtml">']
)
def test_an_element_that_xml_ends_in_its_own_tag_swallows_nothing(root: str, name: str, main_content: bool) -> None:
    empty = f'<{name} class="a"/>'
    head, body = (empty, "") if name in ("script", "style", "title") else ("", empty)
    page = f"{root}<head>{head}</head><body>{body}<p>{ENGLISH}</p>{body}<p>{ENGLISH}</p></body></html>"
    assert page_text(page, main_content).split("\n\n") == [ENGLISH, ENGLISH]


@pytest.mark.parametrize("around", ["{0}", "<html><body>{0}</body></html>"])
@pytest.mark.parametrize(
    ("numbered", "text"),
    [
        ('<pre><span class="linenos">1</span>def f():\n<span class="linenos">2</span>    return 1\n</pre>', "def f():\n    return 1"),
        ('<table><tr><td class="linenos"><pre>1\n2</pre></td><td class="code"><pre>if x:\n    y</pre></td></tr></table>', "if x:\n    y"),
        ('<table><tr><td class="gutter gl"><pre>1\n2</pre></td><td><pre>if x:\n    y</pre></td></tr></table>', "if x:\n    y"),
        (
            '<pre><span><span class="lnt">1</span>if x:\n</span><span><span class="lnt">2</span>    y</span></pre>',
            "if x:\n    y",
        ),
        ("<pre>10 PRINT linenos\n20 GOTO 10</pre>", "10 PRINT linenos\n20 GOTO 10"),
    ],
)
def test_numbers_of_lines_are_no_part_of_code(around: str, numbered: str, text: str) -> None:
    found = page_text(around.format(f"<p>{ENGLISH}</p>{numbered}<p>{ENGLISH}</p>"), main_content=True)
    assert [line for line in found.split("\n") if line] == [ENGLISH, *text.split("\n"), ENGLISH]


@pytest.mark.parametrize("around", ["{0}", "<html><body>{0}</body></html>"])
def test_a_formula_is_written_once(around: str) -> None:
    drawn = "<mrow><msup><mi>x</mi><mn>2</mn></msup></mrow>"
    both = f'<math><semantics>{drawn}<annotation encoding="application/x-tex">x^2</annotation></semantics></math>'
    katex = f'<span class="katex"><span class="katex-mathml">{both}</span><span class="katex-html" aria-hidden="true">x2</span></span>'
    for formula, text in ((both, "x^2"), (katex, "x^2"), (f"<math>{drawn}</math>", "x2")):
        page = around.format(f"<p>{ENGLISH}</p><p>Let {formula} be the area.</p>")
        assert page_text(page, main_content=True) == f"{ENGLISH}\n\nLet {text} be the area."


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        ('<figure class="highlight"><table><tr><td><pre>if x:\n    y</pre></td></tr></table></figure>', "if x:\n    y"),
        ("<figure><pre><code>if x:\n    y</code></pre><figcaption>Listing 1</figcaption></figure>", "if x:\n    y"),
        ("<figure><blockquote>Said is said.</blockquote></figure>", "Said is said."),
        ('<figure><img src="a.png"><figcaption>A picture.</figcaption></figure>', ""),
        ("<p>On <time>1 May 2020</time> it rained; at <time id=t>9:00</time>, no more.</p>", "On 1 May 2020 it rained; at 9:00, no more."),
        ("<p>它于<time>2020年5月1日</time>发布。</p>", "它于2020年5月1日发布。"),
        ("<div><time>1 May 2020</time></div>", ""),
    ],
)  # fmt: skip
def test_figures_of_text_and_dates_in_sentences_stay(figure: str, text: str) -> None:
    page = f"<html><body><article><h1>Rain</h1><p>{ENGLISH}</p>{figure}<p>{ENGLISH}</p></article></body></html>"
    found = page_text(page, main_content=True)
    assert [line for line in found.split("\n") if line] == ["Rain", ENGLISH, *filter(None, text.split("\n")), ENGLISH]


@pytest.mark.parametrize("title", ["Navigation", "Search", "Related work", "Menu", "Header &amp; footer", "目录 menu"])
@pytest.mark.parametrize(
    "section",
    [
        '<h2 id="{0}">{1}</h2><p>{2}</p>',
        '<section id="{0}"><h2>{1}</h2><p>{2}</p></section>',
        '<section class=\'level2\' id={0}>\n<span id="x"></span><h2>{1}<a class="headerlink" href="#{0}"></a></h2><p>{2}</p></section>',
        '<div class="section" id="{0}"><h2>{1}</h2><p>{2}</p></div>',
    ],
)
def test_a_section_that_is_named_after_its_heading_stays(section: str, title: str) -> None:
    name = title.replace("&amp; ", "").replace(" ", "-").lower()
    page = f"<html><body><h1>Page</h1><p>{ENGLISH}</p>{section.format(name, title, CHINESE)}<p>{ENGLISH}</p></body></html>"
    assert page_text(page, main_content=True).split("\n\n") == ["Page", ENGLISH, title.replace("&amp;", "&"), CHINESE, ENGLISH]
    unnamed = f'<html><body><h1>Page</h1><p>{ENGLISH}</p><section id="sidebar"><h2>Archives</h2><p>May</p></section></body></html>'
    assert page_text(unnamed, main_content=True).split("\n\n") == ["Page", ENGLISH]


@pytest.mark.parametrize("around", ["{0}", "<html><body>{0}</body></html>"])
@pytest.mark.parametrize(
    ("listed", "text"),
    [
        ("<ol><li>one</li></ol><pre>ls</pre><ol start=2><li>two</li><li>三</li></ol>", "  1. one\nls\n\n  2. two\n  3. 三"),
        ('<ol class="a" start="12" type="1">\n<li>twelve</li></ol>', "  12. twelve"),
        ('<ol><li>a<ol start="3"><li>inner</li></ol></li><li>b</li></ol>', "  1. a\n    3. inner\n  2. b"),
        ('<ol start="x"><li>one</li></ol><ol start="0"><li>none</li></ol>', "  1. one\n\n  1. none"),
        ('<ol start="99999"><li>far</li></ol>', "  1. far"),
    ],
)
def test_a_list_that_goes_on_keeps_its_numbers(around: str, listed: str, text: str) -> None:
    page = around.format(f"<p>{ENGLISH}</p>{listed}<p>{ENGLISH}</p>")
    found = page_text(page, main_content=True).removeprefix(ENGLISH).removesuffix(ENGLISH)
    assert [line for line in found.split("\n") if line] == [line for line in text.split("\n") if line]


@pytest.mark.parametrize("around", ["{0}", "<div>{0}</div>", "<main><article><h1>Bread</h1>{0}</article></main>"])
@pytest.mark.parametrize(
    "entries",
    [
        ["Put the flour into a bowl.", "Stir.", "Bake it."],
        ["<p>Put the flour\n  into a <b>bowl</b>.</p>", 'Stir, <a href="s.html">slowly</a>, until it is smooth.', "x &lt; 3 &amp; y"],
        ["面粉两百克，白糖五十克。", "搅拌均匀。"],
        ["Outer<ul><li>inner</li></ul>", "Last"],
    ],
)
@pytest.mark.parametrize("last", [f"<p>{ENGLISH}</p>", ""])
def test_short_lists_of_text_stay_however_near_they_are_to_the_body(around: str, entries: list[str], last: str) -> None:
    links = '<ul><li><a href="/">Home</a></li><li><a href="/news">All news</a></li></ul>'
    listed = "".join(f"<li>{entry}</li>" for entry in entries)
    content = around.format(f"<p>{ENGLISH}</p><ul>{listed}</ul>{last}")
    page = f"<html><body><ul><li>Site of bakers</li></ul>{links}{content}{links}</body></html>"
    text = page_text(page, main_content=True)
    assert text.count("•") == page.count("<li>") - 5
    assert all(" ".join(page_text(entry, False).replace("•", " ").split()) in " ".join(text.replace("•", " ").split()) for entry in entries)
    assert not any(said in text for said in ("Home", "All news", "Site of"))


@pytest.mark.parametrize("around", [
    '<div class="navheader"><table><tr><td>Prev</td><td>Up</td></tr></table></div>', '<div class="x navfooter">Next</div>',
    '<a class="headerlink" href="#x" title="Permalink">¶</a>', '<table class="nav_table"><tr><td>[首页]</td></tr></table>',
    '<span class="mw-editsection">[edit]</span>', '<a class="reference" href="s.html"><span class="viewcode-link">[source]</span></a>',
])  # fmt: skip
def test_what_generators_put_around_the_content_goes(around: str) -> None:
    page = f"<html><body><h1>Title{around}</h1><p>The first sentence of a page, long enough to be one.</p></body></html>"
    assert page_text(page, main_content=True).split("\n\n") == ["Title", "The first sentence of a page, long enough to be one."]
    assert len(page_text(page, main_content=False)) > len(page_text(page, main_content=True))


@pytest.mark.timeout(30)
@pytest.mark.parametrize("tag", ["<pre>x ", "<pre ", "<code>a b\n", "<code "])
def test_a_page_of_tags_that_are_never_closed_takes_no_time(tag: str) -> None:
    assert _CODE.sub(_preserved, tag * 100_000) == tag * 100_000


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "tag",
    [
        "<figure>", "<figure><pre>x", "<figure ", "<time>x ", "<time ", "<h2 id=a ", "<h2 id=a>", "<section id=a>",
        '<div class="section" id=a ', "<h2 id=a><span>", "<ul>", "<ul><li>x", "<ul ", "</ul>", "<a>",
    ],
)  # fmt: skip
def test_names_figures_and_lists_that_are_never_closed_take_no_time(tag: str) -> None:
    for page in (tag * 100_000, f"<figure>{tag * 100_000}", f"<h2 id=a>{tag * 100_000}"):
        assert _unmistakable(page) == page
        assert _with_deeper_lists(page, {"x"}) == page


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<table><tr><th>名称</th><th>数量</th></tr><tr><td>苹果</td><td>3</td></tr></table>", "名称\t\t数量\n苹果\t\t3"),
        ("<ul><li>one</li><li>two<ul><li>deep</li></ul></li></ul>", "  • one\n  • two\n    • deep"),
        ("<ol><li>first</li><li>second</li></ol>", "  1. first\n  2. second"),
        ("<pre>\tif x:\n\n\n\t\treturn</pre>", "\tif x:\n\n\n\t\treturn"),
    ],
)
def test_tables_lists_and_code_of_a_fragment_can_be_read(html: str, text: str) -> None:
    assert page_text(html, main_content=True) == text


@pytest.mark.timeout(30)
@pytest.mark.parametrize("tag", ["div", "b", "table><tr><td", "ul><li", "span"])
def test_a_page_that_is_nested_deep_is_read_in_time(tag: str) -> None:
    assert (
        page_text(f"<html><body>{f'<{tag}>' * 50_000}the text in the deep", main_content=False).split("• ")[-1].strip()
        == "the text in the deep"
    )


def test_paragraphs_that_are_never_closed_are_not_deep() -> None:
    page = "<body>" + "".join(f"<p>number {n}<br>" for n in range(2_000))
    assert page_text(page, main_content=False).split("\n\n") == [f"number {n}" for n in range(2_000)]
