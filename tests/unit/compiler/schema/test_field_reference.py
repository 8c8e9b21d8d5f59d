"""The committed field reference is the one of the declaration, and names every field."""

from pathlib import Path

import pytest

from compiler import field_reference
from compiler.field_reference import FILES, reference
from compiler.spec import fields
from compiler.wording import LANGUAGES, Language

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize("language", LANGUAGES)
def test_committed_equals_generated(language: Language) -> None:
    assert (ROOT / FILES[language]).read_text(encoding="utf-8") == reference(language), "run `make schema`"


def test_write_gives_the_same_files(tmp_path: Path) -> None:
    field_reference.write(tmp_path)
    assert [(tmp_path / file).read_bytes() == (ROOT / file).read_bytes() for file in FILES.values()] == [True, True]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_field_has_its_row(language: Language) -> None:
    rows = [line for line in reference(language).splitlines() if line.startswith("| `")]
    assert sorted(row.split("`")[1] for row in rows) == sorted(one.path for one in fields())
    assert {row.replace("\\|", "").count("|") for row in rows} == {8}


def test_a_row_says_all_that_is_declared() -> None:
    (row,) = [line for line in reference("en").splitlines() if line.startswith("| `finetune.lora.dropout`")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells == [
        "`finetune.lora.dropout`",
        "Dropout before the adapter.",
        "number ≥ 0, < 1",
        "`0.0`",
        "identity",
        "finetune",
        "`model.model_config.pet_config.lora_dropout`",
    ]


@pytest.mark.parametrize(
    ("field", "english", "chinese"),
    [
        ("finetune.loss_scale.window", "integer ≥ 1 or `null` (steps)", "整数 ≥ 1 或 `null`（步）"),
        ("pretrain.optimizer.betas", "list of 2, each number > 0, < 1", "2 项的列表，每项：数值 > 0, < 1"),
        ("data.pretrain.ingest.max_line_bytes", "size: bytes, or text such as `8MB`, `2GiB`", "大小：字节数，或 `8MB`、`2GiB` 之类的文本"),
        ("export.shape", "`dynamic`, `static`", "`dynamic`、`static`"),
    ],
)
def test_values_in_words(field: str, english: str, chinese: str) -> None:
    for language, words in (("en", english), ("zh", chinese)):
        (row,) = [line for line in reference(language).splitlines() if line.startswith(f"| `{field}` ")]
        assert f"| {words} |" in row
