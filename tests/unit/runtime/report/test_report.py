"""The stage as a whole: the page is valid, self-contained, bilingual and the same every time; foreign text stays text."""

import json
import math
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import html5lib
import pytest

from runtime.contracts.registry import REPORT as CONTRACT
from runtime.contracts.report import TEMPLATES
from runtime.faults import InputFault
from runtime.report.curves import FRAMES
from runtime.report.funnel import STEPS
from runtime.report.page import SECTIONS
from runtime.report.page import TEMPLATES as TEMPLATE_FOLDER
from runtime.report.scores import METRICS
from runtime.report.texts import TEXTS
from runtime.stage import execute
from tests.unit.runtime.report.conftest import sign

XHTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"


def page(experiment: Path) -> str:
    execute(CONTRACT)
    return (experiment / "report.html").read_text("utf-8")


def parsed(text: str) -> ET.Element:
    """The page as a tree; the parser raises at the first violation of the HTML standard."""
    return html5lib.HTMLParser(strict=True).parse(text)


def change(path: str, edit: Any) -> None:
    content = json.loads(Path(path).read_text("utf-8"))
    edit(content)
    Path(path).write_text(json.dumps(content), "utf-8")


def visible_in(element: ET.Element, language: str) -> str:
    """The text that a reader of one language sees."""
    if element.tag in (XHTML + "script", XHTML + "style", XHTML + "title", SVG + "title"):
        return ""
    if element.get("class") == "t" and element.get("lang") != language:
        return ""
    return (element.text or "") + "".join(visible_in(child, language) + (child.tail or "") for child in element)


def test_the_page_is_valid_html_with_every_section(experiment: Path) -> None:
    tree = parsed(page(experiment))
    assert [section.get("id") for section in tree.iter(XHTML + "section")] == list(SECTIONS)


