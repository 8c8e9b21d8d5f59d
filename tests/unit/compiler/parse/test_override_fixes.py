"""A fix that is offered for an override must work when it is followed."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.diagnostics import Diagnostic, Faults
from compiler.parse import load

Project = Callable[[str], Path]


def fault(root: Path, override: str) -> Diagnostic:
    with pytest.raises(Faults) as caught:
        load(root, "try", [override])
    assert len(caught.value.diagnostics) == 1
    return caught.value.diagnostics[0]


@pytest.mark.parametrize("value", ["a=b", "a'b,c=", 'a"b(', "[a", "\u4f60\u597d", 'a"b\u4e2d', "\\\u4e2d\\", "it's \u4e2d"])
def test_the_quotes_that_are_offered_keep_the_text(project: Project, value: str) -> None:
    root = project("")
    offered = fault(root, f"title={value}").fix.partition(" (")[0].partition("shell: ")
    (override,) = shlex.split(offered[2] or offered[0].removeprefix("write "))
    assert load(root, "try", [override]).values["title"] == value


@pytest.mark.parametrize("override", ["seed =3", " seed=3", ".seed=3"])
def test_the_key_that_is_offered_is_read(project: Project, override: str) -> None:
    root = project("")
    offered = fault(root, override).fix.rpartition(" ")[2]
    assert load(root, "try", [offered]).values["seed"] == 3


@pytest.mark.parametrize("override", ["=3", "a..b=3", "a.=x y"])
def test_a_key_that_is_none_is_not_quoted(project: Project, override: str) -> None:
    assert "quote" not in fault(project(""), override).fix


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet="ab'\"\\,= ({[}\u4e2d%", max_size=8))
def test_quoting_is_exact(text: str) -> None:
    from hydra.core.override_parser.overrides_parser import OverridesParser

    from compiler.quoting import quoted

    assert OverridesParser.create().parse_override(f"title={quoted(text)}").value() == text
