"""`mindspec data`: funnel, dropped and kept texts, rows with their mask, groups of duplicates; where there is nothing, why."""

import contextlib
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from compiler.cli import main
from compiler.command import data_rows
from compiler.command.data import STAGES
from compiler.project import Project
from runtime.contracts.registry import BY_NAME

CHECKOUT = Path(__file__).parents[3]


def flow(documents: int, kept: int, size: int, **dropped: int) -> dict[str, Any]:
    ends = {"documents_in": documents, "documents_out": kept, "characters_in": size, "characters_out": size // 2}
    return {**ends, "bytes_in": size, "bytes_out": size // 2, "dropped": dropped}


@pytest.fixture
def folder(project: Project) -> Path:
    """An experiment of which ingest and clean have run."""
    made = project.root / "experiments" / "demo"
    for name in ("config", "metrics", "corpus/ingest", "corpus/clean", "instruct"):
        (made / name).mkdir(parents=True)
    for stage in STAGES:
        if not BY_NAME[stage].optional:
            (made / BY_NAME[stage].config).write_text("{}\n")
    for stage, reasons in (("ingest", {}), ("clean", {"too_few_words": 3, "stop_words": 1})):
        sources = {"book": flow(10, 6, 2_000_000, **reasons), "poems": flow(2_000, 2_000, 12_000_000)}
        total = {**flow(2_010, 2_006, 14_000_000, **reasons), "sources": sources}
        write(made / f"metrics/{stage}.json", total)
    rows = [
        {"id": f"{source}-{number}", "source": source, "language": "en", "text": f"{source} {number}"}
        for source in ("book", "poems")
        for number in range(4)
    ]
    lines(made / "corpus/clean/sample.jsonl", rows)
    examples = [("too_few_words", "\x1b[31mred"), ("stop_words", "xyz")]
    lines(made / "corpus/clean/dropped.jsonl", [{"id": "1", "source": "book", "reason": reason, "text": text} for reason, text in examples])
    return made


def write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content), "utf-8")


def lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def test_the_funnel_of_all_stages(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "demo"]) == 0
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["source", "raw", "ingest", "clean"] in shown
    assert ["poems", "2,000", "2,000", "2,000"] in shown and ["12.0", "6.00", "6.00"] in shown
    assert ["all", "2,010", "2,006", "2,006"] in shown


