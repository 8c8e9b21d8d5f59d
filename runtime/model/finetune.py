"""finetune: a LoRA adapter on the packed instruction rows; the base provably loaded, and provably left alone."""

from pathlib import Path
from typing import Any

import numpy as np

from runtime.faults import StageFault
from runtime.model import adapter, description, lora, training, weights
from runtime.model.weights import Weights
from runtime.stage import Stage


def run(stage: Stage[training.YAML]) -> None:
    """Train from the YAML; `adapter/` gets adapter.safetensors (the LoRA tensors alone) and adapter.json."""
    config = stage.parameters
    training.check_settings(config)
    training.check_data(config, stage.manifest("packed/instruct"))
    stage.input("packed/instruct")
    folder = stage.input("base")
    base = weights.load(folder / "model.safetensors")
    described = description.read(folder)
    check_architecture(config["model"], described)
    pet = config["model"]["model_config"]["pet_config"]
    matched = lora.match_targets(pet["target_modules"], base)
    result = training.train(
        stage,
        trained=lambda batch: trained_positions(batch, config["model"]["model_config"]),
        before=lambda loaded, trainable: check_start(loaded, trainable, base, matched),
        checkpoint=Path(config["load_checkpoint"]),
    )
    tensors = learned(result.weights, base)
    _write(
        stage,
        result,
        tensors,
        adapter.Adapter(
            pet["lora_rank"], pet["lora_alpha"], pet["target_modules"], matched, described.weights_sha256, weights.digest(tensors)
        ),
    )


def trained_positions(batch: tuple[np.ndarray, ...], model: dict[str, Any]) -> int:
    """Positions that count in the loss of a batch (ids and labels of shape (batch, seq_length + 1)).

    A position counts where its label is not the ignored one and its input is not padding, as in the model's own loss.
    """
    ids, labels = batch
    return int(np.count_nonzero((labels[:, 1:] != model["ignore_token_id"]) & (ids[:, :-1] != model["pad_token_id"])))


def check_architecture(model: dict[str, Any], base: description.Description) -> None:
    """Refuse a base that is merged already or was trained with another architecture: mindformers would load it in part."""
    if base.merged:
        raise StageFault("the base already holds an adapter", where="base/model.json", fix="start from the base that was pre-trained")
    wanted = description.of_config(model, base.weights_sha256)
    wrong = [
        f"{key}: {base.config.get(key)!r} in the base, {wanted.config.get(key)!r} here"
        for key in sorted({*base.config, *wanted.config})
        if base.config.get(key) != wanted.config.get(key)
    ]
    if wrong or base.architecture != wanted.architecture:
        raise StageFault(
            weights.summary(wrong) or f"the base is a {base.architecture}",
            where="base/model.json",
            reason="weights that do not fit are skipped with a warning, and training goes on from random ones",
            fix="run pretrain again for this model",
        )


def check_start(loaded: Weights, trainable: list[str], base: Weights, matched: dict[str, list[str]]) -> None:
    """Just before the first step: every base tensor is in the network bit for bit, and only the intended LoRA tensors train."""
    tensors, rest = lora.split(loaded)
    wrong = weights.differences(base, rest)
    if wrong:
        raise StageFault(
            f"the base was not loaded: {weights.summary(wrong)}",
            where="base/model.safetensors",
            reason="training would start from other weights than the base's",
        )
    wanted = sorted({cell for cells in matched.values() for cell in cells})
    if lora.cells_of(tensors) != wanted or trainable != sorted(tensors):
        raise StageFault(
            f"{len(lora.cells_of(tensors))} cells carry an adapter and {len(trainable)} tensors train; {len(wanted)} cells were asked for",
            where="finetune.lora.targets",
            reason="another part of the model would be trained than the one asked for",
        )
    dead = [cell for cell in wanted if not tensors[cell + lora.A].any() or tensors[cell + lora.B].any()]
    if dead:
        raise StageFault(
            f"A is zero or B is not: {weights.summary(dead)}",
            reason="with A = B = 0 no gradient ever arrives; with B other than 0 training would not start from the base",
        )


def learned(trained: Weights, base: Weights) -> Weights:
    """The adapter's tensors of a finished training. Raises StageFault where the base changed or an adapter did not."""
    tensors, rest = lora.split(trained)
    check_frozen(base, rest)
    check_learned(tensors)
    return tensors


def check_frozen(base: Weights, rest: Weights) -> None:
    """After the last step: every base tensor is still the one in the file."""
    wrong = weights.differences(base, rest)
    if wrong:
        raise StageFault(
            f"the frozen base changed: {weights.summary(wrong)}", reason="the adapter alone would not give back what was trained"
        )


def check_learned(tensors: Weights) -> None:
    """After the last step: every B has moved away from zero."""
    still = [name for name in sorted(tensors) if name.endswith(lora.B) and not tensors[name].any()]
    if still:
        raise StageFault(
            f"never changed: {weights.summary(still)}",
            reason="no gradient reached these adapters",
            fix="raise schedule.peak, or look at the data's labels",
        )


def _write(stage: Stage[training.YAML], result: training.Training, tensors: Weights, made: adapter.Adapter) -> None:
    weights.save(stage.out / "adapter.safetensors", tensors)
    made.write(stage.out)
    count = training.count(tensors)
    stage.counts.update(steps=len(result.steps), trained_tokens=result.trained_tokens, parameters=count)
    stage.facts.update(weights_sha256=made.weights_sha256, base_sha256=made.base_sha256)
    cells = {pattern: len(found) for pattern, found in made.cells.items()}
    stage.metrics({**result.metrics(), "parameters": count, "cells": cells})
    stage.plot("plots/finetune.csv", training.PLOT_HEADER, result.rows())
