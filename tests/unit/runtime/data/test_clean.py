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
ENGLISH = (
    "The library that opened yesterday is one of the largest in the city, and it has more than a million books. Readers may take "
    "ten of them home at once. Children have a floor to themselves, with low shelves and a room for tales that are read aloud. "
    "Whoever works late will find the doors open until nine, except on Mondays, when the staff puts everything back in order."
)


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
