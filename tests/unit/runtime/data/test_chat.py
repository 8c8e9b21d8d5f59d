"""One renderer for training and prompts: exact ids, exact labels, and no forged markers."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from samples import ROOT

from runtime.data import chat
from runtime.data.chat import (
    IGNORED,
    Message,
    Template,
    check_pieces,
    ids_of,
    labels_of,
    load_template,
    prompt_ids,
    prompt_messages,
    render,
    stop_ids,
)
from runtime.data.encoding import Vocabulary
from runtime.faults import StageFault

CHATML = ROOT / "specs/template/chatml.yaml"
PARTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["<|im_start|>", "<|im_end|>", "<s>", "</s>", "\n", " "]
)
TEXT = st.lists(PARTS, max_size=5).map("".join)


def test_a_row_is_spelt_as_the_template_says(template: Template, vocabulary: Vocabulary) -> None:
    row = render(template, vocabulary, [Message("system", "S"), Message("user", "Q"), Message("assistant", "A")])
    shown = "<s><|im_start|>system\nS<|im_end|>\n<|im_start|>user\nQ<|im_end|>\n<|im_start|>assistant\nA<|im_end|>"
    assert vocabulary.show(ids_of(row)) == shown


def test_answers_and_what_closes_them_are_trained_and_nothing_else(template: Template, vocabulary: Vocabulary) -> None:
    messages = [Message("user", "fox"), Message("assistant", "dogs 1"), Message("user", "and"), Message("assistant", "dogs 2")]
    row = render(template, vocabulary, messages)
    end = vocabulary.special["<|im_end|>"]
    trained = [label for label in labels_of(row) if label != IGNORED]
    assert trained == [*vocabulary.encode("dogs 1"), end, *vocabulary.encode("dogs 2"), end]
    assert all(label in (id, IGNORED) for id, label in zip(ids_of(row), labels_of(row), strict=True))
    assert labels_of(row)[-1] == end


@hypothesis_settings(deadline=None)
@given(TEXT, TEXT, TEXT)
def test_a_prompt_is_a_prefix_of_its_row_whatever_people_write(
    template: Template, vocabulary: Vocabulary, system: str, asked: str, answer: str
) -> None:
    prompt = [Message("system", system), Message("user", asked)]
    head = ids_of(render(template, vocabulary, prompt, generation_prompt=True))
    row = render(template, vocabulary, [*prompt, Message("assistant", answer)])
    ids = ids_of(row)
    assert ids[: len(head)] == head
    assert all(label == IGNORED for label in labels_of(row)[: len(head)])
    assert ids.count(vocabulary.bos) == 1 and ids[0] == vocabulary.bos
    assert [ids.count(vocabulary.special[marker]) for marker in ("<|im_start|>", "<|im_end|>", "</s>")] == [3, 3, 0]


def test_instruction_and_input_share_a_turn(template: Template, vocabulary: Vocabulary) -> None:
    assert prompt_messages(template, "What?", "This.") == [Message("user", "What?\nThis.")]
    assert prompt_messages(template, "", "This.") == prompt_messages(template, "This.") == [Message("user", "This.")]
    assert prompt_messages(template, "What?", "", "Be brief.") == [Message("system", "Be brief."), Message("user", "What?")]
    whole = render(template, vocabulary, [Message("user", "What?\nThis.")], generation_prompt=True)
    assert prompt_ids(template, vocabulary, "What?", "This.") == ids_of(whole)


def test_an_answer_stops_at_its_end_or_at_eos(template: Template, vocabulary: Vocabulary) -> None:
    assert stop_ids(template, vocabulary) == (vocabulary.special["<|im_end|>"], vocabulary.eos)


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        (["human", "gpt"], "unknown role gpt, human; expected tags: system, user, assistant"),
        (["user", "user"], "user after user; the row has: user, user"),
        (["assistant"], "assistant after start"),
        (["user", "system"], "system after user"),
        (["user", "assistant", "assistant"], "assistant after assistant"),
    ],
)
def test_unknown_roles_and_a_wrong_order_are_refused_with_the_tags_found(
    template: Template, vocabulary: Vocabulary, roles: list[str], message: str
) -> None:
    with pytest.raises(StageFault) as caught:
        render(template, vocabulary, [Message(role, "x") for role in roles], where="rows.jsonl:7")
    assert message in caught.value.message and caught.value.where == "rows.jsonl:7"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop("begin"), "begin: Field required"),
        (lambda t: t.update(extra=1), "extra: Unexpected keyword argument"),
        (lambda t: t["roles"]["user"].update(trained="perhaps"), "roles.user.trained"),
        (lambda t: t["roles"]["user"].update(follows=["nobody"]), "nobody is no role"),
        (lambda t: t["roles"]["user"].update(open="<s>"), "<s> begins the row"),
        (lambda t: t["roles"]["assistant"].update(trained=False), "none is trained"),
        (lambda t: t.update(roles=[]), "roles: "),
    ],
)
def test_a_broken_template_is_refused(tmp_path: Path, change: object, message: str) -> None:
    content = yaml.safe_load(CHATML.read_text("utf-8"))
    change(content)  # type: ignore[operator]
    path = tmp_path / "template.yaml"
    path.write_text(yaml.safe_dump(content), "utf-8")
    with pytest.raises(StageFault) as caught:
        load_template(path)
    assert message in caught.value.message and caught.value.where == str(path)


def test_a_file_that_is_no_yaml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "template.yaml"
    path.write_text("begin: [", "utf-8")
    with pytest.raises(StageFault):
        load_template(path)


def test_a_marker_that_the_tokenizer_has_not_is_refused(tmp_path: Path, vocabulary: Vocabulary) -> None:
    path = tmp_path / "template.yaml"
    path.write_text(CHATML.read_text("utf-8").replace("<|im_end|>", "<end>"), "utf-8")
    with pytest.raises(StageFault, match="<end>: no special piece"):
        check_pieces(load_template(path), vocabulary)
    path.write_text(CHATML.read_text("utf-8").replace('begin: "<s>"', 'begin: "</s>"'), "utf-8")
    with pytest.raises(StageFault, match="begin is </s>, not the tokenizer's bos"):
        check_pieces(load_template(path), vocabulary)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('open: "<|im_start|>", header: "user', 'open: null, header: "<|im_start|>user'),
        ('header: "assistant', 'header: "<s>assistant'),
        ('after: "\\n", trained: true', 'after: ["\\n</s>"], trained: true'),
    ],
)
def test_a_text_that_spells_a_special_piece_is_refused(tmp_path: Path, vocabulary: Vocabulary, before: str, after: str) -> None:
    content = CHATML.read_text("utf-8")
    assert before in content
    path = tmp_path / "template.yaml"
    path.write_text(content.replace(before, after), "utf-8")
    with pytest.raises(StageFault, match="a text of the template spells <"):
        check_pieces(load_template(path), vocabulary)


@pytest.mark.parametrize("content", [None, b"a: [", b"\xff", b"begin: 2024-01-01\nroles: {}", b"- a", b"begin: 2024-99-99"])
def test_a_template_that_cannot_be_read_is_refused(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "template.yaml").write_bytes(content)
    with pytest.raises(StageFault, match=r"template\.yaml"):
        chat.load_template(tmp_path / "template.yaml")
