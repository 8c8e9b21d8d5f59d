"""Markup, characters, language and quality rules."""

from pathlib import Path

import pytest
from corpora import Project, lines_of, source
from hypothesis import given
from hypothesis import strategies as st

from runtime import records
from runtime.data import quality
from runtime.data.characters import POLICIES, normalise, tidy
from runtime.data.clean import applies
from runtime.data.html_text import _CODE, _preserved, _unmistakable, _with_deeper_lists, page_text
from runtime.data.language import detect
from runtime.faults import StageFault
from runtime.records import Record

NEWS = (
    "本报讯 昨日上午，市图书馆新馆正式对外开放。新馆位于城市东部，总建筑面积约三万平方米，藏书超过一百万册。"
    "馆长介绍，读者凭身份证即可免费入馆，自助借还设备全天可用。儿童阅览区设在一层，盲文阅览区配有专职人员。"
    "许多市民一早就在门前排队，其中既有带着孩子的父母，也有退休多年的老教师。一位读者说，这里光线明亮，环境安静，"
    "以后周末就有了好去处。据悉，新馆每周一闭馆整理，其余时间从上午九点开放到晚上九点，节假日照常。"
)  # fmt: skip
POEM = "白日依山盡，黃河入海流。\n欲窮千里目，更上一層樓。"
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


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\0\x07b\x1b", "ab"),
        ("零\u200b宽\ufeff度\u200d字\u2060符", "零宽度字符"),
        ("字\u200c符", "字符"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("a  \n\n\n\n  b\t\n", "a\n\n  b"),
        ("a\u2028b\u2029c\x85d", "a\u2028b\u2029c\x85d"),
    ],
)
def test_unwanted_characters_go_and_wanted_ones_stay(dirty: str, clean: str) -> None:
    assert tidy(dirty) == clean


@pytest.mark.parametrize(
    ("policy", "folded"), [("none", "ＡＢＣ１２３，你好：㎏"), ("cjk", "ABC123，你好：㎏"), ("nfkc", "ABC123,你好:kg")]
)
def test_folding_does_what_its_policy_says(policy: str, folded: str) -> None:
    assert normalise("ＡＢＣ１２３，你好：㎏", policy) == folded


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(StageFault, match="nfd"):
        normalise("a", "nfd")


@given(st.text(), st.sampled_from(POLICIES))
def test_cleaning_twice_changes_nothing_more(text: str, policy: str) -> None:
    once = tidy(normalise(tidy(text), policy))
    assert tidy(normalise(tidy(once), policy)) == once


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (NEWS, "zh"),
        (POEM, "zh"),
        ("猫", "zh"),
        ("运行 apt-get update 命令以更新软件包列表，然后重新启动服务", "zh"),
        (ENGLISH, "en"),
        ("これは日本語の文章です。漢字も含まれています。", "ja"),
        ("이것은 한국어 문장입니다.", "ko"),
        ("Это русский текст о библиотеке и её читателях.", "ru"),
        ("\x00\x01 The control characters \x02 in this text are no reason to fail \ufffe.", "en"),
        ("12345 67890 !!!", "und"),
        ("", "und"),
    ],
)
def test_language(text: str, language: str) -> None:
    assert detect(text) == language


@pytest.mark.parametrize(
    ("tag", "spoken", "holds"),
    [("zh", "zh", True), ("zh", "zh-Hant", True), ("zh-Hant", "zh", False), ("en", "zh", False), ("en", None, False)],
)
def test_rules_hold_for_their_languages_alone(tag: str, spoken: str | None, holds: bool) -> None:
    assert applies(tag, Record("1", "text", "source", spoken)) is holds


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (NEWS, None),
        (POEM, None),
        ("子曰：“學而時習之，不亦說乎？”", None),
        ("哈" * 100, "one_character"),
        ("猫", "too_few_han"),
        ("中文标题页\n" + ENGLISH, "han_share"),
        ("＊—＝＋～｜《》【】！？" * 5 + "这里有几个汉字可以作数", "symbol_share"),
        ("\n".join(["同一行文字反复出现在这里"] * 8 + ["另外一行完全不同的内容", "还有一行也不一样的内容"]), "repeated_lines"),
        ("\n".join(f"- 第{n}项" for n in "一二三四五六七八九十"), "bullet_lines"),
    ],
)
def test_rules_for_chinese(text: str, reason: str | None) -> None:
    assert quality.reasons([text], "chinese_basic") == [reason]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (ENGLISH, None),
        ("the be of and " * 5, "too_few_words"),
        ("ab " * 100, "short_words"),
        ("# these have many readers " * 20, "symbols_per_word"),
        ("the and 1234 5678 9101 books " * 20, "alphabetic_words"),
        ("library books readers shelves " * 20, "stop_words"),
        ("\n".join(f"- the books and shelves of readers number {n}" for n in range(10)), "bullet_lines"),
        ("\n".join(f"the books and the shelves and the rooms that belong to reader {n}..." for n in range(10)), "ellipsis_lines"),
        ("\n".join(["the books and shelves of readers"] * 9 + [ENGLISH[:100]]), "repeated_lines"),
    ],
)
def test_rules_for_english(text: str, reason: str | None) -> None:
    assert quality.reasons([text], "gopher") == [reason]


def test_rules_judge_every_text_by_itself() -> None:
    texts = [NEWS, "哈" * 100, POEM, "猫"]
    assert quality.reasons(texts, "chinese_basic") == [quality.reasons([text], "chinese_basic")[0] for text in texts]


def test_unknown_rules_are_refused() -> None:
    with pytest.raises(StageFault, match="gopherus"):
        quality.reasons(["a"], "gopherus")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path, {"rows": source("data/raw/rows", "jsonl", "text")})
    monkeypatch.chdir(made.folder)
    return made


