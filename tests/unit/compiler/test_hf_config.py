"""Any config.json at all: its values are found where they stand, and what is wrong with it is told, never raised."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from compiler import hf_network
from compiler.diagnostics import Faults
from compiler.hf_config import HfConfig, read
from compiler.masking import masked
from compiler.source import Place

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2))
LLAMA = {
    "model_type": "llama",
    "hidden_size": 96,
    "intermediate_size": 256,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 3,
    "vocab_size": 4032,
}
OPTIONAL = (
    "head_dim", "tie_word_embeddings", "rope_theta", "rms_norm_eps", "max_position_embeddings", "rope_scaling", "rope_parameters",
    "auto_map", "use_sliding_window", "sliding_window", "layer_types", "partial_rotary_factor", "attention_bias", "mlp_bias",
    "hidden_act", "quantization_config", "attention_dropout",
)  # fmt: skip
SCALING_KEYS = ("rope_type", "type", "factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings", "rope_theta")
SCALINGS = st.dictionaries(st.sampled_from(SCALING_KEYS), SCALARS | st.sampled_from(["llama3", "default", 8.0, 8192]))


@example({"Key": 0.0}, None)
@given(values=st.dictionaries(st.text(max_size=5), VALUES), indent=st.sampled_from([None, 0, 2, "\t"]))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_value_stands_at_its_place(tmp_path: Path, values: dict[str, Any], indent: int | str | None) -> None:
    text = json.dumps(values, indent=indent)
    (tmp_path / "config.json").write_text(text, "utf-8")
    config = read(tmp_path, ".")
    lines = text.split("\n")
    for path, place in config.places.items():
        value: Any = config.values
        for part in path:
            value = value[part]
        line = lines[place.line - 1]
        assert place.text == masked(line)
        rest = "\n".join([line[place.column - 1 :], *lines[place.line :]])
        assert repr(json.JSONDecoder().raw_decode(rest)[0]) == repr(value)


@given(
    odd=st.dictionaries(st.sampled_from([*LLAMA, *OPTIONAL]), VALUES | SCALINGS, max_size=3),
    family=st.sampled_from(["llama", "qwen2", "qwen3"]),
)
@settings(max_examples=300, deadline=None)
def test_odd_values_are_told_or_become_sizes_of_the_right_type(odd: dict[str, Any], family: str) -> None:
    config = _config({**LLAMA, "model_type": family, **odd})
    if hf_network.faults(config):
        return
    sizes = {field: value for field, value, _ in hf_network.fields(config)}
    assert all(type(sizes[field]) is int for field in ("hidden_size", "intermediate_size", "num_layers", "num_heads", "vocab_size"))
    assert all(type(sizes[field]) is float and sizes[field] > 0 for field in ("rope_theta", "norm_eps"))
    assert type(sizes["tie_embeddings"]) is bool
    assert sizes["rope_scaling"] is None or sizes["rope_scaling"]["kind"] == "llama3"


@given(content=st.binary(max_size=40) | st.text(max_size=20).map(str.encode))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "config.json").write_bytes(content)
    try:
        read(tmp_path, ".")
    except Faults as faults:
        assert all(fault.code == "MS0315" and fault.place for fault in faults.diagnostics)


def test_a_folder_is_not_read_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "config.json").mkdir()
    with pytest.raises(Faults) as caught:
        read(tmp_path, ".")
    assert [fault.message for fault in caught.value.diagnostics] == ["config.json cannot be read: Is a directory"]


def _config(values: dict[str, Any]) -> HfConfig:
    """A config.json in memory, with the places of its values and of those in its objects."""
    here = Place("config.json", 1, 1, "")
    inner = {(key, below): here for key, value in values.items() if isinstance(value, dict) for below in value}
    return HfConfig("config.json", values, {(): here, **{(key,): here for key in values}, **inner})
