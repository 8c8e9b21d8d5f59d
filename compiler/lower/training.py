"""Plan -> the mindformers files of pre-training and fine-tuning."""

from typing import Any

from compiler import mindformers as mf
from compiler.families import FAMILIES, layer
from compiler.plan import Plan
from compiler.spec import Spec
from compiler.spec.model import Model
from compiler.spec.train import Training
from runtime.contracts.tokenizer import BOS_ID, EOS_ID, PAD_ID


def pretrain_config(plan: Plan) -> mf.TrainingConfig:
    """Training of the base from random weights on rows of seq_length + 1 ids."""
    spec = plan.experiment.spec
    return _training(plan, spec.pretrain, "pretrain", run_mode="train", columns=("input_ids",), rows="packed/pretrain")


def finetune_config(plan: Plan) -> mf.TrainingConfig:
    """LoRA on the instruction rows, from the weights of the base."""
    spec = plan.experiment.spec
    return _training(plan, spec.finetune, "finetune", run_mode="finetune", columns=("input_ids", "labels"), rows="packed/instruct")


def _training(plan: Plan, training: Training, stage: str, *, run_mode: str, columns: tuple[str, ...], rows: str) -> mf.TrainingConfig:
    spec, tuned = plan.experiment.spec, run_mode == "finetune"
    dataset = _dataset(spec, training, columns, rows)
    return mf.TrainingConfig(
        seed=spec.seed,
        run_mode=run_mode,
        output_dir=f".scratch/{stage}/mindformers",
        load_checkpoint="base/model.safetensors" if tuned else "",
        load_ckpt_format="safetensors" if tuned else None,
        runner_config=mf.Runner(epochs=training.steps, batch_size=_rows(training), sink_mode=plan.profile.sink_mode),
        optimizer=mf.Optimizer(
            betas=_pair(training.optimizer.betas), eps=training.optimizer.eps, weight_decay=training.optimizer.weight_decay
        ),
        lr_schedule=_learning_rate(training),
        train_dataset=dataset,
        train_dataset_task=mf.DatasetTask(dataset_config=dataset),
        context=mf.Context(device_target=plan.profile.target),
        recompute_config=mf.Recompute(recompute=plan.layout.recompute == "full"),
        callbacks=_callbacks(training, stage),
        runner_wrapper=_wrapper(plan, training),
        model=mf.Model(model_config=_model(plan, training, tuned)),
    )


def _rows(training: Training) -> int:
    """Rows that one device reads for one update."""
    return training.micro_batch * training.accumulation


def _wrapper(plan: Plan, training: Training) -> mf.Wrapper:
    accumulation = training.accumulation if training.accumulation > 1 else None
    return mf.Wrapper(
        type=plan.profile.wrapper,
        accumulation=accumulation,
        scale_sense=_scale(training),
        max_grad_norm=training.optimizer.clip_norm,
    )


def _scale(training: Training) -> float | mf.DynamicScale:
    scale, accumulation = training.loss_scale, training.accumulation
    if scale.kind == "none":
        return 1.0
    if scale.kind == "static":
        return scale.initial or STATIC_SCALE
    return mf.DynamicScale(loss_scale_value=scale.initial or DYNAMIC_SCALE, scale_window=scale.window or SCALE_WINDOW * accumulation)


def _pair(betas: tuple[float, ...]) -> tuple[float, float]:
    return betas[0], betas[1]


def _learning_rate(training: Training) -> mf.LearningRate:
    """The first update already moves: warm-up starts at peak / warmup_steps, since a rate of 0 would waste it."""
    schedule = training.schedule
    return mf.LearningRate(
        learning_rate=schedule.peak,
        lr_end=schedule.final,
        warmup_steps=schedule.warmup_steps,
        warmup_lr_init=schedule.peak / schedule.warmup_steps if schedule.warmup_steps else 0.0,
        total_steps=training.steps,
    )


def _dataset(spec: Spec, training: Training, columns: tuple[str, ...], rows: str) -> mf.Dataset:
    """A single file is named itself; of several shards, the folder of the split."""
    path = f"{rows}/train.mindrecord" if spec.pack.shards == 1 else f"{rows}/train"
    return mf.Dataset(data_loader=mf.DataLoader(dataset_dir=path), input_columns=columns, batch_size=_rows(training), seed=spec.seed)


def _callbacks(training: Training, stage: str) -> tuple[mf.Callback, ...]:
    checkpoints = mf.CheckpointMonitor(
        prefix=stage,
        save_checkpoint_steps=training.checkpoint.every,
        keep_checkpoint_max=training.checkpoint.keep,
    )
    return (mf.StopAtStep(step=training.steps), mf.StopAtNonFinite(), mf.LossMonitor(), checkpoints)


def _model(plan: Plan, training: Training, tuned: bool) -> mf.ModelConfig:
    spec, profile = plan.experiment.spec, plan.profile
    model, dtype = spec.model, spec.model.dtype
    return mf.ModelConfig(
        batch_size=training.micro_batch,
        seq_length=model.seq_length,
        hidden_size=model.hidden_size,
        num_layers=model.num_layers,
        num_heads=model.num_heads,
        n_kv_heads=model.num_kv_heads,
        vocab_size=plan.architecture.vocab_size,
        intermediate_size=model.intermediate_size,
        rms_norm_eps=model.norm_eps,
        theta=model.rope_theta,
        **_rope_scaling(model),
        bos_token_id=BOS_ID,
        eos_token_id=EOS_ID,
        pad_token_id=PAD_ID,
        compute_dtype=dtype.compute,
        layernorm_compute_type=dtype.layernorm,
        softmax_compute_type=dtype.softmax,
        rotary_dtype=dtype.rotary,
        param_init_type=dtype.params,
        use_flash_attention=profile.flash_attention,
        use_rope_slice=profile.rope_slice,
        fused_rms_norm=profile.fused_rms_norm,
        qkv_has_bias=FAMILIES[model.family].qkv_bias or None,
        tie_word_embeddings=model.tie_embeddings or None,
        pet_config=_adapters(spec) if tuned else None,
    )


def _rope_scaling(model: Model) -> dict[str, Any]:
    """Llama 3.1's scaled frequencies. Their table needs more rows than the original length, or mindformers refuses them."""
    scaling = model.rope_scaling
    if scaling is None:
        return {}
    factors = mf.RopeScaling(
        factor=scaling.factor,
        low_freq_factor=scaling.low_freq_factor,
        high_freq_factor=scaling.high_freq_factor,
        original_max_position_embeddings=scaling.original_length,
    )
    rows = max(model.seq_length, scaling.original_length + 1)
    return {"extend_method": "LLAMA3", "scaling_factor": factors, "max_position_embedding": rows}


def _adapters(spec: Spec) -> mf.Pet:
    lora = spec.finetune.lora
    assert lora is not None, "validation lets only LoRA pass"
    dtype = spec.model.dtype
    return mf.Pet(
        lora_rank=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        param_init_type=dtype.params,
        compute_dtype=dtype.compute,
        target_modules="|".join(f"{layer(target)}$" for target in lora.targets),
    )
