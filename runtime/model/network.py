"""A network built again from `model.json`, with every parameter proven to be the one in the file. Needs MindSpore."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
from mindformers import build_context
from mindformers.models.llama import LlamaConfig, LlamaForCausalLM
from mindspore import nn, ops

from runtime.faults import InputFault
from runtime.model import description, weights
from runtime.model.description import Description
from runtime.model.weights import Weights

ARCHITECTURES: dict[str, tuple[type[Any], type[Any]]] = {"LlamaForCausalLM": (LlamaForCausalLM, LlamaConfig)}
DTYPES = ("compute_dtype", "param_init_type", "layernorm_compute_type", "softmax_compute_type", "rotary_dtype")


class Logits(nn.Cell):
    """ids (batch, length) int32 -> logits (batch, length, vocabulary) float32, and nothing else."""

    def __init__(self, model: Any) -> None:
        super().__init__(auto_prefix=False)
        self.model = model

    def construct(self, ids: ms.Tensor) -> ms.Tensor:
        """One forward pass; causal, so a position never sees what follows it."""
        return ops.cast(self.model(ids)[0], ms.float32)


def open_device(target: str) -> None:
    """Set graph mode on `target` (CPU | GPU | Ascend); `runtime.model.context.prepare` comes first."""
    build_context({"context": {"mode": 0, "device_target": target}})


def build(described: Description, values: Mapping[str, np.ndarray], dtype: str = "float32", dynamic: bool = False) -> Logits:
    """The network of a description, holding `values` cast to `dtype`. Raises InputFault where a parameter is missing or left over."""
    if described.architecture not in ARCHITECTURES:
        raise InputFault(
            f"the architecture {described.architecture} is unknown", where=description.NAME, fix=f"one of: {', '.join(ARCHITECTURES)}"
        )
    model_class, config_class = ARCHITECTURES[described.architecture]
    config = {**described.config, "batch_size": 1, "is_dynamic": dynamic}
    if dtype != "float32":
        config.update(compute_dtype=dtype, param_init_type=dtype)
    model = model_class(config_class(**config))
    model.set_train(False)
    fill(model, values)
    return Logits(model)


def fill(model: nn.Cell, values: Mapping[str, np.ndarray]) -> None:
    """Put arrays into a network and look at what it holds afterwards. Raises InputFault unless all of them, and only they, are there."""
    found = {parameter.name: parameter for parameter in model.get_parameters()}
    for name in found.keys() & values.keys():
        if found[name].shape == values[name].shape:
            found[name].set_data(ms.Tensor(values[name]).astype(found[name].dtype))
    held = {name: parameter.asnumpy() for name, parameter in found.items()}
    wanted = {name: array.astype(held[name].dtype) if name in held else array for name, array in values.items()}
    wrong = weights.differences(wanted, held)
    if wrong:
        raise InputFault(
            f"the network was not filled: {weights.summary(wrong)}",
            where="model.safetensors",
            reason="parameters that stay random answer with noise, and nothing says so",
            fix="delete the folder and run `dvc repro`",
        )


def open_folder(folder: Path, dtype: str = "float32", dynamic: bool = False) -> Logits:
    """The network of a result folder (`base`, `merged`): model.json and model.safetensors, compared by hash."""
    described, values = description.read(folder), weights.load(folder / "model.safetensors")
    if weights.digest(values) != described.weights_sha256:
        raise InputFault(
            "the weights are not the ones that model.json describes", where=str(folder), fix="delete the folder and run `dvc repro`"
        )
    return build(described, values, dtype, dynamic)


def logits(network: nn.Cell, ids: np.ndarray) -> np.ndarray:
    """Logits (batch, length, vocabulary) float32 of ids (batch, length). A new shape costs a compilation."""
    answer: Any = network(ms.Tensor(ids.astype(np.int32)))
    return answer.asnumpy()


def next_logits(network: nn.Cell, ids: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """Logits (batch, vocabulary) after the last token of every row; rows (batch, width) are filled at their right end."""
    return logits(network, ids)[np.arange(len(ids)), lengths - 1]


def values_of(network: nn.Cell) -> Weights:
    """All parameters as arrays by name."""
    return {parameter.name: parameter.asnumpy() for parameter in network.get_parameters()}
