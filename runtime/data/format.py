"""format: instruction rows -> token ids and labels through one chat template."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from runtime import records
from runtime.contracts.format import Format
from runtime.data import chat, encoding, instructions, provenance
from runtime.data.chat import IGNORED, Segment, Template
from runtime.data.encoding import Vocabulary
from runtime.data.instructions import Dialogue
from runtime.data.ordering import fingerprint, rank
from runtime.faults import StageFault
from runtime.stage import Stage

CONFIG = "config/format.yaml"
MARKS = ("\u27e6", "\u27e7")  # around the trained parts in sample.txt


@dataclass(frozen=True)
class Row:
    """A dialogue as ids. prompt: what decides on which side of the split it goes; labels: IGNORED where not trained."""

    id: str
    source: str
    prompt: str
    input_ids: list[int]
    labels: list[int]
    truncated: bool = False

    @property
    def trained(self) -> int:
        """Tokens with a label; the first id of a row can have none."""
        return sum(label != IGNORED for label in self.labels[1:])


@dataclass
class Tally:
    """What became of the rows of one source."""

    read: int = 0
    duplicates: int = 0
    truncated: int = 0
    dropped: Counter[str] = field(default_factory=Counter)


class Unusable(Exception):
    """A row that is dropped; its argument is the reason that is counted."""


def keys_of(dialogue: Dialogue) -> tuple[str, str]:
    """(whole dialogue, what precedes its first answer), as fingerprints that ignore case, width and white space."""
    turns = [f"{message.role}:{message.content}" for message in dialogue.messages]
    answer = next(index for index, message in enumerate(dialogue.messages) if message.role == "assistant")
    return fingerprint("\0".join(turns)), fingerprint("\0".join(turns[:answer]))


def truncate_middle(segments: Sequence[Segment], limit: int, vocabulary: Vocabulary) -> list[Segment]:
    """Shorten a row to `limit` ids by cutting the middle of what people asked, the longest message first.

    Head and tail of a message, all of the template and all answers stay. Raises Unusable where that is not enough.
    """
    cut = list(segments)
    for index in sorted((i for i, s in enumerate(cut) if s.content and not s.trained), key=lambda i: (-len(cut[i].ids), i)):
        excess = sum(len(segment.ids) for segment in cut) - limit
        if excess > 0:
            cut[index] = replace(cut[index], ids=without_middle(cut[index].ids, max(len(cut[index].ids) - excess, 1), vocabulary))
    if sum(len(segment.ids) for segment in cut) > limit:
        raise Unusable("answer_too_long")
    return cut


def without_middle(ids: tuple[int, ...], kept: int, vocabulary: Vocabulary) -> tuple[int, ...]:
    """At most `kept` ids, the first and the last ones; a character that is spelt in bytes is kept whole or not at all."""
    if len(ids) <= kept:
        return ids
    head, tail = (kept + 1) // 2, len(ids) - kept // 2
    while head > 0 and vocabulary.continues_character(ids[head]):
        head -= 1
    while tail < len(ids) and vocabulary.continues_character(ids[tail]):
        tail += 1
    return ids[:head] + ids[tail:]


def encode_dialogue(dialogue: Dialogue, template: Template, vocabulary: Vocabulary, parameters: Format) -> Row:
    """A dialogue as a row of at most seq_length + 1 ids. Raises Unusable with the reason for which it is dropped."""
    if not dialogue.messages[-1].content.strip():
        raise Unusable("empty_answer")
    segments, limit = chat.render(template, vocabulary, dialogue.messages, where=dialogue.where), parameters.seq_length + 1
    truncated = len(chat.ids_of(segments)) > limit
    if truncated and parameters.truncation == "none":
        raise Unusable("too_long")
    if truncated:
        segments = truncate_middle(segments, limit, vocabulary)
    whole, prompt = keys_of(dialogue)
    row = Row(whole, dialogue.source, prompt, chat.ids_of(segments), chat.labels_of(segments), truncated)
    if not row.trained:
        raise Unusable("no_trained_token")
    return row


def split_rows(rows: Sequence[Row], share: float, seed: int) -> tuple[list[Row], list[Row]]:
    """(training, validation): whole groups of one prompt go to validation, in hashed order, until it holds `share` of the rows.

    Raises StageFault where one side would be empty.
    """
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.prompt, []).append(row)
    wanted, validation = max(1, round(share * len(rows))), set[str]()
    held = 0
    for prompt in sorted(groups, key=lambda prompt: rank(seed, prompt)):
        if held < wanted:
            validation.add(prompt)
            held += len(groups[prompt])
    train, kept_out = [row for row in rows if row.prompt not in validation], [row for row in rows if row.prompt in validation]
    if not train or not kept_out:
        raise StageFault(
            f"{len(rows)} usable rows with {len(groups)} different prompts cannot be split",
            where=CONFIG,
            reason="training and validation each need a row, and share no prompt",
            fix="give more rows, with different prompts",
        )
    return train, kept_out


def refuse_unused(parameters: Format, rows: Sequence[Row], tallies: Mapping[str, Tally]) -> None:
    """Raise StageFault for a weighted source without a usable row."""
    used = {row.source for row in rows}
    for name, source in parameters.sources.items():
        if source.weight > 0 and name not in used:
            tally = tallies[name]
            lost = {"duplicates": tally.duplicates, **tally.dropped}
            why = ", ".join(f"{reason}: {count}" for reason, count in sorted(lost.items()) if count)
            raise StageFault(
                f"the source {name} has weight {source.weight} and no usable row; {tally.read} were read",
                where=source.path,
                reason=why or "its files have no rows",
                fix=f"mend its rows, set a larger model.seq_length if they are too long, or set data.instruct.sources.{name}.weight=0",
            )


def weigh(rows: Sequence[Row], weights: Mapping[str, float], seed: int) -> list[Row]:
    """Repeat or leave out rows so that the sources stand in the ratio of their weights, with as many rows in all as before.

    Equal weights take every row once. A repeated row gets `#1`, `#2` ... behind its id.
    """
    if len(set(weights.values())) == 1:
        return list(rows)
    by_source = {name: sorted((row for row in rows if row.source == name), key=lambda row: rank(seed, row.id)) for name in weights}
    present = {name: weight for name, weight in weights.items() if by_source[name]}
    total = sum(len(by_source[name]) for name, weight in present.items() if weight > 0)
    return [row for name, weight in present.items() for row in repeat(by_source[name], round(total * weight / sum(present.values())))]


def repeat(rows: Sequence[Row], count: int) -> list[Row]:
    """`count` rows: all of them as often as they fit whole, then the first ones once more."""
    copies = ((rows[index % len(rows)], index // len(rows)) for index in range(count))
    return [replace(row, id=f"{row.id}#{copy}") if copy else row for row, copy in copies]


def run(stage: Stage[Format]) -> None:
    """Read, drop duplicates, encode, split, weigh, order, write."""
    parameters = stage.parameters
    vocabulary = encoding.load(stage.input("tokenizer"))
    template = chat.load_template(stage.file("config/template.yaml"))
    check(parameters, template, vocabulary)
    tallies = {name: Tally() for name in parameters.sources}
    dialogues = list(unique(read_all(stage, template), tallies))
    with stage.bar(len(dialogues), "rows") as bar:
        rows = list(
            encode_all(dialogues, tallies, lambda dialogue: encode_dialogue(dialogue, template, vocabulary, parameters), bar.advance)
        )
    refuse_unused(parameters, rows, tallies)
    before, validation = split_rows(rows, parameters.validation, parameters.seed)
    train = weigh(before, {name: source.weight for name, source in parameters.sources.items()}, parameters.seed)
    splits = {"train": train, "validation": validation}
    for name, members in splits.items():
        ordered = sorted(members, key=lambda row: rank(parameters.seed, row.id))
        records.write_rows(stage.out / name, (_as_dict(row) for row in ordered))
    (stage.out / "sample.txt").write_text(sample(rows, vocabulary), "utf-8", newline="\n")
    stage.counts = {name: len(members) for name, members in splits.items()}
    stage.facts = {
        "tokenizer": vocabulary.identity,
        "seq_length": parameters.seq_length,
        "row_length": parameters.seq_length + 1,
        "ignored_label": IGNORED,
        "raw": {
            name: provenance.describe(instructions.files_of(stage.place_of(source.made), source.path))
            for name, source in parameters.sources.items()
        },
    }
    stage.metrics(summary(tallies, splits, before))


def check(parameters: Format, template: Template, vocabulary: Vocabulary) -> None:
    """Raise StageFault where settings, template and tokenizer contradict each other."""
    chat.check_pieces(template, vocabulary)
    trained = [name for name, role in template.roles.items() if role.trained]
    if trained != [parameters.train_on]:
        raise StageFault(
            f"the template trains {', '.join(trained)}, train_on is {parameters.train_on}",
            where="config/template.yaml",
            fix="set `trained` of the roles to agree",
        )
    weights = {name: source.weight for name, source in parameters.sources.items()}
    if not any(weights.values()) or min(weights.values()) < 0:
        raise StageFault(f"weights {weights} select nothing", where=CONFIG, fix="give a source a weight above 0, and none a negative one")


def read_all(stage: Stage[Format], template: Template) -> Iterable[Dialogue]:
    """The dialogues of all sources of a weight above 0, source by source."""
    for name, source in stage.parameters.sources.items():
        if source.weight > 0:
            yield from instructions.read(stage.place_of(source.made), source.path, source.format, name, template)


def unique(dialogues: Iterable[Dialogue], tallies: Mapping[str, Tally]) -> Iterable[Dialogue]:
    """Each dialogue the first time it comes, whatever its source."""
    seen: set[str] = set()
    for dialogue in dialogues:
        tallies[dialogue.source].read += 1
        key, _ = keys_of(dialogue)
        if key in seen:
            tallies[dialogue.source].duplicates += 1
        else:
            seen.add(key)
            yield dialogue


def encode_all(
    dialogues: Iterable[Dialogue], tallies: Mapping[str, Tally], encode: Callable[[Dialogue], Row], advance: Callable[[], None]
) -> Iterable[Row]:
    """The rows of all dialogues that can be used; the others are counted by reason."""
    for dialogue in dialogues:
        tally = tallies[dialogue.source]
        try:
            row = encode(dialogue)
        except Unusable as reason:
            tally.dropped[str(reason)] += 1
        else:
            tally.truncated += row.truncated
            yield row
        advance()


def _as_dict(row: Row) -> dict[str, Any]:
    return {"id": row.id, "input_ids": row.input_ids, "labels": row.labels, "source": row.source}


def summary(tallies: Mapping[str, Tally], splits: Mapping[str, Sequence[Row]], before: Sequence[Row]) -> dict[str, Any]:
    """The metrics: what came in and out per source, and tokens per split."""
    sources = {
        name: {
            "read": tally.read,
            "duplicates": tally.duplicates,
            "dropped": dict(sorted(tally.dropped.items())),
            "truncated": tally.truncated,
            "train_before_weights": sum(row.source == name for row in before),
            **{split: sum(row.source == name for row in rows) for split, rows in splits.items()},
        }
        for name, tally in tallies.items()
    }
    tokens = {
        split: {"rows": len(rows), "tokens": sum(len(row.input_ids) for row in rows), "trained_tokens": sum(row.trained for row in rows)}
        for split, rows in splits.items()
    }
    return {"splits": tokens, "sources": sources}


def sample(rows: Sequence[Row], vocabulary: Vocabulary) -> str:
    """One row of each source as text, trained parts between MARKS."""
    first = {row.source: row for row in reversed(rows)}
    return "".join(f"# {source}\n{shown(first[source], vocabulary)}\n\n" for source in sorted(first))


def shown(row: Row, vocabulary: Vocabulary) -> str:
    """A row as text with its special pieces, trained parts between MARKS."""
    text, start = "", 0
    for end in range(1, len(row.labels) + 1):
        trained = row.labels[start] != IGNORED
        if end == len(row.labels) or (row.labels[end] != IGNORED) != trained:
            part = vocabulary.show(row.input_ids[start:end])
            text, start = text + (f"{MARKS[0]}{part}{MARKS[1]}" if trained else part), end
    return text
