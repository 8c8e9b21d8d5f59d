"""The templates of the repository are accepted with the pieces that they state, and refused without, at their lines."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from compiler.diagnostics import Faults
from compiler.parse import load
from compiler.resolve.template import template
from compiler.spec.tokenizer import SpecialTokens
from compiler.validate import review

ROOT = Path(__file__).parents[3]
PIECES = {
    "chatml": ("<|im_start|>", "<|im_end|>"),
    "llama2": ("[INST]", "[/INST]", "<<SYS>>", "<</SYS>>"),
    "llama3": ("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
    "plain": (),
    "qwen": ("<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>"),
}


def spec(name: str, user: tuple[str, ...]) -> Any:
    """As much of a spec as decides about a template."""
    special = SpecialTokens(bos="<|begin_of_text|>" if name == "llama3" else "<s>", user=user)
    return SimpleNamespace(
        data=SimpleNamespace(instruct=SimpleNamespace(template=name)), tokenizer=SimpleNamespace(special_tokens=special, path=None)
    )


def test_all_templates_are_known() -> None:
    assert {file.stem for file in (ROOT / "specs/template").glob("*.yaml")} == {*PIECES}


@pytest.mark.parametrize("name", PIECES)
def test_a_template_is_accepted_with_its_pieces(name: str) -> None:
    assert "assistant" in template(spec(name, PIECES[name]), ROOT)["roles"]


@pytest.mark.parametrize(("name", "lacking"), [(name, piece) for name, pieces in PIECES.items() for piece in pieces])
def test_each_piece_that_the_tokenizer_lacks_is_named_at_its_line(name: str, lacking: str) -> None:
    with pytest.raises(Faults) as refused:
        template(spec(name, tuple(piece for piece in PIECES[name] if piece != lacking)), ROOT)
    (fault,) = refused.value.diagnostics
    assert (fault.code, fault.message) == ("MS0027", f"{lacking} is no special piece of the tokenizer")
    assert fault.place is not None and lacking in fault.place.text


@pytest.mark.parametrize("name", [name for name, pieces in PIECES.items() if pieces])
def test_all_pieces_that_the_tokenizer_lacks_are_one_fault_with_a_list_to_paste(name: str) -> None:
    with pytest.raises(Faults) as refused:
        template(spec(name, ()), ROOT)
    (fault,) = refused.value.diagnostics
    written = fault.fix.partition(";")[0].removeprefix("write ")
    assert set(yaml.safe_load(written)["tokenizer"]["special_tokens"]["user"]) == set(PIECES[name])
    assert "specs/template/NAME.yaml" in fault.fix


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('close: "</s>"', "close: null", "roles.assistant.close: an answer has no end"),
        ("between: {system:", "between: {assistant:", "roles.user.between.assistant: assistant is no role without labels"),
        ("between: {system:", "between: {systm:", "roles.user.between.systm: systm is no role without labels"),
        ('{piece: "<<SYS>>"}, "\\n"]', '"<<SYS>>\\n"]', "roles.system.header[1]: a text spells <<SYS>>"),
        ('header: " ", footer', 'header: "<s>[/INST] ", footer', 'write [{piece: "<s>"}, {piece: "[/INST]"}, " "]'),
        ('after: [{piece: "<s>"}]', 'after: "<s>"', "roles.assistant.after: a text spells <s>"),
        ('{piece: "<</SYS>>"}, "\\n\\n"]}', '"<</SYS>>\\n\\n"]}', "roles.user.between.system[1]: a text spells <</SYS>>"),
        ('{piece: "<<SYS>>"}', '{pieces: "<<SYS>>"}', "roles.system.header[1]"),
        ('{piece: "<<SYS>>"}', '{piece: "<s>"}', "roles.system.header[1].piece: <s> begins the row"),
        ("instruction_input:", "default_systm: a\ninstruction_input:", "default_systm: Extra inputs are not permitted"),
        ("instruction_input:", "tools: {before: a, after: b, indent: -1}\ninstruction_input:", "tools.indent"),
    ],
)
def test_what_contradicts_itself_is_refused(tmp_path: Path, before: str, after: str, message: str) -> None:
    folder = tmp_path / "specs/template"
    folder.mkdir(parents=True)
    content = (ROOT / "specs/template/llama2.yaml").read_text("utf-8")
    assert before in content
    (folder / "llama2.yaml").write_text(content.replace(before, after), "utf-8")
    with pytest.raises(Faults) as refused:
        template(spec("llama2", PIECES["llama2"]), tmp_path)
    assert message in str(refused.value)


def test_another_template_for_the_evaluation_is_to_be_named_in_the_experiment() -> None:
    with pytest.raises(Faults) as refused:
        review(load(ROOT, "demo", ["data.instruct.template=plain"]))
    (fault,) = refused.value.diagnostics
    assert fault.fix.startswith("write evaluation: {suites: {core: {template: plain}}} in the experiment;")
    assert fault.place is not None and fault.place.file in fault.fix


def test_a_tokenizer_file_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "tests/diagnostics/project", tmp_path, dirs_exist_ok=True)
    (tmp_path / "data/tokenizers").mkdir()
    (tmp_path / "data/tokenizers/my.tiktoken").write_text("")
    with pytest.raises(Faults) as refused:
        review(
            load(tmp_path, "good", ["tokenizer.kind=tiktoken", "tokenizer.path=data/tokenizers/wordpiece.json", "tokenizer.pattern=gpt2"])
        )
    (fault,) = (one for one in refused.value.diagnostics if one.code == "MS0451")
    assert fault.fix == "correct the path, relative to the project root: data/tokenizers has my.tiktoken"
