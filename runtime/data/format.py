"""format: instruction rows -> token ids and labels through one chat template.

Rows are encoded in tasks, piece by piece of their files, into scratch files; this process keeps only an index of them
(row_index.INDEX.itemsize bytes a row) in which it drops duplicates, splits, weighs and orders; tasks then write the result.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from runtime import engine, records
from runtime.contracts.counting import counted
from runtime.contracts.format import Format
from runtime.data import (
    chat,
    dialogue_parts,
    encode_rows,
    encoding,
    masked_text,
    provenance,
    real_floor,
    row_files,
    row_index,
    row_scratch,
    row_weights,
)
from runtime.data.chat import IGNORED, Template
from runtime.data.dialogue_parts import Dialogues
from runtime.data.encode_rows import BAD_ROW, REASONS, Encoded
from runtime.data.encoding import Vocabulary
from runtime.data.instructions import ANSWER
from runtime.data.row_index import INDEX, Entries, Lengths
from runtime.faults import StageFault
from runtime.stage import Stage

CONFIG = "config/format.yaml"
QUARANTINE, DROPPED = "quarantine.jsonl", "dropped.jsonl"
BYTES_A_TOKEN = 10  # an id with its mark, twice: as it is put together and as it is written


@dataclass(frozen=True)
class Collected:
    """All rows of all sources. `files`: what each source was read from; `duplicates`: rows that came before in another place."""

    names: Sequence[str]
    files: Mapping[str, Sequence[tuple[str, Path]]]
    entries: Entries
    duplicates: NDArray[np.bool_]
    done: Mapping[str, Encoded]

    @property
    def usable(self) -> Entries:
        """The rows that can be trained on, each once."""
        return self.entries[~self.duplicates & (self.entries["verdict"] == 0)]


def run(stage: Stage[Format]) -> None:
    """Encode, drop duplicates, split, weigh, order, write."""
    parameters = stage.parameters
    vocabulary = encoding.load(stage.input("tokenizer"))
    template = chat.load_template(stage.file("config/template.yaml"))
    check(parameters, template, vocabulary)
    rows = collect(stage)
    refuse_unused(parameters, rows)
    usable = rows.usable
    held_out = row_index.split_rows(usable, parameters.validation, parameters.seed)
    splits = {"train": usable[~held_out], "validation": usable[held_out]}
    weighed = row_weights.chosen(splits["train"], parameters)
    chosen = {"train": real_floor.floored(splits["train"], weighed, parameters), "validation": row_index.once(splits["validation"])}
    for split, entries in splits.items():
        write_split(stage, split, entries, row_index.shuffled(entries, chosen[split], parameters.seed), rows.names)
    write_samples(stage, usable, rows.names, vocabulary)
    write_dropped(stage, rows)
    state(stage, vocabulary, rows, {split: len(choices) for split, choices in chosen.items()})
    by_weight = row_weights.effect(splits["train"], weighed, rows.names)
    floor = real_floor.told(stage, splits["train"], weighed, chosen["train"])
    warnings = [*row_weights.told(stage, splits["train"], by_weight), *floor.pop("warnings", [])]
    stage.metrics({**summary(parameters, rows, splits, chosen, by_weight), **floor, "warnings": warnings})


def check(parameters: Format, template: Template, vocabulary: Vocabulary) -> None:
    """Raise StageFault where settings, template and tokenizer contradict each other."""
    chat.check_pieces(template, vocabulary)
    trained = [name for name, role in template.roles.items() if role.trained]
    if trained != [ANSWER]:
        raise StageFault(
            f"the template trains {', '.join(trained)}, train_on is {parameters.train_on}: of {ANSWER}",
            where="config/template.yaml",
            fix="set `trained` of the roles to agree",
        )
    weights = {name: 1.0 if source.weight is None else source.weight for name, source in parameters.sources.items()}
    if not any(weights.values()) or min(weights.values()) < 0:
        raise StageFault(f"weights {weights} select nothing", where=CONFIG, fix="give a source a weight above 0, and none a negative one")
    for source in parameters.sources.values():
        encode_rows.instructions.reader_of(source, template)


def collect(stage: Stage[Format]) -> Collected:
    """Encode the rows of all sources into scratch files and gather their index."""
    parameters = stage.parameters
    files = {name: row_files.files_of(stage.place_of(source.made), source.path) for name, source in parameters.sources.items()}
    scratch, places = stage.scratch / "rows", {"tokenizer": Path("tokenizer"), "template": Path("config/template.yaml"), "root": stage.root}
    scratch.mkdir()
    tasks = list(encode_rows.tasks(parameters, files, scratch=scratch, **places))
    done, indices = {name: Encoded() for name in files}, [np.empty(0, INDEX)]
    with stage.bar(None, "rows") as bar:
        for task, made in zip(tasks, engine.each(encode_rows.encode, tasks, stage.placement), strict=True):
            done[task.source].add(made)
            indices.append(np.load(encode_rows.index_file(scratch, task.number)))
            bar.advance(made.read)
    entries = np.concatenate(indices)
    return Collected(list(files), files, entries, row_index.repeated(entries["key"]), done)


def refuse_unused(parameters: Format, rows: Collected) -> None:
    """Raise StageFault for a source that is used and has no usable row."""
    used = row_index.by_source(rows.usable, rows.names)
    for name, source in parameters.sources.items():
        if source.weight != 0 and not used[name]:
            why = ", ".join(f"{reason}: {count}" for reason, count in sorted(lost_rows(rows, name).items()) if count)
            first = "".join(f"; the first bad row, {one['id']}: {one['reason']}" for one in rows.done[name].examples.get(BAD_ROW, [])[:1])
            raise StageFault(
                f"the source {name} has no usable row; {counted(rows.done[name].read, 'row')} read",
                where=source.path,
                reason=(why or "its files have no rows") + first,
                fix=f"mend its rows, set a larger model.seq_length if they are too long, or set data.instruct.sources.{name}.weight=0",
            )


def lost_rows(rows: Collected, source: str) -> Counter[str]:
    """Why rows of a source are not used; a duplicate counts as nothing else."""
    of_source = rows.entries["source"] == rows.names.index(source)
    verdicts = np.bincount(rows.entries["verdict"][of_source & ~rows.duplicates], minlength=len(REASONS))
    lost = Counter({reason: int(count) for reason, count in zip(REASONS, verdicts, strict=True) if reason and count})
    lost.update(duplicates=int((of_source & rows.duplicates).sum()), bad_row=rows.done[source].bad)
    return +lost


@dataclass(frozen=True)
class WriteTask:
    """One part of a split: its rows are named in `order`, a file of INDEX and CHOICE."""

    order: Path
    scratch: Path
    target: Path
    names: tuple[str, ...]


def write_split(stage: Stage[Format], split: str, entries: Entries, choices: NDArray[Any], names: Sequence[str]) -> None:
    """Write the chosen rows of a split in their order, part by part."""
    tasks, limit = list[WriteTask](), records.PART
    sizes = entries["ids"][choices["row"]].astype(np.int64) * BYTES_A_TOKEN
    for number, part in enumerate(row_index.parts(sizes, limit.rows, limit.bytes)):
        order = stage.scratch / "rows" / f"{split}-{number:06d}.npz"
        np.savez(order, entries=entries[choices["row"][part]], copies=choices["copy"][part])
        tasks.append(WriteTask(order, stage.scratch / "rows", stage.out / split / dialogue_parts.file_name(number), tuple(names)))
    with stage.bar(len(choices), "rows", f"{stage.contract.name} {split}") as bar:
        for written in engine.each(_write_part, tasks, stage.placement):
            bar.advance(written)


def _write_part(task: WriteTask) -> int:
    order = np.load(task.order)
    dialogue_parts.write(task.target, _dialogues(order["entries"], order["copies"], task.scratch, task.names))
    return len(order["entries"])


def _dialogues(entries: Entries, copies: NDArray[np.int32], scratch: Path, names: Sequence[str]) -> Dialogues:
    """The rows of all entries, read file by file in the order of their places."""
    found = [b""] * len(entries)
    order = np.lexsort((entries["place"], entries["file"]))
    for number in np.unique(entries["file"]):
        members = order[entries["file"][order] == number]
        path = encode_rows.rows_file(scratch, int(number))
        rows = row_scratch.read(path, entries["place"][members].tolist(), entries["ids"][members].tolist())
        for index, row in zip(members.tolist(), rows, strict=True):
            found[index] = row
    ids = np.frombuffer(b"".join(map(row_scratch.ids, found)), "<i4")
    trained = np.frombuffer(b"".join(map(row_scratch.marks, found)), np.bool_)
    return Dialogues(np.array(names), entries["key"], copies, entries["source"], entries["ids"], ids, trained)


def write_samples(stage: Stage[Format], usable: Entries, names: Sequence[str], vocabulary: Vocabulary) -> None:
    """`sample.jsonl`: rows of all sources with their masks; `sample.txt`: the first row of each source as text."""
    first = [int(np.flatnonzero(usable["source"] == source)[0]) for source in np.unique(usable["source"])]
    chosen, shown = (_listed(usable[rows], stage.scratch / "rows", names) for rows in (sample_of(usable), first))
    masked_text.write(stage.out / masked_text.FILE, chosen, vocabulary)
    texts = {source: masked_text.marked(ids, labels, vocabulary) for _, source, ids, labels in shown}
    text = "".join(f"# {source}\n{texts[source]}\n\n" for source in sorted(texts))
    (stage.out / "sample.txt").write_text(text, "utf-8", newline="\n")


def _listed(entries: Entries, scratch: Path, names: Sequence[str]) -> list[masked_text.Sampled]:
    rows = dialogue_parts.listed(_dialogues(entries, np.zeros(len(entries), np.int32), scratch, names))
    return [(row["id"], row["source"], row["input_ids"], row["labels"]) for row in rows]


def sample_of(usable: Entries) -> list[int]:
    """Rows to look at: of each source the same number, the first ones by their fingerprints."""
    sources = np.unique(usable["source"])
    each = -(-masked_text.ROWS // len(sources))
    order = np.lexsort((usable["key"][:, 1], usable["key"][:, 0]))
    found = [order[usable["source"][order] == source][:each] for source in sources]
    return sorted(int(index) for part in found for index in part)


def write_dropped(stage: Stage[Format], rows: Collected) -> None:
    """`dropped.jsonl`: examples of each reason and source; `quarantine.jsonl`: every row that cannot be read, where those are allowed."""
    found = rows.done.values()
    reasons = sorted({reason for one in found for reason in one.examples})
    told = [example for reason in reasons for one in found for example in one.examples.get(reason, [])]
    (stage.out / DROPPED).write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in told))
    if stage.parameters.bad_rows == "quarantine":
        with (stage.out / QUARANTINE).open("wb") as file:
            for bad in sorted((stage.scratch / "rows").glob("bad-*.jsonl")):
                file.write(bad.read_bytes())
        if bad_rows := sum(one.bad for one in found):
            stage.terminal.say(f"warning: {bad_rows} of {counted(sum(one.read for one in found), 'row')} put into {QUARANTINE}")


def state(stage: Stage[Format], vocabulary: Vocabulary, rows: Collected, counts: dict[str, int]) -> None:
    """Put into the manifest what the stages behind must know."""
    stage.counts = counts
    stage.facts = {
        "tokenizer": vocabulary.identity,
        "seq_length": stage.parameters.seq_length,
        "row_length": stage.parameters.seq_length + 1,
        "ignored_label": IGNORED,
        "raw": {name: provenance.describe(files) for name, files in rows.files.items()},
    }


def summary(
    parameters: Format,
    rows: Collected,
    splits: Mapping[str, Entries],
    chosen: Mapping[str, NDArray[Any]],
    by_weight: Mapping[str, Mapping[str, int]],
) -> dict[str, Any]:
    """The metrics: what came in and out per source, tokens per split, and how long rows are."""
    written = {split: entries[chosen[split]["row"]] for split, entries in splits.items()}
    counts = {split: row_index.by_source(entries, rows.names) for split, entries in written.items()}
    before = row_index.by_source(splits["train"], rows.names)
    truncated = row_index.by_source(rows.usable[rows.usable["length"] > rows.usable["ids"]], rows.names)
    sources = {
        name: {
            "read": rows.done[name].read,
            "duplicates": lost["duplicates"],
            "dropped": {reason: count for reason, count in sorted(lost.items()) if reason != "duplicates"},
            "truncated": truncated[name],
            "train_before_weights": before[name],
            **{f"weights_{what}": count for what, count in by_weight[name].items()},
            **{split: counts[split][name] for split in written},
        }
        for name in rows.names
        for lost in [lost_rows(rows, name)]
    }
    return {"splits": {split: row_index.totals(entries) for split, entries in written.items()}, "sources": sources} | lengths(
        parameters, rows.usable, written
    )


def lengths(parameters: Format, usable: Entries, written: Mapping[str, Entries]) -> dict[str, Any]:
    """How long rows are, and those that are long on their own: what a mean over all rows does not show."""
    bound = parameters.long_from or max((parameters.seq_length + 1) // 2, 1)
    long = {split: row_index.totals(entries[entries["ids"] >= bound]) for split, entries in written.items()}
    return {"lengths": Lengths(parameters.seq_length + 1).as_dict(usable["length"]), "long": {"from": bound, **long}}
