"""The declaration: complete, typed, frozen, plain."""

import json

import pytest
from pydantic import ValidationError

from compiler.spec import Spec, fields
from compiler.spec.data import Clean
from compiler.spec.declare import DOC_ZH_KEY, Section, parse_size
from compiler.spec.device import Device
from compiler.spec.train import Checkpoint, Layout
from compiler.spec.walk import class_of

PLACEMENT = {
    "device.memory", "device.interconnect", "device.nodes", "device.device_ids",
    "launch.workers", "launch.threads", "launch.log_every", "launch.engine", "launch.ray_address", "model.from_hf",
    *(
        f"data.synthetic.*{judge}.generator.{name}"
        for judge in ("", ".score")
        for name in (
            "base_url", "plain_http",
            "api_key_env", "concurrency", "requests_per_minute", "tokens_per_minute", "retries", "timeout_seconds",
        )
    ),
}  # fmt: skip
PRESENTATION = {
    "name", "title", "description", "report.languages", "model.max_length",
    *(f"data.{corpus}.sources.*.{told}" for corpus in ("pretrain", "instruct") for told in ("licence", "date")),
}  # fmt: skip


def test_every_field_says_what_it_is_in_two_languages() -> None:
    for path, _, info in fields():
        extra = info.json_schema_extra
        assert info.description and isinstance(extra, dict) and extra[DOC_ZH_KEY], path


def test_each_section_is_documented() -> None:
    def sections(kind: type[Section]) -> set[type[Section]]:
        return {kind}.union(*(sections(below) for below in kind.__subclasses__()))

    assert all(kind.__doc__ for kind in sections(Section))


def test_what_is_not_identity() -> None:
    by_class = {kind: {path for path, found, _ in fields() if found == kind} for kind in ("placement", "presentation")}
    assert by_class == {"placement": PLACEMENT, "presentation": PRESENTATION}


def test_a_field_is_declared_once() -> None:
    paths = [path for path, _, _ in fields()]
    assert len(paths) == len(set(paths)) > 100


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("launch", "workers"), "placement"),
        (("device", "device_ids", 0), "placement"),
        (("data", "pretrain", "sources", "poems", "path"), "identity"),
        (("parallel", "data"), "identity"),
        (("title",), "presentation"),
        (("no", "such", "field"), "identity"),
    ],
)
def test_class_of_a_concrete_path(path: tuple[str | int, ...], expected: str) -> None:
    assert class_of(path) == expected


@pytest.mark.parametrize(
    ("text", "size"),
    [("8MB", 8_000_000), ("2GiB", 2 * 2**30), ("1.5 kB", 1500), ("16GB", 16 * 10**9), (12, 12), ("1KiB", 1024)],
)
def test_size_in_bytes(text: str | int, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(("prefix", "power"), [("k", 1), ("M", 2), ("G", 3), ("T", 4)])
def test_decimal_and_binary_units(prefix: str, power: int) -> None:
    assert parse_size(f"3{prefix}B") == 3 * 1000**power
    assert parse_size(f"3{prefix.upper()}iB") == 3 * 1024**power


@pytest.mark.parametrize("text", ["8", "8 megabytes", "-1MB", "0.5B", "MB", "1e3MB"])
def test_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        parse_size(text)


def test_integral_float_is_an_integer() -> None:
    assert Checkpoint.model_validate({"every": 1e3}).every == 1000
    assert isinstance(Checkpoint.model_validate({"every": 1e3}).every, int)


@pytest.mark.parametrize("value", ["2", True, 1.5, None])
def test_nothing_else_is_converted(value: object) -> None:
    with pytest.raises(ValidationError):
        Checkpoint.model_validate({"every": value})


def test_sections_are_frozen_and_closed() -> None:
    with pytest.raises(ValidationError):
        Layout().data = 2  # type: ignore[misc]
    with pytest.raises(ValidationError):
        Layout.model_validate({"dp": 2})


def test_dump_is_plain() -> None:
    device = Device.model_validate({"target": "cpu", "memory": "16GB", "device_ids": [0]})
    dumped = device.model_dump()
    assert dumped == json.loads(json.dumps(dumped))
    assert Device.model_validate(dumped) == device


def test_maps_are_ordered_by_name() -> None:
    clean = Clean.model_validate({"rules": {"zh": "chinese_basic", "en": "gopher"}})
    assert list(clean.model_dump()["rules"]) == ["en", "zh"]


def test_sections_in_order() -> None:
    assert list(Spec.model_fields) == [
        "name", "title", "description", "smoke", "seed", "device", "launch", "model", "data", "tokenizer", "pack", "parallel",
        "pretrain", "finetune", "export", "evaluation", "compare", "report",
    ]  # fmt: skip
