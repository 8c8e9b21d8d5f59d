"""Plan -> the mindformers files of pre-training and fine-tuning."""

from typing import Literal

from compiler import mindformers as mf
from compiler.families import FAMILIES
from compiler.lower import layout
from compiler.lower.layout import Division
from compiler.lower.network import adapters, network
from compiler.plan import Plan
from compiler.planning.profiles import DeviceProfile
from compiler.spec import Spec
from compiler.spec.declare import MOST
from compiler.spec.train import Training
from runtime.contracts.pack import columns_of

STATIC_SCALE, DYNAMIC_SCALE, SCALE_WINDOW = 1024.0, 65536.0, 1000

RunMode = Literal["train", "finetune"]


def pretrain_config(plan: Plan) -> mf.TrainingConfig:
    """Training of the base from random weights on rows of seq_length + 1 ids."""
    spec = plan.experiment.spec
    return _training(plan, spec.pretrain, "pretrain", run_mode="train", columns=text_columns(spec), rows="packed/pretrain")


def finetune_config(plan: Plan) -> mf.TrainingConfig:
    """Training on the instruction rows, from the weights of the base: of adapters, or of all weights."""
    training = plan.experiment.spec.finetune
    return _training(plan, training, "finetune", run_mode="finetune", columns=("input_ids", "labels"), rows="packed/instruct")


def _training(plan: Plan, training: Training, stage: str, *, run_mode: RunMode, columns: tuple[str, ...], rows: str) -> mf.TrainingConfig:
    spec, tuned, division = plan.experiment.spec, run_mode == "finetune", Division(plan, training, columns)
    train_rows = dataset(spec, f"{rows}/train", columns, division.rows, shuffle=True)
    return mf.TrainingConfig(
        seed=spec.seed,
        run_mode=run_mode,
        use_legacy=FAMILIES[spec.model.family].backend == "legacy",
        use_parallel=division.several,
        output_dir=f".scratch/{stage}/mindformers",
        load_checkpoint=_base(division) if tuned else "",
        load_ckpt_format="safetensors" if tuned else None,
        auto_trans_ckpt=tuned and division.semi_auto,
        runner_config=_runner(division),
        optimizer=_optimizer(training),
        lr_schedule=_learning_rate(training),
        train_dataset=train_rows,
        train_dataset_task=mf.DatasetTask(dataset_config=train_rows),
        context=context(plan.profile, device_id=None if division.several else 0),
        parallel=layout.parallel(division),
        parallel_config=layout.degrees(division),
        recompute_config=layout.recompute(plan),
        callbacks=_callbacks(division, stage),
        runner_wrapper=_wrapper(division),
        model=network(plan, training.micro_batch, adapters(spec) if tuned else None),
    )


def _base(division: Division) -> str:
    """mindformers takes one complete file on one device, and on several only the folder it lies in: it divides the weights
    itself in semi-automatic mode, and wants a copy for each rank, in `rank_0`, `rank_1` ..., in data-parallel mode."""
    return "base" if division.several else "base/model.safetensors"


def _runner(division: Division) -> mf.Runner:
    """No sink mode on any device: our callbacks count the trained tokens of each batch, which a sunk epoch does not show."""
    return mf.Runner(
        epochs=division.training.steps,
        batch_size=division.rows,
        sink_mode=False,
        gradient_accumulation_steps=division.steps,
    )


def _optimizer(training: Training) -> mf.Optimizer:
    first, second = training.optimizer.betas
    return mf.Optimizer(betas=(first, second), eps=training.optimizer.eps, weight_decay=training.optimizer.weight_decay)


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


def text_columns(spec: Spec) -> tuple[str, ...]:
    """Columns of packed text; it has labels where not every id is trained on."""
    return columns_of(spec.pack.documents, spec.pack.tail)


def dataset(spec: Spec, path: str, columns: tuple[str, ...], batch_size: int, *, shuffle: bool) -> mf.Dataset:
    """Rows of one split. A single file is named itself; of several shards, the folder of the split."""
    loader = mf.DataLoader(dataset_dir=f"{path}.mindrecord" if spec.pack.shards == 1 else path, shuffle=shuffle)
    return mf.Dataset(data_loader=loader, input_columns=columns, batch_size=batch_size, seed=spec.seed)


def context(profile: DeviceProfile, device_id: int | None, infer_boost: Literal["on"] | None = None) -> mf.Context:
    """Graph mode on the device. Its memory bound is placement, so it is not written."""
    return mf.Context(
        device_target=profile.target,
        device_id=device_id,
        jit_config=mf.JitConfig(jit_level=profile.jit_level, infer_boost=infer_boost) if profile.jit_level else None,
        ascend_config=mf.AscendConfig(precision_mode=profile.precision_mode) if profile.precision_mode else None,
    )


def _callbacks(division: Division, stage: str) -> tuple[mf.Callback, ...]:
    """Divided weights are saved part by part: gathering them all would need the memory that dividing them saved."""
    checkpoint = division.training.checkpoint
    checkpoints = mf.CheckpointMonitor(
        prefix=stage,
        save_checkpoint_steps=checkpoint.every,
        keep_checkpoint_max=checkpoint.keep,
        integrated_save=not division.semi_auto,
    )
    return (mf.StopAtStep(step=division.training.steps), mf.StopAtNonFinite(), mf.LossMonitor(), checkpoints)


def _wrapper(division: Division) -> mf.Wrapper:
    return mf.Wrapper(
        type=layout.wrapper_type(division),
        accumulation=division.own_accumulation,
        micro_batch_num=layout.wrapper_micro_batches(division),
        scale_sense=_scale(division.training),
        max_grad_norm=division.training.optimizer.clip_norm,
    )


def _scale(training: Training) -> float | mf.DynamicScale:
    """A window counts updates, each of which is as many chances to overflow as it accumulates."""
    scale, accumulation = training.loss_scale, training.accumulation
    if scale.kind == "none":
        return 1.0
    if scale.kind == "static":
        return scale.initial or STATIC_SCALE
    window = scale.window or min(SCALE_WINDOW * accumulation, MOST)
    return mf.DynamicScale(loss_scale_value=scale.initial or DYNAMIC_SCALE, scale_window=window)
