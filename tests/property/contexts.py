"""What fields need to take another value, beyond what `mutation.py` makes of their type."""

from collections.abc import Mapping
from typing import Any

from tests.property.mutation import Context

Values = dict[str, Any]

ASCEND: Values = {"device.target": "ascend", "device.memory": "64GB"}
TWO: Values = {**ASCEND, "device.count": 2, "device.device_ids": [0, 1], "device.interconnect": "hccs", "parallel.data": 2}
FOUR: Values = {**ASCEND, "device.count": 4, "device.device_ids": [0, 1, 2, 3], "device.interconnect": "hccs", "parallel.data": 4}
SCALING: Values = {"kind": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_length": 64}
SCALED: Values = {
    **ASCEND,
    "model.dtype.compute": "float16",
    "pretrain.loss_scale.kind": "dynamic",
    "finetune.loss_scale.kind": "dynamic",
}
SECOND: Values = {"data.instruct.template": "second", "evaluation.suites.core.template": "second"}
THIRD: Values = {"data.instruct.template": "third", "evaluation.suites.core.template": "third"}


def _of_trainings(field: str, context: Context) -> dict[str, Context]:
    return {f"{training}.{field}": context for training in ("pretrain", "finetune")}


CONTEXTS: Mapping[str, Context] = {
    "smoke": Context(to=True),
    "device.count": Context(given=ASCEND, to=2, along={"device.device_ids": [0, 1], "parallel.data": 2}),
    "device.nodes": Context(given=TWO, to=2, along={"device.device_ids": [0]}),
    "device.device_ids": Context(given=ASCEND, to=[3]),
    "model.from_hf": Context(to="network", along={"model.family": "from_hf"}),
    "model.vocab_size": Context(to=4096),
    "model.dtype.compute": Context(given=ASCEND, to="bfloat16"),
    "model.dtype.params": Context(given=ASCEND),
    "model.dtype.layernorm": Context(given=ASCEND, to="bfloat16"),
    **{f"model.rope_scaling.{name}": Context(given={"model.rope_scaling": SCALING}) for name in SCALING},
    "data.pretrain.sources.*.path": Context(to="data/second.txt"),
    "data.pretrain.sources.*.text_field": Context(
        given={"data.pretrain.sources.*.format": "jsonl", "data.pretrain.sources.*.text_field": "text"}
    ),
    "data.pretrain.sources.*.delimiter": Context(
        given={"data.pretrain.sources.*.format": "csv", "data.pretrain.sources.*.text_field": "text"}, to=";"
    ),
    "data.pretrain.sources.*.language": Context(to=None),
    "data.pretrain.clean.rules": Context(to={"en": "none"}),
    "data.instruct.sources.*.path": Context(to="data/second.jsonl"),
    "data.instruct.template": Context(to="second", along={"evaluation.suites.core.template": "second"}),
    "tokenizer.special_tokens.bos": Context(to="<begin>", along=THIRD),
    "parallel": Context(given={"parallel.recompute": "full"}, to="auto"),
    "parallel.data": Context(given=ASCEND, to=2, along={"device.count": 2, "device.device_ids": [0, 1]}),
    "parallel.tensor": Context(given=FOUR, to=2, along={"parallel.data": 2}),
    "parallel.pipeline": Context(given=FOUR, to=2, along={"parallel.data": 2, "parallel.micro_batches": 2}),
    "parallel.context": Context(given=FOUR, to=2, along={"parallel.data": 2}),
    "parallel.micro_batches": Context(given={**FOUR, "parallel.data": 2, "parallel.pipeline": 2, "parallel.micro_batches": 2}, to=4),
    "parallel.optimizer_sharding": Context(given=TWO, to=1),
    **_of_trainings("loss_scale.kind", Context(to="dynamic")),
    **_of_trainings("loss_scale.initial", Context(given=SCALED, to=4096.0)),
    **_of_trainings("loss_scale.window", Context(given=SCALED, to=500)),
    "evaluation.suites.core.cases": Context(to="data/second.jsonl"),
    "evaluation.suites.core.template": Context(to="second", along={"data.instruct.template": "second"}),
    "compare.baseline": Context(to="smoke"),
    "compare.gate": Context(given={"compare.baseline": "smoke"}),
}

# Fields that have only one legal value in this version, whatever stands around them.
ONE_VALUE = ("model.head_dim", "data.pretrain.clean.perplexity", "tokenizer.kind", "finetune.method")
