"""Faults of data that people have met elsewhere, with the very inputs they met them with: raw text, rules, copies, mixes."""

from pathlib import Path

import pytest
from corpora import Project, lines_of, source

from runtime import records
from runtime.data import quality
from runtime.data.language import detect

MARK = "\ufeff"
ROWS = '{"text":"甲","m":{"x":1}}', '{"text":"乙","m":{"y":2}}'
NEWS = (
    "本报讯 昨日上午，市图书馆新馆正式对外开放。新馆位于城市东部，毗邻人民公园，总建筑面积约三万平方米，藏书超过一百万册，\n"
    "可同时容纳两千名读者阅览。馆长在开馆仪式上介绍，读者凭身份证即可免费入馆，自助借还设备全天可用。\n"
    "儿童阅览区设在一层，书架比成人区低一半，周末还有志愿者讲故事；盲文阅览区配有专职人员，可以提供上门送书服务。\n"
    "许多市民一早就在门前排队，其中既有带着孩子的父母，也有退休多年的老教师。家住附近的王女士说，以前看书要坐四十分钟公交车，\n"
    "现在步行十分钟就到。一位正在备考的大学生告诉记者，这里光线明亮，环境安静，以后周末就有了好去处。\n"
    "据了解，新馆建设历时三年，采用了地源热泵和屋顶光伏，能耗比同类建筑低三成左右。地下二层是恒温书库，保存着两万多册地方文献，\n"
    "其中最早的一部刻印于明代。为了方便外地学者查阅，馆方已经完成了近八千册古籍的扫描工作，读者可以在网上预约阅览。\n"
    "市文化局负责人表示，今年内还将建成十二个社区分馆，实行通借通还。据悉，新馆每周一闭馆整理，其余时间从上午九点开放到晚上九点，\n"
    "节假日照常。交通部门同时调整了三条公交线路，并在馆前增设站点，停车场则向读者免费开放两小时。"
)  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path, {"rows": source("data/raw/rows", "jsonl", "text")})
    monkeypatch.chdir(made.folder)
    return made


def parts(project: Project, content: str, name: str = "a.jsonl") -> list[bytes]:
    """What ingest makes of one file, byte by byte."""
    project.put(f"data/raw/rows/{name}", content)
    project.run("ingest")
    return [path.read_bytes() for path in records.parts(project.folder / "corpus/ingest")]


@pytest.mark.parametrize(
    ("content", "marks"),
    [
        (f"{MARK}{ROWS[0]}\n{ROWS[1]}\n", 1),
        (f"{MARK}{ROWS[0]}\n{MARK}{ROWS[1]}\n", 2),
        (f"{MARK}{MARK}{ROWS[0]}\r\n{ROWS[1]}\r\n", 2),
    ],
)
def test_a_byte_order_mark_changes_no_byte_of_what_is_read(project: Project, content: str, marks: int) -> None:
    plain = parts(project, f"{ROWS[0]}\n{ROWS[1]}\n")
    assert parts(project, content) == plain
    assert project.metrics("ingest")["byte_order_marks"] == marks
    assert [(record.text, record.meta["line"]) for record in project.records("corpus/ingest")] == [("甲", 1), ("乙", 2)]


def test_a_byte_order_mark_before_the_names_of_columns_hides_none(project: Project) -> None:
    project.config["ingest"]["sources"] = {"rows": source("data/raw/rows", "csv", "text")}
    plain = parts(project, "text,id\n甲,1\n乙,2\n", "a.csv")
    assert parts(project, f'{MARK}"text","id"\n甲,1\n{MARK}乙,2\n', "a.csv") == plain
    assert project.metrics("ingest")["byte_order_marks"] == 2


@pytest.mark.parametrize("name", ["chinese_basic", "chinese_web"])
def test_clean_chinese_news_of_five_hundred_characters_passes_the_rules_for_chinese(name: str) -> None:
    assert 480 <= len(NEWS) <= 620
    assert quality.reasons([NEWS, NEWS.replace("\n", "")], name) == [None, None]


def test_a_language_has_the_code_that_people_filter_by() -> None:
    assert detect("הספרייה נפתחת בתשע בבוקר ונסגרת בתשע בערב") == "he"
    assert detect("Perpustakaan iki dibukak saben dina kanggo kabeh wong sing seneng maca buku ing kutha iki") == "jv"


def test_rules_for_english_say_nothing_of_other_languages(project: Project) -> None:
    others = [
        "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。",
        "이것은 한국어 문장입니다. 도서관은 아홉 시에 문을 엽니다.",
    ]
    project.config["clean"]["rules"] = {name: "gopher" for name in ("en", "fr")} | {"zh": "chinese_web"}
    parts(project, lines_of(*({"text": text} for text in (NEWS, *others))))
    project.run("clean")
    assert [record.text for record in project.records("corpus/clean")] == [NEWS, *others]


@pytest.mark.parametrize(
    "copy",
    ["问:1+1等于几? 答:2 ", "问：１＋１等于几？ 答：２。", "问:1+1等于几?\n答:2!", "“问:1+1等于几?” 答:2"],
    ids=["blank", "width", "line", "quotes"],
)
def test_a_copy_in_other_clothes_is_never_on_both_sides(project: Project, copy: str) -> None:
    others = [{"text": f"第{number}篇短文，说的是第{number * 7 % 31}件事，与别的都不同。"} for number in range(40)]
    project.config["clean"]["rules"] = {}
    project.config["split"]["validation"] = 0.5
    project.tracked("split.validation", 0.5)
    for seed in range(4):
        project.config["split"]["seed"] = seed
        parts(project, lines_of({"text": "问:1+1等于几? 答:2"}, {"text": copy}, *others))
        project.run("clean", "dedup", "filter", "mix", "split")
        sides = [
            [record.text for record in project.records(f"corpus/split/{side}") if "等于几" in record.text]
            for side in ("train", "validation")
        ]
        assert sum(map(bool, sides)) == 1
        assert project.metrics("split")["overlap"]["exact"] == 0
