"""Where each identity field goes: the stages that it reaches, and the keys of the mindformers files that it becomes.

Only direct reach is named: what reads the results of these stages follows by itself, and `report`, which shows every
configuration, follows them all. Where a path has no entry, the nearest one above it counts. A test changes every field and
compares what changes with what stands here.
"""

from collections.abc import Mapping
from functools import cache

TRAININGS = ("pretrain", "finetune")

STAGES: Mapping[str, tuple[str, ...]] = {
    "smoke": ("mix", "tokenizer", "pack-pretrain", "pretrain", "format", "pack-instruct", "finetune", "merge", "evaluate"),
    "seed": ("synthesize", "mix", "split", "pretrain", "format", "finetune", "evaluate"),
    "device.target": ("pretrain", "finetune", "export", "evaluate"),
    "device.count": TRAININGS,
    "model": TRAININGS,
    "model.seq_length": ("pack-pretrain", "pretrain", "format", "pack-instruct", "finetune"),
    "model.dtype.compute": ("pretrain", "finetune", "evaluate"),
    "data.pretrain.sources": ("ingest",),
    "data.pretrain.sources.*.weight": ("mix",),
    "data.pretrain.sources.*.synthetic": ("mix",),
    "data.pretrain.ingest": ("ingest",),
    "data.pretrain.clean": ("clean",),
    "data.pretrain.clean.perplexity.reference": ("sieve",),
    "data.pretrain.clean.perplexity.order": ("sieve",),
    "data.pretrain.dedup": ("dedup",),
    "data.pretrain.filter": ("filter",),
    "data.pretrain.mix": ("mix",),
    "data.pretrain.split": ("split",),
    "data.synthetic": ("synthesize",),
    "data.instruct": ("format",),
    "data.instruct.template": ("format", "evaluate"),
    "tokenizer": ("tokenizer",),
    "tokenizer.vocab_size": ("tokenizer", "pretrain", "finetune"),
    "tokenizer.special_tokens.ids": ("tokenizer", "pretrain", "finetune"),
    "pack": ("pack-pretrain", "pack-instruct"),
    "pack.documents": ("pack-pretrain",),
    "pack.tail": ("pack-pretrain", "pretrain"),
    "pack.dialogues": ("pack-instruct",),
    "pack.shards": ("pack-pretrain", "pretrain", "pack-instruct", "finetune"),
    "parallel": TRAININGS,
    "pretrain": ("pretrain",),
    "finetune": ("finetune",),
    "finetune.lora.rank": ("finetune", "merge"),
    "finetune.lora.alpha": ("finetune", "merge"),
    "export": ("export",),
    "evaluation": ("evaluate",),
    "compare": ("compare",),
}

