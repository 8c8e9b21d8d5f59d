"""What fields need to take another value, beyond what `mutation.py` makes of their type."""

from collections.abc import Mapping
from typing import Any

from tests.property.mutation import Context
from tests.property.recipe_contexts import ALONE, RECIPES, ROWS

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
TOPICS: Values = {"trade": {"any": ["bank", "股票"], "patterns": ["shares?"], "none": [], "min_hits": 2}}
CLASSIFIER: Values = {"rows": "data/second.jsonl", "keep": ["good"], "threshold": 0.5, "characters": 2000}
TOKENS: Values = {"data.pretrain.mix.budget_tokens": 2_000_000}
SIEVE: Values = {
    "data.pretrain.clean.perplexity": {"reference": "data/raw/handbook", "order": 5, "percentile": 0.9, "limit": None},
}
ONE_FILE: Values = {"data.pretrain.sources.*.path": "data/second.txt"}  # which may have any format
MASKED: Values = {"data.pretrain.clean.pii": {"emails": True, "placeholders": {}}}
GIVEN: Values = {
    "tokenizer.kind": "tiktoken",
    "tokenizer.path": "data/small.tiktoken",
    "tokenizer.pattern": "gpt2",
    "tokenizer.vocab_size": 261,
}
SECOND: Values = {"data.instruct.template": "second", "evaluation.suites.core.template": "second"}
THIRD: Values = {"data.instruct.template": "third", "evaluation.suites.core.template": "third"}


def _of_trainings(field: str, context: Context) -> dict[str, Context]:
    return {f"{training}.{field}": context for training in ("pretrain", "finetune")}


CONTEXTS: Mapping[str, Context] = {
    "smoke": Context(to=True),
    "seed": Context(given=ROWS),
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
    "data.pretrain.sources.*.format": Context(given=ONE_FILE),
    "data.pretrain.sources.*.text_field": Context(
        given={**ONE_FILE, "data.pretrain.sources.*.format": "jsonl", "data.pretrain.sources.*.text_field": "text"}
    ),
    "data.pretrain.sources.*.delimiter": Context(
        given={**ONE_FILE, "data.pretrain.sources.*.format": "csv", "data.pretrain.sources.*.text_field": "text"}, to=";"
    ),
    "data.pretrain.sources.*.language": Context(to=None),
    "data.pretrain.clean.rules": Context(to={"en": "none"}),
    "data.pretrain.clean.limits": Context(to={"en": {"too_few_words": 30.0, "stop_words": None}}),
    **{f"data.pretrain.clean.pii.{name}": Context(given=MASKED, to=False) for name in ("emails", "phones", "ids", "cards", "ip_addresses")},
    "data.pretrain.clean.pii.placeholders": Context(given=MASKED, to={"email": "[e-mail]"}),
    "data.pretrain.clean.perplexity.reference": Context(given=SIEVE, to="data/second.txt"),
    "data.pretrain.clean.perplexity.order": Context(given=SIEVE, to=3),
    "data.pretrain.clean.perplexity.percentile": Context(given=SIEVE, to=0.8),
    "data.pretrain.clean.perplexity.limit": Context(given=SIEVE, to=800.0),
    **{f"data.pretrain.filter.topics.*.{name}": Context(given={"data.pretrain.filter.topics": TOPICS}) for name in TOPICS["trade"]},
    "data.pretrain.filter.topics.*.none": Context(given={"data.pretrain.filter.topics": TOPICS}, to=["river"]),
    "data.pretrain.filter.keep_topics": Context(given={"data.pretrain.filter.topics": TOPICS}, to=["trade"]),
    "data.pretrain.dedup.priority": Context(
        given={"data.pretrain.dedup.keep": "priority", "data.pretrain.dedup.priority": ["handbook_en"]}, to=["handbook_zh"]
    ),
    **{
        f"data.pretrain.dedup.decontaminate.{name}": Context(
            given={"data.pretrain.dedup.decontaminate": {"ngram": 13, "paths": ["data/second.txt"]}}, to=to
        )
        for name, to in {"ngram": 10, "evaluation": False, "paths": ["data/second.jsonl"], "action": "cut"}.items()
    },
    "data.pretrain.filter.drop_topics": Context(given={"data.pretrain.filter.topics": TOPICS}, to=["trade"]),
    **{
        f"data.pretrain.filter.classifier.{name}": Context(given={"data.pretrain.filter.classifier": CLASSIFIER}, to=to)
        for name, to in {"rows": "data/evaluation/core.jsonl", "keep": ["poor"], "threshold": 0.7, "characters": 500}.items()
    },
    "data.pretrain.mix.budget_bytes": Context(to=5_000_000),
    "data.pretrain.mix.budget_tokens": Context(given={"data.pretrain.mix.budget_bytes": None, **TOKENS}, to=1_500_000),
    **{
        f"data.pretrain.mix.sources.*.{name}": Context(
            given={"data.pretrain.mix.sources": {"handbook_en": {name: one, **dict.fromkeys({"epochs", "bytes", "tokens"} - {name})}}},
            to=other,
        )
        for name, one, other in (("epochs", 0.5, 1.5), ("bytes", 10_000, 20_000), ("tokens", 1000, 2000))
    },
    "data.pretrain.mix.bytes_per_token_of": Context(to={"zh": 3.0}),
    **RECIPES,
    "data.instruct.sources.*.path": Context(to="data/second.jsonl"),
    "data.instruct.sources.*.fields": Context(to={"output": "response"}),
    "data.instruct.sources.*.roles": Context(given={"data.instruct.sources.*.format": "messages"}, to={"bot": "assistant"}),
    "data.instruct.decontaminate.ngram": Context(given={"data.instruct.decontaminate": {"ngram": 13}}, to=5),
    "data.instruct.template": Context(to="second", along={"evaluation.suites.core.template": "second"}),
    "tokenizer.path": Context(given=GIVEN, to="data/second.tiktoken"),
    "tokenizer.pattern": Context(given=GIVEN, to="cl100k"),
    "tokenizer.special_tokens.ids": Context(given=GIVEN, to={"<pad>": 257, "<s>": 256}),
    "pack.documents": Context(given={"pack.tail": "pad"}, to="whole"),
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
ONE_VALUE = ("model.head_dim", "tokenizer.kind", "finetune.method", *ALONE)
