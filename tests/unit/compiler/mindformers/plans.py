"""Plans of every kind that can be lowered: families x devices x methods x layouts, with precision and loss scale in turn."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from compiler import mindformers as mf
from compiler.experiment import Experiment
from compiler.lower.inference import evaluate_config, predict_config
from compiler.lower.training import finetune_config, pretrain_config
from compiler.parse import load
from compiler.plan import Plan
from compiler.planning.plan import plan
from compiler.project import Project
from compiler.resolve.experiment import resolve
from compiler.spec import Spec

PROJECT = Project(Path(__file__).parents[4])
Changes = Mapping[str, Any]

DEVICES = ("cpu", "gpu", "ascend")
FAMILIES: Mapping[str, Changes] = {
    "llama": {},
    "llama3": {
        "model.num_kv_heads": 2,
        "model.rope_theta": 5.0e5,
        "model.norm_eps": 1.0e-5,
        "model.rope_scaling": {"factor": 8.0, "original_length": 64},
    },
    "qwen2": {"model.family": "qwen2", "model.num_kv_heads": 2, "model.tie_embeddings": True, "model.rope_theta": 1.0e6},
    "qwen3": {"model.family": "qwen3", "model.num_kv_heads": 2, "model.head_dim": 64},
}
LAYOUTS: Mapping[str, Changes] = {
    "one": {},
    "data": {"device.count": 2, "parallel.data": 2},
    "sharded": {"device.count": 4, "parallel.data": 4, "parallel.optimizer_sharding": 2, "parallel.recompute": "selective"},
    "tensor": {"device.count": 4, "parallel.tensor": 2, "parallel.context": 2, "parallel.recompute": "full"},
    "pipeline": {
        "device.count": 8,
        "parallel.data": 2,
        "parallel.tensor": 2,
        "parallel.pipeline": 2,
        "parallel.micro_batches": 8,
        "parallel.optimizer_sharding": 3,
        "pretrain.accumulation": 1,
        "finetune.accumulation": 1,
    },
}
METHODS: Mapping[str, Changes] = {"lora": {}, "full": {"finetune.method": "full", "finetune.lora": None}}
PRECISIONS: tuple[Changes, ...] = (
    {},
    {
        "model.dtype": {"compute": "float16", "params": "float32"},
        "pretrain.loss_scale": {"kind": "dynamic"},
        "finetune.loss_scale": {"kind": "static"},
    },
    {
        "model.dtype": {"compute": "float16", "params": "float16"},
        "pretrain.loss_scale": {"kind": "static", "initial": 4096.0},
        "finetune.loss_scale": {"kind": "dynamic", "window": 7},
    },
    {"model.dtype": {"compute": "bfloat16"}, "finetune.schedule.warmup_steps": 0, "pack.shards": 3},
)
ACCUMULATED: tuple[Changes, ...] = ({}, {"pretrain.accumulation": 4, "finetune.accumulation": 2})
ONLY_DATA = ("one", "data")  # what a CPU can do


@dataclass(frozen=True)
class Case:
    """One plan and the names of what was combined for it."""

    name: str
    plan: Plan

    @property
    def training(self) -> dict[str, mf.TrainingConfig]:
        """Stage -> training file."""
        return {"pretrain": pretrain_config(self.plan), "finetune": finetune_config(self.plan)}

    @property
    def files(self) -> dict[str, mf.Block]:
        """Every file of the plan; Qwen3 has none for mindformers' own evaluation and prediction."""
        if isinstance(self.training["pretrain"].model, mf.Qwen3Model):
            return dict(self.training)
        return {**self.training, "evaluate": evaluate_config(self.plan), "predict": predict_config(self.plan)}


@cache
def _demo() -> tuple[Experiment, Mapping[str, Any]]:
    values = load(PROJECT.root, "demo").values
    return resolve(Spec.model_validate(values), PROJECT), values


def made(*changes: Changes) -> Plan:
    """The plan of the demo with changes. No rule is asked: what is refused for another reason is lowered too."""
    experiment, values = _demo()
    changed = deepcopy(dict(values))
    for path, value in (pair for one in changes for pair in one.items()):
        _put(changed, path.split("."), value)
    return plan(replace(experiment, spec=Spec.model_validate(changed)))


def _put(values: dict[str, Any], path: list[str], value: Any) -> None:
    *around, last = path
    for key in around:
        values = values.setdefault(key, {})
    values[last] = value


@cache
def cases() -> tuple[Case, ...]:
    """All combinations that a device can do; precision and accumulation change from one to the next."""
    return tuple(_cases())


def _cases() -> Iterator[Case]:
    combined = [one for one in product(FAMILIES, DEVICES, METHODS, LAYOUTS) if one[1] != "cpu" or one[3] in ONLY_DATA]
    for index, (family, target, method, layout) in enumerate(combined):
        accumulates = target == "cpu" or layout != "one"  # one other device has no training cell for it
        turns = (PRECISIONS[index % len(PRECISIONS)], ACCUMULATED[index % 2 if accumulates else 0])
        changes = ({"device.target": target}, FAMILIES[family], METHODS[method], *turns, LAYOUTS[layout])
        yield Case(f"{family} {target} {method} {layout}", made(*changes))