# A field of a training has one entry, under `training`, for both.
MINDFORMERS: Mapping[str, tuple[str, ...]] = {
    "seed": ("seed", "train_dataset.seed"),
    "device.target": ("context.device_target", "runner_wrapper.type"),
    "device.count": ("use_parallel", "context.device_id", "parallel", "parallel_config.data_parallel"),
    "model.family": ("model.model_config.qkv_has_bias",),
    "model.hidden_size": ("model.model_config.hidden_size",),
    "model.intermediate_size": ("model.model_config.intermediate_size",),
    "model.num_layers": ("model.model_config.num_layers",),
    "model.num_heads": ("model.model_config.num_heads",),
    "model.num_kv_heads": ("model.model_config.n_kv_heads",),
    "model.vocab_size": ("model.model_config.vocab_size",),
    "model.tie_embeddings": ("model.model_config.tie_word_embeddings",),
    "model.rope_theta": ("model.model_config.theta",),
    "model.rope_scaling.kind": ("model.model_config.extend_method",),
    "model.rope_scaling.factor": ("model.model_config.scaling_factor.factor",),
    "model.rope_scaling.low_freq_factor": ("model.model_config.scaling_factor.low_freq_factor",),
    "model.rope_scaling.high_freq_factor": ("model.model_config.scaling_factor.high_freq_factor",),
    "model.rope_scaling.original_length": ("model.model_config.scaling_factor.original_max_position_embeddings",),
    "model.norm_eps": ("model.model_config.rms_norm_eps",),
    "model.seq_length": ("model.model_config.seq_length",),
    "model.dtype.compute": ("model.model_config.compute_dtype", "model.model_config.pet_config.compute_dtype"),
    "model.dtype.params": ("model.model_config.param_init_type", "model.model_config.pet_config.param_init_type"),
    "model.dtype.softmax": ("model.model_config.softmax_compute_type",),
    "model.dtype.layernorm": ("model.model_config.layernorm_compute_type",),
    "model.dtype.rotary": ("model.model_config.rotary_dtype",),
    "tokenizer.vocab_size": ("model.model_config.vocab_size",),
    "tokenizer.special_tokens.ids": ("model.model_config.pad_token_id", "model.model_config.bos_token_id"),
    "pack.tail": ("train_dataset.input_columns",),
    "pack.shards": ("train_dataset.data_loader.dataset_dir",),
    "parallel": ("parallel", "parallel_config", "recompute_config"),
    "parallel.data": ("parallel_config.data_parallel", "parallel.dataset_strategy"),
    "parallel.tensor": ("parallel_config.model_parallel", "parallel_config.vocab_emb_dp"),
    "parallel.pipeline": ("parallel_config.pipeline_stage", "runner_wrapper.type"),
    "parallel.context": ("parallel_config.context_parallel",),
    "parallel.micro_batches": ("parallel_config.micro_batch_num", "runner_wrapper.micro_batch_num"),
    "parallel.optimizer_sharding": (
        "parallel.enable_parallel_optimizer",
        "parallel.parallel_optimizer_config",
        "model.model_config.parallel_optimizer",
    ),
    "parallel.recompute": ("recompute_config",),
    "training.steps": ("runner_config.epochs", "lr_schedule.total_steps", "callbacks.step"),
    "training.micro_batch": ("runner_config.batch_size", "train_dataset.batch_size", "model.model_config.batch_size"),
    "training.accumulation": ("runner_config.batch_size", "train_dataset.batch_size", "runner_wrapper.accumulation"),
    "training.optimizer.name": ("optimizer.type",),
    "training.optimizer.betas": ("optimizer.betas",),
    "training.optimizer.eps": ("optimizer.eps",),
    "training.optimizer.weight_decay": ("optimizer.weight_decay",),
    "training.optimizer.clip_norm": ("runner_wrapper.max_grad_norm",),
    "training.schedule.name": ("lr_schedule.type",),
    "training.schedule.peak": ("lr_schedule.learning_rate", "lr_schedule.warmup_lr_init"),
    "training.schedule.final": ("lr_schedule.lr_end",),
    "training.schedule.warmup_steps": ("lr_schedule.warmup_steps", "lr_schedule.warmup_lr_init"),
    "training.loss_scale.kind": ("runner_wrapper.scale_sense",),
    "training.loss_scale.initial": ("runner_wrapper.scale_sense",),
    "training.loss_scale.window": ("runner_wrapper.scale_sense",),
    "training.checkpoint.every": ("callbacks.save_checkpoint_steps",),
    "training.checkpoint.keep": ("callbacks.keep_checkpoint_max",),
    "training.lora.rank": ("model.model_config.pet_config.lora_rank",),
    "training.lora.alpha": ("model.model_config.pet_config.lora_alpha",),
    "training.lora.dropout": ("model.model_config.pet_config.lora_dropout",),
    "training.lora.targets": ("model.model_config.pet_config.target_modules",),
}


@cache
def stages_of(path: str) -> tuple[str, ...]:
    """Stages whose own input an identity field changes, in the order in which they run; none for a path that is not declared."""
    while path and path not in STAGES:
        path = path.rpartition(".")[0]
    return STAGES.get(path, ())


@cache
def mindformers_of(path: str) -> tuple[str, ...]:
    """Keys of `config/pretrain.yaml` and `config/finetune.yaml` that a field becomes; an item of a list has no index."""
    section, _, field = path.partition(".")
    return MINDFORMERS.get(f"training.{field}" if section in TRAININGS else path, ())