def test_ids_are_unique_and_every_reference_to_one_has_a_target(experiment: Path) -> None:
    tree = parsed(page(experiment))
    ids = [element.get("id") for element in tree.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    links = [link.get("href", "")[1:] for link in tree.iter(XHTML + "a")]
    labels = [element.get("aria-labelledby", "") for element in tree.iter() if element.get("aria-labelledby")]
    assert links and labels and {*links, *labels} <= set(ids)


def test_nothing_outside_the_page_is_referred_to(experiment: Path) -> None:
    text = page(experiment)
    tree = parsed(text)
    attributes = ("src", "href", "srcset", "action", "data", "poster", "{http://www.w3.org/1999/xlink}href")
    targets = [value for element in tree.iter() for name, value in element.attrib.items() if name in attributes]
    assert all(target.startswith("#") or target == "data:," for target in targets)
    assert not re.search(r"@import|url\((?!#)|https?://", text)
    assert not [element for element in tree.iter() if element.tag in (XHTML + "iframe", XHTML + "object", XHTML + "embed", XHTML + "img")]
    policy = next(meta.get("content", "") for meta in tree.iter(XHTML + "meta") if meta.get("http-equiv"))
    assert policy.startswith("default-src 'none'")


def test_the_same_experiment_gives_the_same_bytes(experiment: Path) -> None:
    first = page(experiment), (experiment / "record.json").read_bytes()
    assert (page(experiment), (experiment / "record.json").read_bytes()) == first


def test_foreign_text_stays_text(experiment: Path) -> None:
    tree = parsed(page(experiment))
    assert len(list(tree.iter(XHTML + "script"))) == 1
    assert not next(iter(tree.iter(XHTML + "main"))).findall(f".//{XHTML}script")
    words = visible_in(tree, "en")
    assert "LoRA on dialogues. <script>alert(1)</script>" in words
    assert "<b>dpkg -l</b> & friends" in words
    assert "藜牀坐來久，前年曾到門。" in words
    assert "\N{SYMBOL FOR ESCAPE}[31m<script>alert(1)</script>" in words


def test_both_languages_are_there_and_each_alone_is_whole(experiment: Path) -> None:
    tree = parsed(page(experiment))
    assert tree.get("lang") == "en"
    english, chinese = visible_in(tree, "en"), visible_in(tree, "zh-Hans")
    assert "Bits per byte" in english and "每字节比特数" not in english
    assert "每字节比特数" in chinese and "Bits per byte" not in chinese
    assert [button.get("data-language") for button in tree.iter(XHTML + "button")] == ["en", "zh-Hans"]


@pytest.mark.parametrize(("languages", "tag", "switch"), [(["zh", "en"], "zh-Hans", 2), (["zh"], "zh-Hans", 0), (["en"], "en", 0)])
def test_the_first_language_is_the_default(experiment: Path, languages: list[str], tag: str, switch: int) -> None:
    path = experiment / "presentation.yaml"
    path.write_text(path.read_text("utf-8").replace("- en\n- zh\n", "".join(f"- {language}\n" for language in languages)), "utf-8")
    tree = parsed(page(experiment))
    assert tree.get("lang") == tag
    assert len(list(tree.iter(XHTML + "button"))) == switch


def test_every_drawing_and_table_says_what_it_is(experiment: Path) -> None:
    tree = parsed(page(experiment))
    drawings, tables = list(tree.iter(SVG + "svg")), list(tree.iter(XHTML + "table"))
    assert len(drawings) == 8 and all(drawing.get("role") == "img" and drawing.get("aria-labelledby") for drawing in drawings)
    assert tables and all(header.get("scope") for table in tables for header in table.iter(XHTML + "th"))


def test_the_figures_of_the_evaluation_are_shown(experiment: Path) -> None:
    words = visible_in(parsed(page(experiment)), "en")
    for figure in ("2.0331", "31.9\N{NO-BREAK SPACE}%", "−4.9349", "+43.3 points", "1.83\N{NO-BREAK SPACE}M"):
        assert figure in words


def test_a_metric_that_is_absent_and_one_that_is_not_finite_are_said_to_be_so(experiment: Path) -> None:
    change("metrics/evaluate.json", lambda content: content["merged"].pop("answer_loss"))
    change("metrics/evaluate.json", lambda content: content["base"].update(perplexity=None, perplexity_reason="overflow"))
    tree = parsed(page(experiment))
    english, chinese = visible_in(tree, "en"), visible_in(tree, "zh-Hans")
    assert "not finite (overflow)" in english and "非有限值（溢出）" in chinese
    assert "not computed" in english and "未计算" in chinese


def test_an_experiment_with_hardly_any_result_still_has_a_page(experiment: Path) -> None:
    for path in [*Path("metrics").iterdir(), *Path("plots").iterdir(), Path("evaluation/predictions.jsonl")]:
        path.unlink()
    sign(Path("evaluation"), "evaluate")
    words = visible_in(parsed(page(experiment)), "en")
    assert "not computed" in words and "No training curve was written." in words


def test_steps_without_a_finite_loss_are_counted(experiment: Path) -> None:
    path = Path("plots/finetune.csv")
    rows = path.read_text("utf-8").splitlines()
    rows[5] = re.sub(r",[^,]*", ",nan", rows[5], count=1)
    path.write_text("\n".join(rows) + "\n", "utf-8")
    text = page(experiment)
    assert "1 steps without a finite value" in visible_in(parsed(text), "en")
    assert not re.search(r'd="[^"]*nan', text)


@pytest.mark.parametrize(("path", "content", "where"), [
    ("metrics/evaluate.json", '{"base": {"perplexity": NaN}}', "metrics/evaluate.json"),
    ("metrics/evaluate.json", '{"acc": ,}', "metrics/evaluate.json"),
    ("plots/pretrain.csv", "step,loss\n1,2.0\n2,two\n", "plots/pretrain.csv:3"),
])  # fmt: skip
def test_a_file_that_cannot_be_read_is_named_with_its_line(experiment: Path, path: str, content: str, where: str) -> None:
    Path(path).write_text(content, "utf-8")
    with pytest.raises(InputFault) as fault:
        execute(CONTRACT)
    assert fault.value.where == where
    assert not Path("report.html").exists() and not Path("record.json").exists()


def test_predictions_that_were_changed_are_refused(experiment: Path) -> None:
    with Path("evaluation/predictions.jsonl").open("a") as file:
        file.write("{}\n")
    with pytest.raises(InputFault, match=r"predictions\.jsonl"):
        execute(CONTRACT)


def test_no_time_host_or_path_of_the_machine_is_in_the_results(experiment: Path) -> None:
    text = page(experiment) + (experiment / "record.json").read_text("utf-8")
    assert str(experiment) not in text and str(Path(__file__).parents[4]) not in text
    assert not re.search(r"\d\d:\d\d:\d\d", text)


def test_the_contract_names_every_template() -> None:
    found = {path.relative_to(TEMPLATE_FOLDER).as_posix() for path in TEMPLATE_FOLDER.rglob("*") if path.is_file()}
    assert set(TEMPLATES) == found


def test_every_number_in_a_drawing_is_finite(experiment: Path) -> None:
    tree = parsed(page(experiment))
    numbers = [
        value
        for element in tree.iter()
        for name in ("x", "y", "width", "height", "cx", "cy")
        if element.tag.startswith(SVG) and (value := element.get(name))
    ]
    assert len(numbers) > 100 and all(math.isfinite(float(number)) for number in numbers)


def test_every_text_that_a_template_asks_for_exists_in_both_languages() -> None:
    asked = {
        key
        for path in TEMPLATE_FOLDER.rglob("*.j2")
        for call in re.findall(r"\bt(?:\.svg)?\(([^)]*)\)", path.read_text("utf-8"))
        for key in re.findall(r'"(\w+)"', call.split(" if ")[0] + call.partition(" else ")[2])
        if " ~ " not in call
    }
    built = {*SECTIONS, *STEPS, *(metric.key for metric in METRICS), *(f"{metric.key}_about" for metric in METRICS if metric.headline)}
    drawn = {frame.key for frame in FRAMES} | {f"{frame.key}_axis" for frame in FRAMES}
    assert len(asked) > 60 and asked | built | drawn <= TEXTS.keys()
    assert all(english and chinese for english, chinese in TEXTS.values())
