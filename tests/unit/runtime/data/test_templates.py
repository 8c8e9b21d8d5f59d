"""The templates of the repository against the ones their makers publish, and what holds for all of them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from published_templates import LLAMA_2, LLAMA_3, QWEN_2_5
from samples import ROOT, settings, texts

from runtime.contracts.tokenizer import SpecialTokens
from runtime.data import chat, tokenizer
from runtime.data.chat import IGNORED, Call, Message, Renderer, Template, ids_of, labels_of, prompt_ids, prompt_messages, render
from runtime.data.encoding import Vocabulary
from runtime.data.template import all_pieces
from runtime.faults import StageFault

NAMES = ("chatml", "llama2", "llama3", "plain", "qwen")
MARKERS = ("<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>")
MARKERS_3 = ("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")
BEGIN_3 = "<|begin_of_text|>"
PUBLISHED = {"llama2": (LLAMA_2, "<s>"), "llama3": (LLAMA_3, BEGIN_3), "qwen": (QWEN_2_5, "")}
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Weather of a \u57ce\u5e02",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
CLOCK = {"type": "function", "function": {"name": "clock", "parameters": {}}}

SYSTEM, ASKED, ANSWERED = Message("system", "Be brief."), Message("user", "Who\u5417?"), Message("assistant", "I.")
AGAIN, MORE = Message("user", "And  you?"), Message("assistant", "You.\n\nYes.")
DIALOGUES = {
    "one": [ASKED, ANSWERED],
    "system": [SYSTEM, ASKED, ANSWERED],
    "several": [ASKED, ANSWERED, AGAIN, MORE],
    "several with system": [SYSTEM, ASKED, ANSWERED, AGAIN, MORE],
    "white space around": [Message(role, f" \n\u3000{text}\t \n") for role, text in (("user", "Q\n\nq"), ("assistant", "A"))],
    "white space around with system": [
        Message(role, f"\n {text} \n")
        for role, text in (("system", "S"), ("user", "Q"), ("assistant", "A"), ("user", "q"), ("assistant", "a"))
    ],
    "an answer that says nothing": [ASKED, Message("assistant", " \n"), AGAIN, MORE],
}
TOOLS = {
    "call": [
        Message("system", "Help.", tools=(WEATHER, CLOCK)),
        ASKED,
        Message("assistant", "", calls=(Call("weather", {"city": "\u5317\u4eac"}),)),
        Message("tool", '{"sun": true}'),
        ANSWERED,
    ],
    "default system": [Message("system", "", tools=(CLOCK,)), ASKED, ANSWERED],
    "two calls behind a text": [
        Message("system", "Help.", tools=(WEATHER, CLOCK)),
        ASKED,
        Message("assistant", "Let me see.", calls=(Call("weather", {"city": "a", "days": 2}), Call("clock", {}))),
        Message("tool", "rain"),
        Message("tool", "noon"),
        ANSWERED,
        AGAIN,
        MORE,
    ],
}


@pytest.fixture(scope="module")
def vocabularies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Vocabulary]:
    """Template -> a vocabulary that has its pieces."""

    def made(name: str, bos: str, user: tuple[str, ...]) -> Vocabulary:
        asked = settings(vocab_size=440, special_tokens=SpecialTokens(pad="<pad>", bos=bos, eos="</s>", user=user))
        return tokenizer.write(tmp_path_factory.mktemp(name), tokenizer.train(tokenizer.Sentences().of(texts()), asked), asked)

    usual, third = made("usual", "<s>", MARKERS), made("third", BEGIN_3, MARKERS_3)
    return {name: third if name == "llama3" else usual for name in NAMES}


@pytest.fixture(scope="module")
def templates() -> dict[str, Template]:
    return {name: chat.load_template(ROOT / f"specs/template/{name}.yaml") for name in NAMES}


def published(jinja: str, messages: list[Message], *, begin: str, prompt: bool = False) -> str:
    """What `transformers` makes of the same dialogue and a published template."""
    from transformers.utils.chat_template_utils import render_jinja_template

    spoken: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system" and not message.content:
            continue
        calls = [{"type": "function", "function": {"name": call.name, "arguments": call.arguments}} for call in message.calls]
        spoken.append({"role": message.role, "content": message.content, **({"tool_calls": calls} if calls else {})})
    tools: Any = [*messages[0].tools] or None
    found, _ = render_jinja_template(
        conversations=[spoken], chat_template=jinja, tools=tools, add_generation_prompt=prompt, bos_token=begin, eos_token="</s>"
    )
    return found[0]


@pytest.mark.parametrize("dialogue", DIALOGUES)
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_row_reads_as_the_published_template_writes_it(
    templates: dict[str, Template], vocabularies: dict[str, Vocabulary], name: str, dialogue: str
) -> None:
    messages, (jinja, begin) = DIALOGUES[dialogue], PUBLISHED[name]
    found = vocabularies[name].show(ids_of(render(templates[name], vocabularies[name], messages)))
    assert found == published(jinja, messages, begin=begin).removesuffix("\n" if name == "qwen" else "")
    asked = vocabularies[name].show(ids_of(render(templates[name], vocabularies[name], messages[:-1], generation_prompt=True)))
    expected = published(jinja, messages[:-1], begin=begin, prompt=True)
    assert asked == expected + (" " if name == "llama2" else ""), "Llama 2 leaves the blank before an answer to the answer"


@pytest.mark.parametrize("name", NAMES)
def test_dialogues_that_are_prepared_together_are_the_same_rows(
    templates: dict[str, Template], vocabularies: dict[str, Vocabulary], name: str
) -> None:
    spelling = [Message("user", " a <s> \n"), Message("assistant", "</s>")]
    dialogues = [*DIALOGUES.values(), *(TOOLS.values() if name in chat.WITH_TOOLS else ()), spelling]
    renderer = Renderer(templates[name], vocabularies[name])
    alone = [(ids_of(row), labels_of(row)) for row in (render(templates[name], vocabularies[name], said) for said in dialogues)]
    renderer.prepare(dialogues)
    assert [(ids_of(row), labels_of(row)) for row in map(renderer.render, dialogues)] == alone


@pytest.mark.parametrize("dialogue", TOOLS)
def test_tools_calls_and_results_read_as_published(
    templates: dict[str, Template], vocabularies: dict[str, Vocabulary], dialogue: str
) -> None:
    found = vocabularies["qwen"].show(ids_of(render(templates["qwen"], vocabularies["qwen"], TOOLS[dialogue])))
    assert found == published(QWEN_2_5, TOOLS[dialogue], begin="").removesuffix("\n")


def test_llama_3_calls_tools_with_parameters_and_reads_results_as_ipython(
    templates: dict[str, Template], vocabularies: dict[str, Vocabulary]
) -> None:
    found = vocabularies["llama3"].show(ids_of(render(templates["llama3"], vocabularies["llama3"], TOOLS["call"])))
    assert found.startswith("<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nYou have access to the following functions.")
    assert '    "type": "function",\n' in found and found.index('"clock"') < found.index("Help.<|eot_id|>")
    called = '<|start_header_id|>assistant<|end_header_id|>\n\n{"name": "weather", "parameters": {"city": "\u5317\u4eac"}}<|eot_id|>'
    assert f'{called}<|start_header_id|>ipython<|end_header_id|>\n\n{{"sun": true}}<|eot_id|>' in found


def test_the_call_is_trained_and_the_result_is_not(templates: dict[str, Template], vocabularies: dict[str, Vocabulary]) -> None:
    for name in ("qwen", "llama3"):
        vocabulary, row = vocabularies[name], render(templates[name], vocabularies[name], TOOLS["two calls behind a text"])
        trained = vocabulary.show([label for label in labels_of(row) if label != IGNORED])
        assert '"name": "weather"' in trained and '"name": "clock"' in trained and "Let me see." in trained
        assert "rain" not in trained and "noon" not in trained and "Weather of" not in trained
        assert vocabulary.show([ids_of(row)[-1]]) == vocabulary.show([labels_of(row)[-1]])


def test_plain_text_has_no_marker_but_the_end_of_an_answer(templates: dict[str, Template], vocabularies: dict[str, Vocabulary]) -> None:
    row = render(templates["plain"], vocabularies["plain"], DIALOGUES["several with system"])
    expected = "<s>Be brief.\n\nWho\u5417?\n\nI.</s>\n\nAnd  you?\n\nYou.\n\nYes.</s>"
    assert vocabularies["plain"].show(ids_of(row)) == expected


@pytest.mark.parametrize("name", NAMES)
def test_every_answer_has_labels_token_by_token_and_nothing_else_has(
    templates: dict[str, Template], vocabularies: dict[str, Vocabulary], name: str
) -> None:
    template, vocabulary = templates[name], vocabularies[name]
    role = template.roles["assistant"]
    end = [*vocabulary.encode(str(role.footer)), vocabulary.special[str(role.close)]]
    row, expected = render(template, vocabulary, DIALOGUES["several with system"]), list[int]()
    for upto in (3, 5):
        head = ids_of(render(template, vocabulary, DIALOGUES["several with system"][: upto - 1], generation_prompt=True))
        expected += [IGNORED] * (len(head) - len(expected))
        expected += [*vocabulary.encode(DIALOGUES["several with system"][upto - 1].content), *end]
    assert labels_of(row) == expected
    assert all(label in (id, IGNORED) for id, label in zip(ids_of(row), labels_of(row), strict=True))


PARTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    [*MARKERS, *MARKERS_3, "<s>", "</s>", BEGIN_3, "\n"]
)
TEXT = st.lists(PARTS, max_size=5).map("".join)


@pytest.mark.parametrize("name", NAMES)
@hypothesis_settings(deadline=None, max_examples=40)
@given(texts=st.lists(TEXT, min_size=5, max_size=5), number=st.integers(0, 2))
def test_no_text_forges_a_marker_and_a_prompt_is_a_prefix(
    templates: dict[str, Template], vocabularies: dict[str, Vocabulary], name: str, texts: list[str], number: int
) -> None:
    template, vocabulary = templates[name], vocabularies[name]
    roles = ["system", "user", "assistant", "user", "assistant"][: 3 if number < 2 else 5][1 if number == 1 else 0 :]
    said = [Message(role, text) for role, text in zip(roles, texts, strict=False)]
    plain = [Message(role, "x") for role in roles]
    special = {*vocabulary.special.values()}
    row, same = (ids_of(render(template, vocabulary, messages)) for messages in (said, plain))
    assert [id for id in row if id in special] == [id for id in same if id in special]
    if template.begin is not None:
        assert row[0] == vocabulary.bos and (len(row) == 1 or row[1] != vocabulary.bos)
        assert row.count(vocabulary.bos) == (roles.count("user") if name == "llama2" else 1)
    head = ids_of(render(template, vocabulary, said[:-1], generation_prompt=True))
    assert row[: len(head)] == head
    assert vocabulary.decode(row).count("\ufffd") == sum(text.count("\ufffd") for text in texts[: len(said)])


@pytest.mark.parametrize("name", NAMES)
def test_all_templates_ask_as_they_train(templates: dict[str, Template], vocabularies: dict[str, Vocabulary], name: str) -> None:
    template, vocabulary = templates[name], vocabularies[name]
    asked = [*prompt_messages(template, "What?", "This.", "Be brief."), Message("assistant", "So.")]
    prompt = prompt_ids(template, vocabulary, "What?", "This.", "Be brief.")
    row = render(template, vocabulary, asked)
    assert ids_of(row)[: len(prompt)] == prompt
    assert labels_of(row)[len(prompt)] != IGNORED == labels_of(row)[len(prompt) - 1]
    assert chat.stop_ids(template, vocabulary)[0] == labels_of(row)[-1]


@pytest.mark.parametrize("name", NAMES)
def test_pieces_that_a_tokenizer_lacks_are_named(templates: dict[str, Template], vocabulary: Vocabulary, name: str) -> None:
    lacking = {piece for piece in all_pieces(templates[name]) if piece not in vocabulary.special}
    if not lacking:
        chat.check_pieces(templates[name], vocabulary)
        return
    with pytest.raises(StageFault, match="no special piece of the tokenizer") as refused:
        chat.check_pieces(templates[name], vocabulary)
    assert all(piece in refused.value.message for piece in lacking) and "tokenizer.special_tokens.user" in refused.value.fix


@pytest.mark.parametrize("name", ["chatml", "llama2", "plain"])
def test_tools_that_a_template_cannot_write_are_refused(
    templates: dict[str, Template], vocabularies: dict[str, Vocabulary], name: str
) -> None:
    for messages in (
        [Message("system", "S", tools=(CLOCK,)), ASKED, ANSWERED],
        [ASKED, Message("assistant", "", calls=(Call("clock", {}),))],
        [ASKED, ANSWERED, Message("tool", "12"), ANSWERED],
    ):
        with pytest.raises(StageFault, match="the template cannot say tool") as refused:
            render(templates[name], vocabularies[name], messages, where="rows.jsonl:1")
        assert "qwen, llama3" in refused.value.fix


def test_the_templates_that_are_named_for_tools_have_them(templates: dict[str, Template]) -> None:
    able = {name for name, one in templates.items() if one.tools and one.calls and chat.TOOL in one.roles}
    assert able == set(chat.WITH_TOOLS)


def test_turns_of_weight_zero_are_context(templates: dict[str, Template], vocabularies: dict[str, Vocabulary]) -> None:
    for name in NAMES:
        messages = [ASKED, Message("assistant", "I.", context=True), AGAIN, MORE]
        row, whole = (render(templates[name], vocabularies[name], one) for one in (messages, DIALOGUES["several"]))
        assert ids_of(row) == ids_of(whole)
        first = next(index for index, label in enumerate(labels_of(row)) if label != IGNORED)
        assert labels_of(row)[first:] == labels_of(whole)[first:] and labels_of(whole)[:first] != labels_of(row)[:first]
