"""sieve: a language model for each language of a clean reference text, by which `clean` finds documents that are strange.

The reference is UTF-8: plain text, `.html` pages, or `.jsonl` rows with the field `text`. Its language is told block by block, so
one folder may hold several. Blocks of a language go to a file, from which KenLM sorts in bounded memory; a block, or a page, is
what is held at a time.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import orjson

from runtime.atomic import files_below
from runtime.contracts.sieve import KENLM, Sieve
from runtime.data import language_model
from runtime.data.characters import tidy
from runtime.data.html_text import page_text
from runtime.data.language import UNDETERMINED, detect
from runtime.faults import StageFault
from runtime.raw_file import locked, size_of
from runtime.stage import Stage

_BLOCK = 65_536  # bytes of lines whose language is told at once
_FEWEST_SENTENCES = 100  # of a language; fewer lines make no model
REFERENCE = "correct data.pretrain.clean.perplexity.reference"
_PAGES = (".html", ".htm", ".xhtml")


@dataclass
class Corpus:
    """Sentences of each language in files of a folder, and how many there are."""

    folder: Path
    sentences: dict[str, int] = field(default_factory=dict)
    _files: dict[str, IO[bytes]] = field(default_factory=dict)
    _open: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> "Corpus":
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def add(self, text: str) -> None:
        """Add a block of text to the file of its language."""
        language = detect(text)
        if language == UNDETERMINED:
            return
        if language not in self._files:
            self._files[language] = self._open.enter_context(self.path(language).open("wb"))
        lines = language_model.sentences(tidy(text))
        self._files[language].write("".join(f"{line}\n" for line in lines).encode())
        self.sentences[language] = self.sentences.get(language, 0) + len(lines)

    def path(self, language: str) -> Path:
        """The file of a language."""
        return self.folder / f"{language}.txt"


def run(stage: Stage[Sieve]) -> None:
    """Train the models; see the module."""
    language_model.check()
    place = stage.root / stage.parameters.reference
    files = [path for path in files_below(place) if not path.name.startswith(".")] if place.is_dir() else [place]
    with Corpus(stage.scratch) as corpus, stage.bar(len(files), "files") as bar:
        for path in files:
            for block in blocks(path, stage.parameters.reference):
                corpus.add(block)
            bar.advance()
    _train(stage, corpus)


def _train(stage: Stage[Sieve], corpus: Corpus) -> None:
    enough = {name: count for name, count in sorted(corpus.sentences.items()) if count >= _FEWEST_SENTENCES}
    if not enough:
        raise StageFault(
            f"no language has {_FEWEST_SENTENCES} lines of text",
            where=stage.parameters.reference,
            reason=f"lines found: {corpus.sentences or 'none'}; a model of so little says nothing about other text",
            fix="name more text in data.pretrain.clean.perplexity.reference",
        )
    for name in stage.terminal.track(enough, len(enough), "models", f"{stage.contract.name} models"):
        language_model.train(corpus.path(name), stage.out / f"{name}{language_model.SUFFIX}", stage.parameters.order, stage.scratch)
    stage.facts.update(languages=list(enough), kenlm=KENLM)
    stage.counts.update({f"sentences_{name}": count for name, count in enough.items()})
    stage.metrics({"sentences": dict(sorted(corpus.sentences.items())), "languages": list(enough)})


def blocks(path: Path, shown: str) -> Iterator[str]:
    """The text of a reference file, in pieces of one language each. Raises StageFault for what is not there, no UTF-8 or no JSON."""
    size_of(path, shown, REFERENCE)
    try:
        yield from _read(path)
    except OSError as error:
        raise locked(error, shown, REFERENCE) from None
    except (UnicodeDecodeError, orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise StageFault(
            f"{path.name}: {error}",
            where=shown,
            reason="the reference is plain text, pages, or JSON lines with the field text, all in UTF-8",
            fix="convert the file, or take it out of the reference",
        ) from None


def _read(path: Path) -> Iterator[str]:
    if path.suffix.lower() in _PAGES:
        yield page_text(path.read_text("utf-8-sig"), main_content=True)
        return
    with path.open("rb") as file:
        if path.suffix.lower() == ".jsonl":
            yield from (_text_of(orjson.loads(line)) for line in file if not line.isspace())
        else:
            while lines := file.readlines(_BLOCK):
                yield b"".join(lines).decode("utf-8-sig")


def _text_of(row: Any) -> str:
    text = row["text"]
    if not isinstance(text, str):
        raise TypeError("text is no string")
    return text