def test_drops_are_counted_by_reason_source_and_language(project: Project) -> None:
    project.put(
        "data/raw/rows/a.jsonl", lines_of(*({"text": text} for text in (NEWS, POEM, "哈" * 100, ENGLISH, "\u200b", "a\ufffd\ufffd")))
    )
    project.run("ingest", "clean")
    kept = project.records("corpus/clean")
    metrics = project.metrics("clean")
    assert [(record.text, record.language) for record in kept] == [(NEWS, "zh"), (POEM, "zh"), (ENGLISH, "en")]
    assert metrics["dropped"] == {"empty": 1, "one_character": 1, "replacement_characters": 1}
    assert metrics["languages"]["zh"]["dropped"] == {"one_character": 1}
    assert (metrics["languages"]["zh"]["documents_in"], metrics["languages"]["zh"]["documents_out"]) == (3, 2)
    assert metrics["documents_in"] == metrics["documents_out"] + sum(metrics["dropped"].values()) == 6
    assert metrics["bytes_out"] == sum(record.size for record in kept)


def test_rules_that_reject_almost_a_whole_language_stop_the_run(project: Project) -> None:
    project.config["clean"]["rules"] = {"zh": "gopher"}
    project.put("data/raw/rows/a.jsonl", lines_of(*({"text": f"{NEWS}{n}"} for n in range(60))))
    with pytest.raises(StageFault, match="too_few_words drops 60 of 60 documents in zh") as fault:
        project.run("ingest", "clean")
    assert "data.pretrain.clean.rules.zh" in fault.value.fix


def test_pages_are_extracted_and_other_formats_keep_their_signs(project: Project) -> None:
    project.config["ingest"]["sources"] = {"pages": source("data/raw/pages", "html"), "notes": source("data/raw/notes", "markdown")}
    project.config["clean"]["rules"] = {}
    project.put("data/raw/pages/a.html", "<p>一 &lt; 二，请看这里的说明文字</p>")
    project.put("data/raw/notes/a.md", "a <b> &lt; c, and the other things that are said in it")
    project.run("ingest", "clean")
    assert [record.text for record in project.records("corpus/clean")] == [
        "一 < 二，请看这里的说明文字",
        "a <b> &lt; c, and the other things that are said in it",
    ]


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
        assert _with_deeper_lists(page, "") == page


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


def test_sources_of_code_keep_their_white_space_and_are_judged_by_rules_of_code(project: Project) -> None:
    program = "def area(width):\n\tif width:\n\n\n\t\treturn width  \n" * 3
    project.config["ingest"]["sources"] = {"programs": {**source("data/raw/programs", "text", None, "en"), "domain": "code"}}
    project.config["clean"]["rules"] = {"en": "gopher", "code": "code"}
    project.config["clean"]["limits"] = {"code": {"generated": None, "code_line_longest": 200}}
    project.put("data/raw/programs/a.txt", program)
    project.put("data/raw/programs/b.txt", "# Generated by a tool, do not edit\n" + program)
    project.put("data/raw/programs/c.txt", program + "x = " + "1 + " * 100 + "1")
    project.run("ingest", "clean")
    assert program.strip("\n") in {record.text for record in project.records("corpus/clean")}
    assert project.metrics("clean")["dropped"] == {"code_line_longest": 1}
    assert project.metrics("clean")["documents_out"] == 2


def test_what_is_taken_out_of_texts_is_counted(project: Project) -> None:
    project.config["clean"] |= {"rules": {}, "boilerplate": True, "pii": {"email": "[email]", "phone": "[phone]"}}
    project.put("data/raw/rows/a.jsonl", lines_of({"text": f"{NEWS}\n首页\n请\u200b联系 a@b.org 或 13812345678\u202e。\n版权所有 某馆"}))
    project.run("ingest", "clean")
    assert [record.text for record in project.records("corpus/clean")] == [f"{NEWS}\n请联系 [email] 或 [phone]。"]
    metrics = project.metrics("clean")
    assert metrics["pii_masked"] == {"email": 1, "phone": 1}
    assert metrics["lines_removed"] == {"boilerplate": 2}
    assert metrics["characters_removed"] == {"direction": 1, "zero_width": 1}


def test_lines_that_rules_take_out_are_gone_and_a_text_of_nothing_else_is_dropped(project: Project) -> None:
    project.config["clean"] |= {"rules": {"en": "c4"}, "limits": {"en": {"too_few_sentences": 1}}}
    project.put(
        "data/raw/rows/a.jsonl",
        lines_of({"text": f"{ENGLISH}\nClick here for the next part"}, {"text": "the readers of these books\nand the books"}),
    )
    project.run("ingest", "clean")
    assert [record.text for record in project.records("corpus/clean")] == [ENGLISH]
    assert project.metrics("clean")["dropped"] == {"empty": 1}
    assert project.metrics("clean")["lines_removed"] == {"line_end": 3}


def test_workers_and_parts_change_no_byte(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "PART", records.Limit(5, 1_000_000))
    project.put("data/raw/rows/a.jsonl", lines_of(*({"text": f"{text}{n}"} for n in range(6) for text in (NEWS, ENGLISH, "哈" * 100))))
    found = []
    for workers in (1, 2):
        (project.folder / "placement.yaml").write_text(f"workers: {workers}\n")
        project.run("ingest", "clean")
        found.append(project.results())
    assert found[0] == found[1]
    assert len(records.parts(project.folder / "corpus/clean")) == 4


def test_a_long_text_is_told_by_its_beginning_middle_and_end() -> None:
    licence = "Permission is granted to copy and distribute this document under the terms of the licence. " * 30
    assert detect(licence + NEWS * 60) == "zh"
    assert detect(f"{NEWS * 2}\n{ENGLISH * 40}") == "en"
