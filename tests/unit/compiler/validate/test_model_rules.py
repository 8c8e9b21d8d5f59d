"""The network against its family, its device and its tokenizer; what of it reaches the mindformers file."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from compiler.diagnostics import Diagnostic, Faults
from compiler.parse import load
from compiler.pipeline import compile_experiment
from compiler.project import find_project
from compiler.validate import review
from compiler.wording import Said

ROOT = Path(__file__).parents[4]


def found(*overrides: str) -> tuple[Diagnostic, ...]:
    try:
        return review(load(ROOT, "demo", overrides)).warnings
    except Faults as faults:
        return faults.diagnostics


def network(*overrides: str, stage: str = "pretrain") -> dict[str, Any]:
    files = compile_experiment(find_project(ROOT), "demo", overrides).files
    return yaml.safe_load(files[f"experiments/demo/config/{stage}.yaml"])["model"]["model_config"]


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (["model.head_dim=32"], []),
        (["model.head_dim=64"], ["MS0311"]),
        (["model=qwen2-tiny", "model.head_dim=16"], ["MS0311"]),
        (["model=qwen3-tiny", "model.head_dim=33"], ["MS0303", "MS0304"]),
        (["model=qwen3-tiny", "model.hidden_size=100"], ["MS0304"]),
        (["model.hidden_size=126"], ["MS0301"]),
        (["model.num_kv_heads=8"], ["MS0302"]),
        (["model.seq_length=256", "model.max_length=256"], []),
        (["model.seq_length=257", "model.max_length=256"], ["MS0313"]),
        (["model.rope_scaling={factor: 8.0, low_freq_factor: 4.0, high_freq_factor: 1.0}"], ["MS0314"]),
        (["model=qwen3-tiny", "model.rope_scaling={factor: 8.0}"], ["MS0304", "MS0314"]),
        (["model.norm_eps=1.0e-40"], ["MS0391"]),
        (["model.norm_eps=1.0"], ["MS0356"]),
        (["model.rope_theta=1.0e+39"], ["MS0391"]),
        (["model.rope_theta=1.0e-4"], ["MS0356"]),
    ],
)
def test_sizes_that_a_network_cannot_have(overrides: list[str], expected: list[str]) -> None:
    assert sorted(fault.code for fault in found(*overrides)) == expected


@pytest.mark.parametrize("target", ["cpu", "gpu", "ascend"])
def test_qwen3_is_refused_with_the_reason_of_the_device(target: str) -> None:
    (fault,) = (one for one in found("model=qwen3-8b", f"device={target}") if one.code == "MS0304")
    assert target in fault.message
    assert {"cpu": "no CPU kernel", "gpu": "CUDA kernels", "ascend": "merge, export and evaluation"}[target] in fault.reason


@pytest.mark.parametrize("target", ["cpu", "gpu", "ascend"])
def test_qwen2_is_trained_on_every_device(target: str) -> None:
    assert "MS0304" not in {fault.code for fault in found("model=qwen2-tiny", f"device={target}")}


def test_a_table_smaller_than_the_vocabulary_is_refused_with_both_places() -> None:
    (fault,) = (one for one in found("model=llama2-7b", "tokenizer.vocab_size=50000") if one.code == "MS0312")
    assert fault.message == "32000 rows of embeddings for 50000 pieces of the tokenizer"
    assert [str(place) for _, place in fault.related] == ["<override 2>:1:22"]


def test_a_padded_table_is_kept_as_it_is() -> None:
    padded = ["model=qwen2.5-7b", "model.num_layers=1", "model.seq_length=128", "tokenizer.vocab_size=151665", "device.memory=2000GB"]
    assert network(*padded)["vocab_size"] == network(*padded, stage="finetune")["vocab_size"] == 152064


def test_what_distinguishes_a_family_reaches_the_file_and_a_plain_llama_says_nothing_of_it() -> None:
    plain, qwen2 = network(), network("model=qwen2-tiny")
    assert not {"qkv_has_bias", "tie_word_embeddings", "extend_method", "scaling_factor", "max_position_embedding"} & plain.keys()
    assert (qwen2["qkv_has_bias"], qwen2["tie_word_embeddings"], qwen2["theta"]) == (True, True, 1000000.0)


def test_stretched_frequencies_get_a_table_that_mindformers_accepts() -> None:
    """Its rows must be more than the original length, however short the rows of training are."""
    stretched = network("model.rope_scaling={factor: 8}")
    assert (stretched["extend_method"], stretched["max_position_embedding"], stretched["seq_length"]) == ("LLAMA3", 8193, 128)
    assert stretched["scaling_factor"] == {
        "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192,
    }  # fmt: skip
    assert type(stretched["scaling_factor"]["factor"]) is float


def test_both_names_of_a_layer_give_the_same_file() -> None:
    hugging_face = network("finetune.lora.targets=[q_proj,k_proj,v_proj,o_proj,gate_proj,up_proj,down_proj]", stage="finetune")
    mindspore = network("finetune.lora.targets=[wq,wk,wv,wo,w1,w3,w2]", stage="finetune")
    assert hugging_face == mindspore
    assert hugging_face["pet_config"]["target_modules"] == "wq$|wk$|wv$|wo$|w1$|w3$|w2$"


def test_every_word_has_its_chinese() -> None:
    broken = [
        "model.head_dim=64", "model.vocab_size=3", "model.seq_length=300", "model.max_length=200", "model.num_kv_heads=3",
        "model.rope_scaling={factor: 8.0, low_freq_factor: 4.0, high_freq_factor: 1.0}",
    ]  # fmt: skip
    for fault in (*found(*broken), *found("model=qwen3-tiny"), *found("model.hidden_size=126"), *found("model.from_hf=nowhere")):
        if fault.code in {"MS0301", "MS0302", "MS0303", "MS0304"} or "MS0311" <= fault.code <= "MS0320":
            assert all(isinstance(text, Said) and text.zh for text in (fault.message, fault.reason, fault.fix)), fault