def test_one_stage_in_detail_names_the_reasons_by_frequency(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "demo", "clean"]) == 0
    told = capsys.readouterr()
    assert "too_few_words 3, stop_words 1" in told.out
    assert "mindspec data demo clean --dropped | --sample" in told.err
    assert main(["data", "demo", "clean", "--source", "poems"]) == 0
    assert "book" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["demo", "clean", "--dropped", "stop_words"],
        ["demo", "--dropped", "stop_words", "clean"],
        ["demo", "--dropped=stop_words", "clean"],
        ["--dropped=stop_words", "demo", "clean"],
    ],
)
def test_dropped_documents_of_one_reason_wherever_the_flag_stands(
    arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", *arguments]) == 0
    out = capsys.readouterr().out
    assert "stop_words" in out and "xyz" in out and "red" not in out


@pytest.mark.parametrize("arguments", [["demo", "clean", "--dropped"], ["--dropped", "demo", "clean"], ["demo", "--dropped", "clean"]])
def test_all_dropped_documents_and_no_text_steers_the_terminal(
    arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", *arguments]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out and "\N{SYMBOL FOR ESCAPE}[31mred" in out and "xyz" in out


def test_rows_that_could_not_be_read_tell_their_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {
        "source": "book",
        "file": "data/a.jsonl",
        "line": 7,
        "offset": 120,
        "reason": "not_json",
        "bytes": 4,
        "cut": False,
        "row": "{bad",
    }
    lines(folder / "corpus/ingest/quarantine.jsonl", [row])
    assert main(["data", "demo", "ingest", "--dropped"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[:2] == ["not_json  book  file data/a.jsonl  line 7  offset 120  bytes 4", "{bad"]


@pytest.mark.parametrize("arguments", [["--sample", "3"], ["--sample=3"]])
def test_a_sample_takes_the_sources_in_turn(arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "demo", "clean", "--json", *arguments]) == 0
    assert [row["id"] for row in json.loads(capsys.readouterr().out)] == ["book-0", "poems-0", "book-1"]


def test_rows_show_what_is_trained(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = [
        ("<|im_start|>", False, True),
        ("user\nhi", False, False),
        ("hello", True, False),
        ("<|im_end|>", True, True),
        ("\n", False, False),
    ]
    segments = [{"text": text, "trained": trained, "special": special} for text, trained, special in parts]
    lines(folder / "instruct/sample.jsonl", [{"id": "r1", "source": "answers", "segments": segments}])
    write(folder / "metrics/format.json", {"sources": {"answers": {"read": 1}}})
    assert main(["data", "demo", "format", "--sample", "--lang", "zh"]) == 0
    shown = capsys.readouterr().out
    assert shown == "⟦计入损失⟧  只读，不计入损失  ⟪特殊词元⟫\n\nanswers  r1\n⟪<|im_start|>⟫user\nhi⟦hello⟪<|im_end|>⟫⟧\n\n"


def test_no_text_of_a_row_passes_for_a_mark_or_a_special_piece() -> None:
    parts = [{"text": "<s>", "special": True}, {"text": "⟪<s>⟫⟦<s>⟧"}, {"text": "⟧", "trained": True}]
    assert data_rows.segments(parts, colour=False).plain == r"⟪<s>⟫\u27ea<s>\u27eb\u27e6<s>\u27e7⟦\u27e7⟧"
    assert data_rows.segments(parts, colour=True).plain == "<s>⟪<s>⟫⟦<s>⟧⟧"


def test_documents_with_text_of_an_evaluation_set_are_shown_with_the_passage(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "corpus/dedup").mkdir()
    dropped = [
        {"id": f"d{number}", "source": "book", "reason": reason, "text": "t"} for number, reason in enumerate(["contaminated", "near"])
    ]
    lines(folder / "corpus/dedup/dropped.jsonl", dropped)
    rows = [{"id": "d0", "source": "book", "passage": "to be or", "text": "To be, or not", "action": "drop"}]
    rows.append({"id": "d7", "source": "poems", "passage": "or not", "text": "or not to be", "action": "cut"})
    lines(folder / "corpus/dedup/contaminated.jsonl", rows)
    write(
        folder / "metrics/dedup.json",
        {**flow(2, 1, 20, contaminated=1, near=1), "sources": {"book": flow(1, 0, 10), "poems": flow(1, 1, 10)}},
    )
    assert main(["data", "demo", "dedup"]) == 0 and "--dropped" in capsys.readouterr().err
    assert main(["data", "demo", "dedup", "--dropped"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if line] == [
        "near  book  d1", "t",
        "contaminated  book  d0  passage to be or  action drop", "To be, or not",
        "contaminated  poems  d7  passage or not  action cut", "or not to be",
    ]  # fmt: skip
    assert main(["data", "demo", "dedup", "--dropped", "contaminated", "--source", "poems", "--json"]) == 0
    assert [row["id"] for row in json.loads(capsys.readouterr().out)] == ["d7"]


def test_colours_of_a_row_on_a_terminal() -> None:
    parts = [{"text": "a", "trained": True}, {"text": "b", "special": True}, {"text": "c", "trained": True, "special": True}]
    text = data_rows.segments(parts, colour=True)
    assert text.plain == "abc"
    assert [str(span.style) for span in text.spans] == ["green", "reverse dim", "reverse green"]


def test_groups_of_duplicates_show_what_was_kept_first(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = {"id": "b", "source": "poems", "text": "one two"}
    members = [{"id": "a", "source": "book", "text": "one\ntwo"}, copy, copy]
    (folder / "corpus/dedup").mkdir()
    lines(folder / "corpus/dedup/clusters.jsonl", [{"kind": "near_duplicate", "kept": "b", "similarity": 0.9, "members": members}])
    write(folder / "metrics/dedup.json", {**flow(2, 1, 20), "sources": {"book": flow(1, 0, 10), "poems": flow(1, 1, 10)}})
    assert main(["data", "demo", "dedup", "--clusters"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "near_duplicate  3 documents  similarity 0.9",
        "  kept    poems b  one two",
        "  dropped poems b  one two",
        "  dropped book a  one two",
        "",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dmeo"], "did you mean demo?"),
        (["demo", "dedup"], "the stage dedup of demo has not run"),
        (["demo", "dedup"], "dvc repro experiments/demo/dvc.yaml:dedup"),
        (["demo", "synthesize"], "demo has no stage synthesize"),
        (["demo", "clean", "--source", "poem"], "did you mean poems?"),
        (["demo", "clean", "--dropped", "stop_word"], "did you mean stop_words?"),
        (["demo", "--sample"], "which stage?"),
        (["../demo"], "experiments/../demo does not exist"),
    ],
)
def test_what_is_not_there_is_told_with_a_way_out(
    arguments: list[str], words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", *arguments]) == 1
    assert words in capsys.readouterr().err


def test_figures_without_their_texts_are_explained(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "corpus/ingest").rmdir()
    assert main(["data", "demo", "ingest", "--sample"]) == 1
    assert "experiments/demo/corpus/ingest is not here" in capsys.readouterr().err


@pytest.mark.parametrize(("path", "stage"), [("metrics/clean.json", []), ("corpus/clean/dropped.jsonl", ["--dropped"])])
def test_a_file_that_is_cut_short_is_named(path: str, stage: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / path).write_text('{"a"')
    assert main(["data", "demo", "clean", *stage]) == 1
    assert f"experiments/demo/{path} is not JSON" in capsys.readouterr().err
    for content, words in (("[]", "holds something else than JSON objects"), ("[" * 100_000, "is not JSON")):
        (folder / path).write_text(content)
        assert main(["data", "demo", "clean", *stage]) == 1
        assert f"experiments/demo/{path} {words}" in capsys.readouterr().err


def test_more_rows_than_there_can_be_are_all_rows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "demo", "clean", "--sample", str(10**30)]) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["demo", "clen"], "there is no data stage 'clen'; did you mean clean?"),
        (["demo", "pretrain"], "there is no data stage 'pretrain'"),
        (["demo", "clean", "--sample", "0"], "a number from 1 is needed, not '0'"),
        (["demo", "clean", "--sample", "2", "--clusters"], "not allowed with argument"),
        (["demo", "clean", "--source"], "expected one argument"),
        ([], "NAME"),
    ],
)
def test_wrong_usage(arguments: list[str], words: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["data", *arguments])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_wrong_usage_in_chinese(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["data", "demo", "clen", "--lang", "zh"])
    assert "没有数据阶段 'clen'；是否想写 clean？" in capsys.readouterr().err


def test_nothing_was_dropped(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "demo", "ingest", "--dropped"]) == 0
    told = capsys.readouterr()
    assert told.out == "" and "ingest has dropped nothing of the kind" in told.err


def test_data_for_machines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "demo", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"ingest", "clean"}
    assert main(["data", "demo", "clean", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["documents_out"] == 2_006


@pytest.mark.parametrize("arguments", [["data", "demo"], ["data", "demo", "clean", "--dropped"]])
def test_a_full_disk_and_a_reader_that_has_seen_enough(arguments: list[str], folder: Path) -> None:
    with open("/dev/full", "w") as full:
        ended = subprocess.run([sys.executable, "-m", "compiler", *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, "Traceback" in ended.stderr) == (1, False)
    assert "No space left on device" in ended.stderr
    command = [sys.executable, "-m", "compiler", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as closed:
        assert closed.stdout is not None and closed.stderr is not None
        closed.stdout.close()
        assert "Traceback" not in closed.stderr.read() and closed.wait() in (0, 1)


@pytest.mark.parametrize(("variables", "marks"), [({}, False), ({"NO_COLOR": "1"}, True), ({"TERM": "dumb"}, True)])
def test_a_terminal_without_colours_gets_marks(folder: Path, variables: dict[str, str], marks: bool) -> None:
    segments = [{"text": "<s>", "special": True}, {"text": "yes", "trained": True}]
    lines(folder / "instruct/sample.jsonl", [{"id": "r1", "source": "answers", "segments": segments}])
    write(folder / "metrics/format.json", {"sources": {"answers": {"read": 1}}})
    plain = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment = {**plain, "TERM": "xterm", "PYTHONPATH": str(CHECKOUT), "PYTHONIOENCODING": "utf-8", **variables}
    master, end = pty.openpty()
    command = [sys.executable, "-m", "compiler", "data", "demo", "format", "--sample"]
    with subprocess.Popen(command, stdout=end, stderr=subprocess.DEVNULL, cwd=folder.parents[1], env=environment) as process:
        os.close(end)
        shown = b""
        with contextlib.suppress(OSError):  # what reading from a terminal that nobody writes to any more ends in
            while part := os.read(master, 4096):
                shown += part
    os.close(master)
    assert process.returncode == 0
    assert ("⟪<s>⟫⟦yes⟧" in shown.decode()) == marks and (b"\x1b[7;2m<s>" in shown or b"\x1b[2;7m<s>" in shown) != marks


def test_shares_that_were_asked_stand_beside_those_that_are_trained_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mixed = {"book": {"target_share": 0.25, "share": 0.26}, "poems": {"target_share": 0.75, "share": 0.74}}
    write(folder / "metrics/mix.json", {**json.loads((folder / "metrics/clean.json").read_text()), "unit": "tokens", "mix": mixed})
    packed = {"book": {"tokens": 300, "share_of_tokens": 0.3}, "poems": {"tokens": 700, "share_of_tokens": 0.7}}
    write(folder / "metrics/pack-pretrain.json", {"train_by_source": packed})
    assert main(["data", "demo"]) == 0
    shown = capsys.readouterr().out
    assert "asked and in the mix by tokens" in shown
    assert next(line.split() for line in shown.split("\n") if "25.00%" in line) == ["book", "25.00%", "26.00%", "30.00%", "+5.00"]
    assert next(line.split() for line in shown.split("\n") if "75.00%" in line)[-1] == "-5.00"


def shown(folder: Path, capsys: pytest.CaptureFixture[str], stage: str, metrics: dict[str, Any], *arguments: str) -> str:
    """What the command says of a stage, each run of blanks as one."""
    if BY_NAME[stage].optional:
        (folder / BY_NAME[stage].config).write_text("{}\n")
    write(folder / f"metrics/{stage}.json", metrics)
    assert main(["data", "demo", stage, *arguments]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_what_a_stage_counts_besides_documents(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counted = {**flow(4, 3, 40), "sources": {"my_book": flow(4, 3, 40)}}
    clean = {
        "lines_removed": {"boilerplate": 36},
        "pii_masked": {"email": 1107},
        "characters_removed": {},
        "perplexity": {"thresholds": {"en": 297.65}},
    }
    said = shown(folder, capsys, "clean", {**counted, **clean})
    for line in (
        "lines removed boilerplate 36",
        "personal data masked email 1,107",
        "characters removed -",
        "perplexity: thresholds en 297.6",
    ):
        assert line in said
    parts = {"train": {"documents": 355, "sources": {"my_book": 110}}, "validation": {"documents": 4}}
    split = {"splits": parts, "overlap": {"runs": 1129, "share": 0.539}, "warnings": ["half is seen"]}
    said = shown(folder, capsys, "split", {**counted, **split})
    assert "splits: train documents 355, by source (my_book 110)" in said and "splits: validation documents 4" in said
    assert "overlap of the splits runs 1,129, share 0.539" in said and said.endswith("warning: half is seen")
    assert "texts of a topic spam 0, storage 87" in shown(folder, capsys, "filter", {**counted, "topics": {"spam": 0, "storage": 87}})
    assert "主题文本 spam 0，storage 87" in shown(
        folder, capsys, "filter", {**counted, "topics": {"spam": 0, "storage": 87}}, "--lang", "zh"
    )


def test_a_mix_shows_the_shares_that_were_asked_and_obtained(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    share = {"target_share": 0.25, "share": 0.26, "natural_share": 0.1, "repeats": 2.5, "tokens_estimated": 1234}
    told = {**flow(4, 3, 40), "sources": {"book": flow(4, 3, 40)}, "mix": {"book": share}, "unit": "bytes", "missing_bytes": 7}
    said = shown(folder, capsys, "mix", told)
    assert "book 25.00% 26.00% 10.00% 2.5 1,234" in said and "missing bytes 7" in said


def test_recipes_show_requests_tokens_cost_and_reasons(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = {"wanted": 12, "requests": {"write": 21, "judge": 19}, "dropped": {"low_score": 7}, "tokens": {"input": 4000}, "cost": None}
    said = shown(folder, capsys, "synthesize", {"rows": 12, "recipes": {"questions": made, "more": made}, "warnings": ["too few"]})
    assert "requests write 21, judge 19 write 21, judge 19" in said and "dropped low_score 7" in said
    assert "tokens input 4,000" in said and "cost - -" in said and said.endswith("warning: too few")
    assert "write 21" in shown(folder, capsys, "synthesize", {"recipes": {"questions": made, "more": made}}, "--source", "more")


def test_an_id_that_is_a_number_is_not_taken_for_a_score(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "synthetic").mkdir()
    row = {"source": "questions", "id": "8.0", "reason": "low_score", "score": 6.5, "threshold": 7.0, "text": "x"}
    lines(folder / "synthetic/dropped.jsonl", [row])
    said = shown(folder, capsys, "synthesize", {"recipes": {"questions": {"rows": 1}}}, "--dropped")
    assert said == "low_score questions id 8.0 score 6.5 threshold 7.0 x"


def test_a_bad_row_is_shown_once_with_its_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = {"source": "answers", "reason": "no 'output'", "text": "{}"}
    other = {"source": "answers", "id": "ab", "reason": "empty_answer", "text": "user: x"}
    lines(folder / "instruct/dropped.jsonl", [{"id": "data/a.json:402", **bad}, other])
    lines(folder / "instruct/quarantine.jsonl", [{"file": "data/a.json", "line": 402, **bad}])
    said = shown(folder, capsys, "format", {"sources": {"answers": {"read": 2}}}, "--dropped")
    assert said == "empty_answer answers ab user: x no 'output' answers file data/a.json line 402 {}"
