"""What the faults of a given tokenizer tell to write is accepted at once, whatever is missing."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from compiler.diagnostics import Diagnostic, Faults
from compiler.parse import load
from compiler.validate import review

ROOT = Path(__file__).parents[4]
SMALL = ROOT / "tests/diagnostics/MS0454/specs/small/tokenizer.json"  # 97 ids, with <pad>, <s> and </s>
EXPERIMENT = "specs/experiment/try.yaml"
Project = Callable[[str], Path]


def prepared(project: Project, special: dict[str, Any], size: int = 97, template: str = "plain") -> Path:
    tokenizer = {"kind": "hf", "path": "specs/tokenizer.json", "vocab_size": size, "special_tokens": special}
    root = project(yaml.safe_dump({"tokenizer": tokenizer, "data": {"instruct": {"template": template}}}))
    shutil.copy(SMALL, root / "specs/tokenizer.json")
    for file in (ROOT / "specs/template").glob("*.yaml"):
        shutil.copy(file, root / "specs/template")
    return root


def faults(root: Path) -> list[Diagnostic]:
    template = yaml.safe_load((root / EXPERIMENT).read_text())["data"]["instruct"]["template"]
    try:
        review(load(root, "try", [f"evaluation.suites.core.template={template}"]))
    except Faults as found:
        return list(found.diagnostics)
    return []


def pasted(root: Path, fault: Diagnostic) -> None:
    """Write into the experiment what a fault tells to write."""
    start = fault.fix.index("tokenizer: {")
    written = yaml.safe_load(fault.fix[start:].partition("; or copy")[0])["tokenizer"]
    values = yaml.safe_load((root / EXPERIMENT).read_text())
    special = {**values["tokenizer"]["special_tokens"], **written.pop("special_tokens")}
    values["tokenizer"] |= {**written, "special_tokens": special}
    (root / EXPERIMENT).write_text("# @package _global_\n" + yaml.safe_dump(values))


@pytest.mark.parametrize(
    ("special", "template", "codes"),
    [
        ({"pad": "[PAD]", "bos": "[CLS]", "eos": "[SEP]", "ids": {}}, "own", ["MS0454", "MS0454", "MS0454"]),
        ({"user": []}, "qwen", ["MS0027"]),
        ({"user": ["<|im_start|>", "<|im_end|>"]}, "qwen", ["MS0454", "MS0454", "MS0027"]),
        ({"user": ["<a>", "<b>", "<c>"], "ids": {"<a>": 97, "<b>": 97, "<c>": 97}}, "plain", ["MS0455", "MS0455"]),
        ({"user": ["<a>"], "ids": {"<a>": 3}}, "chatml", ["MS0455", "MS0027"]),
    ],
)
@pytest.mark.parametrize("which", [0, -1])
def test_one_round_is_enough(project: Project, special: dict[str, Any], template: str, codes: list[str], which: int) -> None:
    root = prepared(project, special, template=template)
    own = (ROOT / "specs/template/plain.yaml").read_text().replace('"<s>"', '"[CLS]"').replace('"</s>"', '"[SEP]"')
    (root / "specs/template/own.yaml").write_text(own)
    found = faults(root)
    assert [fault.code for fault in found] == codes
    pasted(root, found[which])
    assert faults(root) == []


def test_a_size_that_is_none_of_the_two_is_told_with_both(project: Project) -> None:
    found = faults(prepared(project, {"pad": "[PAD]"}, size=90))
    assert [(fault.code, fault.fix) for fault in found if fault.code == "MS0453"] == [
        ("MS0453", "write 97, or 98 where the pieces that the file has not get numbers")
    ]


def test_a_template_that_begins_otherwise_is_to_be_copied(project: Project) -> None:
    (fault,) = faults(prepared(project, {"bos": "<pad>", "pad": "</s>", "eos": "<s>"}))[-1:]
    assert fault.code == "MS0027" and "copy the template to specs/template/NAME.yaml, write <pad> there" in fault.fix
