"""No message shows a secret: not its excerpt, not its words, in no form of output; the caret stays where it belongs."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler.diagnostics import Faults, render
from compiler.masking import is_secret, masked, masked_lines, pieces
from compiler.parse import Incomplete, load
from compiler.spec import fields
from compiler.validate import findings, review

SECRET = "hunter2-S3cr3t-of-the-person"  # in the form of no known key
LONG = "q" * 30 + SECRET * 4


def told(root: Path, *overrides: str) -> tuple[str, str]:
    """All texts of all faults, in every form, and the English one."""
    try:
        try:
            review(load(root, "try", list(overrides)))
        except Incomplete as found:
            raise Faults([*found.diagnostics, *findings(found.tree, found.refused)]) from None
    except Faults as faults:
        texts = [render(faults.diagnostics, language=language) for language in ("en", "zh")]
        values = [json.dumps(one.as_dict(language), ensure_ascii=False) for one in faults.diagnostics for language in ("en", "zh")]
        return "\n".join([*texts, *values, str(faults), repr(faults.diagnostics)]), texts[0]
    raise AssertionError("nothing was refused")


@pytest.mark.parametrize("name", ["api_key", "token", "password", "authorization", "apiKey", "client-secret", "HF_TOKEN", "Cookie"])
@pytest.mark.parametrize(
    "text",
    [
        "{name}: {secret}\n",
        "{name}: '{secret}'  # mine\n",
        "seed: {{{name}: {secret}, seed: 3}}\n",
        "seed: {{seed: 3, '{name}': \"{secret}\"}}\n",
        "{name}: [{secret}, {secret}]\n",
        "{name}: {{now: {secret}}}\n",
        "{name}:\n  now: {secret}\n  then: [1, {secret}]\n",
        "{name}: |\n  {secret}\n\n  {secret}\n",
        "{name}: 'begin\n  {secret}'\n",
        "{name}: !!int {secret}\n",
        "{name}: {secret}\n{name}: {secret}\n",
        "{name}: '{secret}\n",  # never closed
        "{name}: {secret}: no\n",
        "{name}:{secret}\n",
        "{name}：{secret}\n",
        "title: x {{\n\t{name}: {secret}\n",
        "- {name}: {secret}\n",
        '{name}: "{secret}\\q"\n',
        "{name}: ${{{secret}\n",
        "seed: 'x {name}={secret}'\n",
        "pretrain: {{steps: 'https://me:{secret}@host/?{name}={secret}'}}\n",
    ],
)
def test_no_fault_of_a_file_shows_a_secret(name: str, text: str, project: Callable[..., Path]) -> None:
    shown, _ = told(project(text.format(name=name, secret=SECRET)))
    assert SECRET not in shown and "S3cr3t" not in shown


@pytest.mark.parametrize(
    "override",
    [
        "data.synthetic.made.generator.api_key={secret}",
        "+api_key={secret}",
        "~api_key={secret}",
        "api_key='{secret}'",
        "api_key={secret},other",
        "api_key=[{secret}",
        "api_key={{now: {secret}}}",
        "api_key=密{secret}",
        "api key={secret}",
        "token: {secret}",
        "seed={{token: {secret}}}",
        "model.password={secret}",
        "seed.token={secret}",
    ],
)
@pytest.mark.parametrize("secret", [SECRET, LONG])
def test_no_fault_of_an_override_shows_a_secret(override: str, secret: str, project: Callable[..., Path]) -> None:
    shown, _ = told(project(), override.format(secret=secret))
    assert secret[:20] not in shown and SECRET not in shown


def test_a_wrong_type_shows_no_secret(project: Callable[..., Path]) -> None:
    for value in (SECRET, LONG, "1234567", "0123456"):
        recipe = f"generator: {{kind: endpoint, api_key_env: [{value}], api_key: {value}}}"
        shown, _ = told(project(f"data: {{synthetic: {{made: {{{recipe}}}}}}}\npretrain: {{steps: {{token: {value}}}}}\n"))
        assert value[:20] not in shown


def test_the_caret_points_at_the_same_character(project: Callable[..., Path]) -> None:
    _, shown = told(project("data: {密钥: 1, token: 密密密abcdef, pretrain: {mixx: 1}}\n"))
    assert "data: {密钥: 1, token: *********, pretrain: {mixx: 1}}" in shown
    line, caret = next(
        pair for pair in zip(shown.split("\n"), shown.split("\n")[1:], strict=False) if pair[0].lstrip(" |").startswith("data")
    )
    assert caret.index("^") == len(line[: line.index("密钥")])


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("api_key: sk-abcdefghijklmnop", "api_key: *******************"),
        ("model: sk-abcdefghijklmnop", "model: *******************"),
        ("api_key_env: LLM_API_KEY", "api_key_env: LLM_API_KEY"),
        ("api_key_env: hunter2", "api_key_env: *******"),
        ("token: null", "token: null"),
        ("token: ${oc.env:TOKEN}", "token: ${oc.env:TOKEN}"),
        ("budget_tokens: 1000", "budget_tokens: 1000"),
        ("tokenizer: {vocab_size: 4000}", "tokenizer: {vocab_size: 4000}"),
        ("eos_token: </s>", "eos_token: </s>"),
        ("text_key: body", "text_key: body"),
        ("author: somebody", "author: somebody"),
        ("base_url: https://me:word@host/v1", "base_url: https://*******@host/v1"),
    ],
)
def test_what_is_masked_of_a_line(line: str, shown: str) -> None:
    assert masked(line) == shown


def test_a_value_ends_where_its_indentation_does() -> None:
    lines = ["generator:", "  api_key:", "    - one", "", "    two: three", "  model: writer"]
    assert [shown for shown, _ in masked_lines(lines)] == ["generator:", "  api_key:", "    * ***", "", "    **** *****", "  model: writer"]


def test_pieces_are_what_was_masked() -> None:
    line = "token: 'abcd''efgh', x: 1"
    assert pieces("a: 1", "a: 1") == ()
    assert {"abcd", "efgh"} <= {*pieces(line, masked(line))}


def test_no_field_but_one_is_called_like_a_secret() -> None:
    assert {path.rpartition(".")[2] for path, _, _ in fields() if is_secret(path)} == {"api_key_env"}
