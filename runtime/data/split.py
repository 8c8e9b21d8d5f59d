"""split: training and validation documents without leakage.

Documents that are the same but for white space, case or character width go to one side together, so repeats of the mix
and copies that deduplication was told to keep cannot be learned and then scored. Which side is a function of seed and
text alone: more data never moves a document that was chosen by its share from validation to training. Every source is
held out in its own share, so that small ones are scored too. A validation document appears once.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from runtime import records
from runtime.contracts.split import Split
from runtime.data.funnel import Funnel
from runtime.data.ordering import fingerprint, unit
from runtime.faults import StageFault
from runtime.records import Record
from runtime.stage import Stage

TRAIN, VALIDATION = "train", "validation"
REPEAT = "repeat_in_validation"


def held_out(groups: Mapping[str, str], share: float, seed: int) -> set[str]:
    """The groups of the validation set: about `share` of those of each source, at least one of its groups, never all.

    `groups`: fingerprint -> source. A source of a single group goes to training, unless there is nothing else to hold out.
    Raises StageFault for fewer than two groups.
    """
    if len(groups) < 2:
        raise StageFault(
            f"the mix has {len(groups)} distinct documents, too few for a training and a validation set",
            where="config/split.yaml",
            fix="add text, or raise data.pretrain.mix.budget_bytes",
        )
    placed: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for group, source in groups.items():
        placed[source].append((unit(seed, "split", group), group))
    return {group for part in placed.values() for group in _lowest(part, share)} or {
        min(place for part in placed.values() for place in part)[1]
    }


def _lowest(placed: list[tuple[float, str]], share: float) -> list[str]:
    chosen = sum(place < share for place, _ in placed)
    return [group for _, group in sorted(placed)[: min(max(chosen, 1), len(placed) - 1)]]


def divide(documents: Sequence[Record], share: float, seed: int) -> tuple[list[Record], list[Record], list[Record]]:
    """Training documents, validation documents, and the repeats that validation goes without; each in order. Raises StageFault."""
    groups = [fingerprint(document.text) for document in documents]
    first = {group: document.source for group, document in zip(reversed(groups), reversed(documents), strict=True)}
    validation_groups = held_out(first, share, seed)
    train, validation, repeats, seen = list[Record](), list[Record](), list[Record](), set[str]()
    for document, group in zip(documents, groups, strict=True):
        if group not in validation_groups:
            train.append(document)
        elif group in seen:
            repeats.append(document)
        else:
            validation.append(document)
            seen.add(group)
    return train, validation, repeats


def run(stage: Stage[Split]) -> None:
    """Divide the mix; see the module."""
    made = stage.manifest("corpus/mix")
    funnel, documents = Funnel(made.facts.get("sources", [])), list[Record]()
    with stage.bar(made.counts.get("documents"), "documents") as bar:
        for record in records.read(stage.input("corpus/mix")):
            funnel.enter(record)
            documents.append(record)
            bar.advance()
        train, validation, repeats = divide(documents, stage.parameters.validation, stage.parameters.seed)
        for record in repeats:
            funnel.drop(record, REPEAT)
        records.write(stage.out / TRAIN, map(funnel.keep, train))
        records.write(stage.out / VALIDATION, map(funnel.keep, validation))
    sides = {TRAIN: amount(train), VALIDATION: amount(validation)}
    stage.counts.update({f"{name}_documents": side["documents"] for name, side in sides.items()})
    funnel.conclude(stage, {"splits": sides})


def amount(documents: Sequence[Record]) -> dict[str, Any]:
    """Documents, UTF-8 bytes, and documents per source of one side."""
    names = sorted({document.source for document in documents})
    return {
        "documents": len(documents),
        "bytes": sum(document.size for document in documents),
        "sources": {name: sum(document.source == name for document in documents) for name in names},
    }
