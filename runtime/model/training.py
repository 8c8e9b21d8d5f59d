"""One training by mindformers' Trainer from a mindformers YAML, and what must be true before and after it."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from runtime.contracts.counting import counted
from runtime.faults import StageFault
from runtime.manifest import Manifest
from runtime.model import context
from runtime.model.weights import Weights, non_finite, summary
from runtime.stage import Stage

PLOT_HEADER = ("step", "loss", "learning_rate", "gradient_norm")
LAST_STEPS = 20
ACCUMULATING = "CpuTrainOneStepCell"
YAML = dict[str, Any]


@dataclass(frozen=True)
class Training:
    """What a finished training leaves: its steps (`callbacks.Step`, one per optimizer step) and the trained parameters."""

    steps: list[Any]
    weights: Weights

    @property
    def trained_tokens(self) -> int:
        """Positions that counted in a loss, over all steps that were applied."""
        return sum(step.trained_tokens for step in self.steps if not step.skipped)

    def rows(self) -> list[tuple[int, str, str, str]]:
        """One row of the plot for every step, under PLOT_HEADER."""
        return [(s.number, f"{s.loss:.7g}", f"{s.learning_rate:.7g}", f"{s.gradient_norm:.7g}") for s in self.steps]

    def metrics(self) -> dict[str, Any]:
        """Loss at the first step and mean of the last ones, steps, trained tokens; with a loss scale, what became of it."""
        last = [step.loss for step in self.steps[-LAST_STEPS:]]
        scaled = any(step.skipped or step.loss_scale != 1 for step in self.steps)
        scaling = {"loss_scale": self.steps[-1].loss_scale, "skipped_steps": sum(step.skipped for step in self.steps)}
        return {
            "loss_first": round(self.steps[0].loss, 6),
            "loss_last": round(sum(last) / len(last), 6),
            "steps": len(self.steps),
            "trained_tokens": self.trained_tokens,
            **(scaling if scaled else {}),
        }


def total_steps(config: YAML) -> int:
    """The stop step. Raises StageFault where StopAtStep and the schedule do not say the same."""
    stops = [callback["step"] for callback in config["callbacks"] if callback["type"] == "StopAtStep"]
    scheduled = config["lr_schedule"]["total_steps"]
    if stops != [scheduled]:
        raise StageFault(
            f"lr_schedule.total_steps is {scheduled}, but callbacks name {stops or 'no StopAtStep'}",
            reason="the learning rate would end before or after the training",
            fix="run `mindspec compile`",
        )
    return int(scheduled)


def check_settings(config: YAML) -> None:
    """Refuse what mindformers would change without a word, and a layout of several ranks, which no stage starts. Raises StageFault."""
    if config.get("use_parallel"):
        raise StageFault(
            "use_parallel is true: this training is laid out over several devices",
            reason="a stage starts one process; alone it would wait for the others, or train on a part of each batch",
            fix="set device.count to 1 and parallel to the layout of one device, and compile again",
        )
    total_steps(config)
    resets = config["runner_config"]["gradient_accumulation_steps"]
    if resets != 1:
        raise StageFault(
            f"runner_config.gradient_accumulation_steps is {resets}",
            reason="outside semi-automatic parallel mode mindformers resets it to 1, and the effective batch with it",
            fix="run `mindspec compile`: the accumulation of a spec goes to runner_wrapper.accumulation, which our training cell takes",
        )
    _check_accumulation(config["runner_wrapper"], config["runner_config"]["batch_size"])


def _check_accumulation(wrapper: YAML, batch: int) -> None:
    accumulation = wrapper.get("accumulation", 1)
    if accumulation != 1 and wrapper["type"] != ACCUMULATING:
        raise StageFault(
            f"runner_wrapper.accumulation is {accumulation}, but a {wrapper['type']} overlooks it",
            reason="all rows of the batch would go through one forward pass, with the memory that this takes",
            fix="set accumulation to 1",
        )
    if batch % accumulation:
        raise StageFault(
            f"runner_config.batch_size is {batch}, which does not divide into {accumulation} micro batches",
            reason="a batch holds the rows of one update: micro_batch x accumulation",
            fix="run `mindspec compile`",
        )


def check_data(config: YAML, packed: Manifest, split: str = "train") -> None:
    """Compare the packed rows with the model and the batch, before anything is compiled. Raises StageFault."""
    model, batch = config["model"]["model_config"], config["runner_config"]["batch_size"]
    rows, length, vocabulary = packed.counts[f"{split}_rows"], packed.facts["row_length"], packed.facts["vocab_size"]
    where = config["train_dataset"]["data_loader"]["dataset_dir"]
    if length != model["seq_length"] + 1:
        raise StageFault(
            f"rows hold {length} ids, the model takes {model['seq_length']}",
            where=where,
            reason="inputs and labels are a row without its last and without its first id, so a row holds one id more than the model takes",
            fix="compile again, so that packing and training use one seq_length",
        )
    if vocabulary > model["vocab_size"]:
        raise StageFault(
            f"the tokenizer has {vocabulary} pieces, the model {model['vocab_size']} rows of embeddings",
            where=where,
            reason="ids above the table read memory that is not theirs, without an error",
            fix="set the model's vocabulary to at least the tokenizer's",
        )
    _check_special_ids(model, packed, where)
    if rows < batch:
        raise StageFault(
            f"{counted(rows, 'row')}, fewer than one batch of {batch}",
            where=where,
            reason="a batch holds micro_batch x accumulation rows; an incomplete one is dropped, so no step would be made",
            fix="use more data, a smaller micro_batch or less accumulation",
        )


def _check_special_ids(model: YAML, packed: Manifest, where: str) -> None:
    wrong = [
        f"{name} is {packed.facts[f'{name}_id']} in the rows, {model[f'{name}_token_id']} in the model"
        for name in ("pad", "bos", "eos")
        if packed.facts[f"{name}_id"] != model[f"{name}_token_id"]
    ]
    if wrong:
        raise StageFault(
            "; ".join(wrong),
            where=where,
            reason="the loss leaves out the model's padding: a piece of text would never be learned, and what fills a row would be",
            fix="compile again, and run the tokenizer's stage again",
        )


def train(
    stage: Stage[YAML],
    trained: Callable[[tuple[np.ndarray, ...]], int],
    before: Callable[[Weights, list[str]], None] = lambda weights, trainable: None,
    checkpoint: Path | None = None,
) -> Training:
    """Train as the stage's YAML says, from a checkpoint or from fresh weights.

    trained: trained positions of a batch (its columns as arrays). before: gets all parameters and the names of the
    trainable ones just before the first step. Raises StageFault where the training is not the one that was asked for.
    """
    steps = total_steps(stage.parameters)
    work = stage.scratch / "mindformers"
    context.prepare(work, stage.placement.threads)
    config = _load(stage, work)
    from mindformers import Trainer

    from runtime.model.callbacks import History

    with stage.bar(steps, "steps") as bar:
        history = History(bar, trained, lambda network: before(parameters(network), trainable(network)))
        trainer = Trainer(config, callbacks=[history])
        if checkpoint is None:
            trainer.train()
        else:
            trainer.finetune(finetune_checkpoint=str(checkpoint))
    result = Training(history.steps, parameters(history.network))
    _check(result, steps)
    return result


def _load(stage: Stage[YAML], work: Path) -> Any:
    """The YAML as mindformers reads it, with placement laid over it, and the process set up accordingly."""
    context.check_device(stage.parameters["context"]["device_target"])
    import mindspore as ms
    from mindformers import MindFormerConfig, build_context

    from runtime.model import callbacks, training_cell  # noqa: F401  (they register the types that the YAML names)

    config: Any = MindFormerConfig(str(stage.config_file))
    config.output_dir = str(work.resolve())
    config.train_dataset.num_parallel_workers = min(stage.placement.workers, os.cpu_count() or 1)  # more are refused
    config.train_dataset_task.dataset_config = config.train_dataset
    config.context.device_id = stage.placement.device_ids[0]
    if stage.placement.max_device_memory:
        config.context.max_device_memory = stage.placement.max_device_memory
    for callback in config.callbacks:
        if callback["type"] == "MFLossMonitor":
            callback["per_print_times"] = stage.placement.log_every
    build_context(config)
    ms.set_seed(config.seed)
    return config


def parameters(network: Any) -> Weights:
    """All parameters of the trained network as arrays by name, without the optimizer's and the step's own."""
    model = network.network if hasattr(network, "optimizer") else network
    return {parameter.name: parameter.asnumpy().copy() for parameter in model.get_parameters()}


def trainable(network: Any) -> list[str]:
    """Names of the parameters that the optimizer changes, sorted."""
    return sorted(parameter.name for parameter in network.optimizer.parameters)


def count(weights: Mapping[str, np.ndarray]) -> int:
    """Number of values in all tensors."""
    return sum(int(array.size) for array in weights.values())


def _check(training: Training, steps: int) -> None:
    numbers = [step.number for step in training.steps]
    if numbers != list(range(1, steps + 1)):
        raise StageFault(
            f"{counted(len(numbers), 'step')} made, {steps} asked for",
            reason="the data ended early or the training went on, so the schedule is not the one recorded",
            fix="look at the end of the stage's log",
        )
    if all(step.skipped for step in training.steps):
        raise StageFault(
            f"none of {counted(steps, 'step')} was taken: each overflowed and was skipped",
            reason="no update was made: the weights are those the training began with",
            fix="lower loss_scale.initial; a dynamic scale halves at each overflow",
        )
    wrong = non_finite(training.weights)
    if wrong:
        raise StageFault(f"weights that are not finite: {summary(wrong)}", fix="lower schedule.peak or lengthen schedule.warmup_steps")
