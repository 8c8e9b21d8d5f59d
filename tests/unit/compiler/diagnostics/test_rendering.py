"""Text and plain values of faults."""

import json

import pytest

from compiler.diagnostics import Diagnostic, Faults, render, render_one, width
from compiler.source import Place, dotted

FAULT = Diagnostic("MS0301", "66 / 4 leaves 2", Place("a.yaml", 3, 4, "x: 66"), ("model", "hidden_size"), "why", "how")


def test_plain_text() -> None:
    assert render_one(FAULT) == (
        "a.yaml:3:4: error MS0301: model.hidden_size: 66 / 4 leaves 2\n  | x: 66\n  |    ^\n  why: why\n  fix: how"
    )


def test_colour_adds_escapes_alone() -> None:
    coloured = render_one(FAULT, colour=True)
    assert "\x1b[" in coloured and "\x1b[" not in render_one(FAULT)


def test_caret_stands_below_wide_characters() -> None:
    lines = render_one(Diagnostic("MS0208", "m", Place("a.yaml", 1, 5, "标题: 3"))).splitlines()
    assert width(lines[2][: lines[2].index("^")]) == width("  | 标题: ")


def test_tab_before_the_caret_stays_a_tab() -> None:
    assert render_one(Diagnostic("MS0208", "m", Place("a.yaml", 1, 2, "\tx"))).splitlines()[2] == "  | \t^"


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("中文", 4), ("e\u0301", 1), ("Ａ", 2), ("", 0)])
def test_width(text: str, columns: int) -> None:
    assert width(text) == columns


def test_faults_in_the_order_of_places_without_repeats() -> None:
    def at(file: str, line: int) -> Diagnostic:
        return Diagnostic("MS0201", "m", Place(file, line, 1, ""))

    faults = Faults([at("<override 11>", 1), at("<override 2>", 1), at("b.yaml", 2), at("a.yaml", 10), at("a.yaml", 9), at("a.yaml", 9)])
    assert [str(fault.place) for fault in faults.diagnostics] == [
        "<override 2>:1:1", "<override 11>:1:1", "a.yaml:9:1", "a.yaml:10:1", "b.yaml:2:1",
    ]  # fmt: skip


def test_count() -> None:
    warning = Diagnostic("MS0201", "m", severity="warning")
    assert render([FAULT, warning]).endswith("1 error, 1 warning")


def test_plain_values_for_machines() -> None:
    plain = FAULT.as_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["path"] == "model.hidden_size"
    assert plain["place"] == {"file": "a.yaml", "line": 3, "column": 4, "text": "x: 66"}


def test_an_unregistered_code_is_our_bug() -> None:
    with pytest.raises(ValueError, match="MS9999"):
        Diagnostic("MS9999", "m")


def test_dotted_path() -> None:
    assert dotted(("data", "languages", 1)) == "data.languages[1]"


@pytest.mark.parametrize("char", ["\x1b", "\x00", "\x9b", "\u202e", "\u200b", "\ufeff"])
def test_what_a_terminal_obeys_or_nobody_sees_is_written_out(char: str) -> None:
    fault = Diagnostic("MS0201", f"m{char}", Place("a.yaml", 1, 3, f"x{char}: 1"), (f"k{char}",), fix=f"f{char}")
    shown = render_one(fault)
    assert char not in shown and shown.count("\\") == 4


def test_the_caret_stands_below_what_follows_an_unseen_character() -> None:
    lines = render_one(Diagnostic("MS0201", "m", Place("a.yaml", 1, 4, "a\u200b: 1"))).splitlines()
    assert lines[2].index("^") == lines[1].index(" 1")
