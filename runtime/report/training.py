"""What a training was told, read from its mindformers YAML: batch, schedule, optimizer, adapter."""

import math
from dataclasses import dataclass
from typing import Any

from runtime.report.evidence import Evidence


@dataclass(frozen=True)
class Training:
    """One training. Batches count rows, `tokens_per_step` the tokens the model sees in one update; None: not set."""

    stage: str
    seq_length: int | None
    micro_batch: int | None
    accumulation: int
    data_parallel: int
    micro_batches: int
    steps: int | None
    schedule: str | None
    peak: float | None
    final: float | None
    warmup_steps: int | None
    optimizer: str | None
    betas: tuple[float, ...]
    eps: float | None
    weight_decay: float | None
    clip_norm: float | None
    loss_scale: str | None
    seed: int | None
    lora: dict[str, Any] | None

    @property
    def effective_batch(self) -> int | None:
        """Rows in one update: micro batch x accumulation x data parallel (x micro batches of a pipeline)."""
        if self.micro_batch is None:
            return None
        return self.micro_batch * self.accumulation * self.data_parallel * self.micro_batches

    @property
    def tokens_per_step(self) -> int | None:
        """Tokens in one update."""
        return None if self.effective_batch is None or self.seq_length is None else self.effective_batch * self.seq_length


def training(evidence: Evidence, stage: str) -> Training:
    """Read one training's settings from `config/<stage>.yaml`."""

    def get(*path: str) -> Any:
        return evidence.setting(stage, *path)

    rows, own = get("runner_config", "batch_size"), get("runner_wrapper", "accumulation") or 1
    return Training(
        stage=stage,
        seq_length=get("model", "model_config", "seq_length"),
        micro_batch=None if rows is None else rows // own,
        accumulation=own * (get("runner_config", "gradient_accumulation_steps") or 1),
        data_parallel=get("parallel_config", "data_parallel") or 1,
        micro_batches=(get("parallel_config", "micro_batch_num") or 1) if (get("parallel_config", "pipeline_stage") or 1) > 1 else 1,
        steps=get("lr_schedule", "total_steps"),
        schedule=get("lr_schedule", "type"),
        peak=get("lr_schedule", "learning_rate"),
        final=get("lr_schedule", "lr_end"),
        warmup_steps=get("lr_schedule", "warmup_steps"),
        optimizer=get("optimizer", "type"),
        betas=tuple(get("optimizer", "betas") or ()),
        eps=get("optimizer", "eps"),
        weight_decay=get("optimizer", "weight_decay"),
        clip_norm=get("runner_wrapper", "max_grad_norm") if get("runner_wrapper", "use_clip_grad") else None,
        loss_scale=_loss_scale(get("runner_wrapper", "scale_sense")),
        seed=get("seed"),
        lora=_lora(get("model", "model_config", "pet_config")),
    )


def _loss_scale(scale: Any) -> str | None:
    if isinstance(scale, dict):
        return f"dynamic({scale.get('loss_scale_value', math.nan):g}, window {scale.get('scale_window', '')})"
    return None if scale is None else "none" if scale == 1 else f"static({scale:g})"


def _lora(config: dict[str, Any] | None) -> dict[str, Any] | None:
    if not config:
        return None
    names = {"lora_rank": "rank", "lora_alpha": "alpha", "lora_dropout": "dropout", "target_modules": "targets"}
    return {name: config.get(key) for key, name in names.items()}
