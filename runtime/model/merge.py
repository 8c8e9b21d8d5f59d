"""merge: the adapter into its own base, once, in float32."""

from runtime.contracts.merge import Merge
from runtime.faults import StageFault
from runtime.model import adapter, description, lora, weights
from runtime.stage import Stage


def run(stage: Stage[Merge]) -> None:
    """W + (alpha / rank) B A; `merged/` gets model.safetensors and a model.json that names base and adapter by hash."""
    base_folder, adapter_folder = stage.input("base"), stage.input("adapter")
    described, trained = description.read(base_folder), adapter.read(adapter_folder)
    base, tensors = weights.load(base_folder / "model.safetensors"), weights.load(adapter_folder / "adapter.safetensors")
    check(stage.parameters, described, trained, weights.digest(base))
    with stage.bar(len(lora.cells_of(tensors)), "cells") as bar:
        merged = lora.merge(base, tensors, trained.rank, trained.alpha, bar.advance)
    _write(stage, described, trained, base, merged)


def check(asked: Merge, base: description.Description, trained: adapter.Adapter, base_sha256: str) -> None:
    """Refuse a second merge, a foreign base and another scale. Raises StageFault."""
    if base.merged:
        raise StageFault(
            f"already merged with the adapter {base.adapter_sha256}",
            where="base/model.json",
            reason="merging again would add the difference twice",
            fix="merge into the base that the adapter was trained on",
        )
    if trained.base_sha256 != base_sha256:
        raise StageFault(
            f"the adapter was trained on the base {trained.base_sha256}, this base is {base_sha256}",
            where="adapter/adapter.json",
            reason="the difference was learned for other weights; the merged model would load well and answer badly",
            fix="run finetune again from this base",
        )
    if (asked.rank, asked.alpha) != (trained.rank, trained.alpha):
        raise StageFault(
            f"rank {asked.rank} and alpha {asked.alpha} are asked for, "
            f"the adapter was trained with rank {trained.rank} and alpha {trained.alpha}",
            where="config/merge.yaml",
            reason="the difference is scaled by alpha / rank; any other scale gives another model than the trained one",
            fix="change finetune.lora in the spec, so that both stages get it",
        )


def _write(
    stage: Stage[Merge], base: description.Description, trained: adapter.Adapter, before: weights.Weights, after: weights.Weights
) -> None:
    wrong = weights.non_finite(after)
    if wrong:
        raise StageFault(f"merged weights that are not finite: {weights.summary(wrong)}", where="adapter/adapter.safetensors")
    hash_ = weights.digest(after)
    weights.save(stage.out / "model.safetensors", after)
    description.Description(base.architecture, base.config, hash_, base.weights_sha256, trained.weights_sha256).write(stage.out)
    changed = [name for name in after if after[name].tobytes() != before[name].tobytes()]
    largest = max(float(abs(after[name] - before[name]).max()) for name in changed) if changed else 0.0
    stage.counts.update(tensors=len(after), changed_tensors=len(changed))
    stage.facts.update(weights_sha256=hash_, base_sha256=base.weights_sha256, adapter_sha256=trained.weights_sha256)
    stage.metrics(
        {"scale": trained.alpha / trained.rank, "tensors": len(after), "changed_tensors": len(changed), "largest_change": round(largest, 6)}
    )
