"""A small classifier of documents, learned from labelled rows: logistic regression on hashed runs of 2 to 4 characters.

Runs of characters need no word boundaries, so the same model serves Chinese and English. It learns by stochastic gradient descent
in one thread and in an order that depends on the rows alone: the same weights for any number of workers and threads. A fifth of
the rows of every label is held out and never learned from; a model that is no better on them than naming the commonest label is
refused. Memory: the rows, and 2 MB a label.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import orjson
from numpy.typing import NDArray

from runtime.contracts.counting import counted
from runtime.contracts.filter import Classifier
from runtime.data.ordering import fingerprint, unit
from runtime.faults import StageFault
from runtime.raw_file import content_of

FEATURES = 1 << 18
HELD_OUT = 0.2
LEAST = 10  # rows of a label: two are held out, and eight are few enough to learn from
_PASSES = 20
FIELD = "data.pretrain.filter.classifier"


@dataclass(frozen=True)
class Row:
    """One labelled text; `key`: its fingerprint."""

    text: str
    label: str
    key: str


@dataclass(frozen=True)
class Model:
    """`weights`: (labels, FEATURES) and `offsets`: (labels,) of one logistic regression a label; of two labels, the second's alone."""

    labels: tuple[str, ...]
    weights: NDArray[np.float64]
    offsets: NDArray[np.float64]
    characters: int

    def probabilities(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Shape (texts, labels); each row adds up to 1."""
        scores = 1 / (1 + np.exp(-np.clip(_vectors(texts, self.characters) @ self.weights.T + self.offsets, -500, 500)))
        if len(self.labels) == 2:
            return np.hstack([1 - scores, scores])
        return scores / np.maximum(scores.sum(axis=1, keepdims=True), 1e-300)

    def save(self, path: Path) -> None:
        """Write the model to an .npz file."""
        np.savez(path, labels=np.asarray(self.labels), weights=self.weights, offsets=self.offsets, characters=self.characters)

    @classmethod
    def load(cls, path: Path) -> "Model":
        """Read what `save` wrote."""
        with np.load(path) as saved:
            return cls(tuple(saved["labels"].tolist()), saved["weights"], saved["offsets"], int(saved["characters"]))


def read_rows(path: Path, shown: str) -> list[Row]:
    """The rows of a JSON Lines file with a text and a label each. Raises StageFault at file:line."""
    rows = list[Row]()
    lines = content_of(path, shown, f"set {FIELD}.rows to a file of labelled rows").removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, line in enumerate(lines, 1):
        if line.strip():
            rows.append(_row(line, f"{shown}:{number}"))
    return rows


def _row(line: bytes, where: str) -> Row:
    fix = 'write one object a line, as {"text": "...", "label": "..."}'
    try:
        content = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise StageFault(f"not JSON: {error}", where=where, fix=fix) from None
    fields = cast(dict[str, Any], content) if isinstance(content, dict) else {}
    wrong = [name for name in ("text", "label") if not isinstance(fields.get(name), str) or not fields[name].strip()]
    if wrong:
        raise StageFault(f"{' and '.join(wrong)}: no text in the row", where=where, fix=fix)
    return Row(fields["text"], fields["label"], fingerprint(fields["text"]))


def distinct(rows: Sequence[Row]) -> tuple[list[Row], int]:
    """Each text once, in the order of fingerprints, and how many texts were left out because they have more than one label."""
    labels: dict[str, set[str]] = {}
    for row in rows:
        labels.setdefault(row.key, set()).add(row.label)
    once = {row.key: row for row in sorted(rows, key=lambda row: row.text, reverse=True) if len(labels[row.key]) == 1}
    return [once[key] for key in sorted(once)], sum(len(some) > 1 for some in labels.values())


def checked(rows: Sequence[Row], parameters: Classifier) -> None:
    """Raise StageFault for fewer than two labels, labels with too few rows, and a label to be kept that no row has."""
    counts = Counter(row.label for row in rows)
    told = ", ".join(f"{label}: {count}" for label, count in sorted(counts.items())) or "none"
    if missing := [label for label in parameters.keep if label not in counts]:
        raise StageFault(
            f"no row has the label {', '.join(missing)}", where=parameters.rows, reason=f"rows by label: {told}", fix=f"mend {FIELD}.keep"
        )
    if len(counts) < 2 or min(counts.values()) < LEAST:
        raise StageFault(
            f"a classifier needs two labels or more, each with {LEAST} different texts",
            where=parameters.rows,
            reason=f"different texts by label: {told}",
            fix="label more rows, or leave the label out",
        )


def divided(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Rows to learn from, and rows that are held out: HELD_OUT of every label, chosen by their texts."""
    held = set[str]()
    for label in {row.label for row in rows}:
        placed = sorted((unit(0, "classifier", row.key), row.key) for row in rows if row.label == label)
        held |= {key for _, key in placed[: max(1, round(HELD_OUT * len(placed)))]}
    return [row for row in rows if row.key not in held], [row for row in rows if row.key in held]


def learned(rows: Sequence[Row], characters: int) -> Model:
    """The model of the rows, which are in the order of their fingerprints."""
    from sklearn.linear_model import SGDClassifier  # takes a second to import, and most experiments have no classifier

    chosen = cast(Any, SGDClassifier)(loss="log_loss", alpha=1e-5, max_iter=_PASSES, tol=None, shuffle=True, random_state=0, average=True)
    chosen.fit(_vectors([row.text for row in rows], characters), [row.label for row in rows])
    weights = np.asarray(chosen.coef_, np.float64)
    return Model(tuple(map(str, chosen.classes_)), weights, np.asarray(chosen.intercept_, np.float64), characters)


def _vectors(texts: Sequence[str], characters: int) -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    hashing = HashingVectorizer(analyzer="char", ngram_range=(2, 4), n_features=FEATURES, alternate_sign=False, norm="l2")
    return hashing.transform([text[:characters] for text in texts])


def train(parameters: Classifier, path: Path) -> tuple[Model, dict[str, Any]]:
    """The model, and what the metrics tell of it. Raises StageFault for rows that are too few or that nothing can be learned from."""
    rows, contradictory = distinct(read_rows(path, parameters.rows))
    checked(rows, parameters)
    known, held = divided(rows)
    model = learned(known, parameters.characters)
    named = [model.labels[place] for place in model.probabilities([row.text for row in held]).argmax(axis=1)]
    right = Counter(row.label for row, name in zip(held, named, strict=True) if row.label == name)
    counts = Counter(row.label for row in held)
    commonest = Counter(row.label for row in known).most_common(1)[0][0]
    told = {
        "rows": len(rows),
        "contradictory": contradictory,
        "held_out": len(held),
        "accuracy": round(right.total() / len(held), 6),
        "accuracy_of_commonest_label": round(counts[commonest] / len(held), 6),
        "recall": {label: round(right[label] / counts[label], 6) for label in model.labels},
    }
    _refuse_useless(parameters, told)
    return model, told


def _refuse_useless(parameters: Classifier, told: dict[str, Any]) -> None:
    if told["accuracy"] <= told["accuracy_of_commonest_label"]:
        raise StageFault(
            f"the classifier names the label of {told['accuracy']:.1%} of {counted(told['held_out'], 'held-out row')}, no more than naming "
            f"the commonest label for each: {told['accuracy_of_commonest_label']:.1%}",
            where=parameters.rows,
            reason="what it keeps would be chance",
            fix="label more rows, or labels that their first characters tell apart (classifier.characters says how many are read)",
        )
