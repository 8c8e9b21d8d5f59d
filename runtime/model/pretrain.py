"""pretrain: mindformers' Trainer on the packed corpus, from fresh weights."""

from typing import Any

import numpy as np

from runtime import processor
from runtime.model import description, training, weights
from runtime.stage import Stage


def run(stage: Stage[training.YAML]) -> None:
    """Train from the YAML; `base/` gets model.safetensors (float32, sorted names) and model.json."""
    config = stage.parameters
    training.check_settings(config)
    training.check_data(config, stage.manifest("packed/pretrain"))
    stage.input("packed/pretrain")
    result = training.train(stage, trained=lambda batch: trained_positions(batch, config["model"]["model_config"]))
    hash_ = weights.digest(result.weights)
    weights.save(stage.out / "model.safetensors", result.weights)
    description.of_config(config["model"], hash_).write(stage.out)
    count = training.count(result.weights)
    stage.counts.update(steps=len(result.steps), trained_tokens=result.trained_tokens, parameters=count)
    stage.facts.update(weights_sha256=hash_, processor=processor.family())
    stage.metrics({**result.metrics(), "parameters": count})
    stage.plot("plots/pretrain.csv", training.PLOT_HEADER, result.rows())


def trained_positions(batch: tuple[np.ndarray, ...], model: dict[str, Any]) -> int:
    """Positions that count in the loss of a batch: ids and perhaps labels of shape (batch, seq_length + 1).

    Without labels every id but the first of a row is one.
    """
    ids, labels = batch[0], batch[-1]
    if len(batch) == 1:
        return ids.shape[0] * (ids.shape[1] - 1)
    return int(np.count_nonzero((labels[:, 1:] != model["ignore_token_id"]) & (ids[:, :-1] != model["pad_token_id"])))
