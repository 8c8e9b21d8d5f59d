"""Weights as named float arrays: one canonical file, one hash. No MindSpore."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from runtime.faults import InputFault

Weights = dict[str, np.ndarray]


def digest(weights: Mapping[str, np.ndarray]) -> str:
    """SHA-256 of the tensors in the order of their names: name, type, shape, bytes (little endian, row major)."""
    total = hashlib.sha256()
    for name in sorted(weights):
        array = np.ascontiguousarray(weights[name])
        total.update(json.dumps([name, array.dtype.str, list(array.shape)]).encode())
        total.update(array.tobytes())
    return total.hexdigest()


def save(path: Path, weights: Mapping[str, np.ndarray]) -> None:
    """Write a safetensors file whose bytes depend on the tensors alone."""
    save_file({name: np.ascontiguousarray(weights[name]) for name in sorted(weights)}, path)
    path.chmod(0o644)


def load(path: Path) -> Weights:
    """Read a safetensors file. Raises InputFault where it is missing, cut short or damaged."""
    try:
        return dict(sorted(load_file(path).items()))
    except (OSError, SafetensorError) as error:
        raise InputFault(f"cannot be read as safetensors: {error}", where=str(path), fix="delete the folder and run `dvc repro`") from None


def differences(expected: Mapping[str, np.ndarray], found: Mapping[str, np.ndarray]) -> list[str]:
    """One line for every tensor that is missing, unexpected, of another shape, or not equal bit for bit."""
    wrong = [f"{name} is missing" for name in sorted(expected.keys() - found.keys())]
    wrong += [f"{name} is not expected" for name in sorted(found.keys() - expected.keys())]
    for name in sorted(expected.keys() & found.keys()):
        if expected[name].shape != found[name].shape:
            wrong.append(f"{name} has the shape {found[name].shape}, not {expected[name].shape}")
        elif expected[name].tobytes() != found[name].astype(expected[name].dtype, copy=False).tobytes():
            wrong.append(f"{name} has other values")
    return wrong


def summary(lines: list[str], limit: int = 8) -> str:
    """The first lines, and how many more there are."""
    shown = "; ".join(lines[:limit])
    return f"{shown}; and {len(lines) - limit} more" if len(lines) > limit else shown


def non_finite(weights: Mapping[str, np.ndarray]) -> list[str]:
    """Names of the tensors that hold an infinity or a NaN."""
    return [name for name in sorted(weights) if not np.isfinite(weights[name]).all()]
