"""Build the mixed corpus of the benchmarks: about 125 MB of real English and Chinese text, samples of it, and more of its kind.

    python benchmarks/data/corpus.py FOLDER [--packages FOLDER] [--grown MEGABYTES] [--wide]

FOLDER lies outside the repository and gets

    mixed/text/{english,chinese,poems,manuals}.jsonl    70 / 7 / 38 / 10 MB of text, a document a line
    mixed/html/{english,chinese}/                        40 / 20 MB of the pages that the text came from, as they were
    sample/                                              the same in about a twelfth: 10 MB of text
    grown-MEGABYTES/text/*.jsonl                         with --grown: sentences moved between documents with a seed; for growth alone
    wide/                                                with --wide: much more real text, in many formats; see `wide.py`

Packages are fetched as `packages.py` says, into `--packages` (FOLDER/packages by default). No random generator decides what is
taken: a document is in the sample, and stands where it stands, by the hash of its text. `made.json` names sizes and digests.
"""

import argparse
import hashlib
import random
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson
import xxhash

sys.path.insert(0, str(Path(__file__).parent))
import wide
from packages import CHINESE, COLLECTIONS, ENGLISH, MANUALS, POEMS, Collection, Document, fetch

MEGABYTES = {ENGLISH: 70, CHINESE: 7, POEMS: 38, MANUALS: 10}
HTML_MEGABYTES = {ENGLISH: 40, CHINESE: 20}
SAMPLE_SHARE = 12  # one document in so many
SEED = 20
PIECE = re.compile(r"[^\n.!?。！？；]+[.!?。！？；]*|[.!?。！？；]+")
MB = 1_000_000


def collected(packages: Path, source: str) -> Iterator[tuple[Collection, Document]]:
    """The documents of a source, package after package, until a package's share or the source's size is reached."""
    room = MEGABYTES[source] * MB
    for one in (one for one in COLLECTIONS if one.source == source):
        most = room if one.megabytes is None else min(room, int(one.megabytes * MB))
        for document in one.read(packages / one.package):
            size = len(document.text.encode())
            if size <= most:
                most, room = most - size, room - size
                yield one, document


def build(packages: Path, folder: Path) -> None:
    """Write `mixed` and `sample`."""
    for name in ("mixed", "sample"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name / "text").mkdir(parents=True)
    for source in MEGABYTES:
        page_room = HTML_MEGABYTES.get(source, 0) * MB
        with (folder / f"mixed/text/{source}.jsonl").open("wb") as mixed, (folder / f"sample/text/{source}.jsonl").open("wb") as sample:
            for collection, document in collected(packages, source):
                few = xxhash.xxh3_64_intdigest(document.text.encode()) % SAMPLE_SHARE == 0
                for file in (mixed, sample) if few else (mixed,):
                    file.write(line(collection, document.name, document.text))
                if document.html and len(document.html) <= page_room:
                    page_room -= len(document.html)
                    write_page(folder, source, collection, document, few)
    for name in ("mixed", "sample"):
        describe(folder / name)


def line(collection: Collection, name: str, text: str) -> bytes:
    """A document as a row of a JSONL file."""
    return orjson.dumps({"name": f"{collection.package}/{name}", "text": text}, option=orjson.OPT_APPEND_NEWLINE)


def write_page(folder: Path, source: str, collection: Collection, document: Document, few: bool) -> None:
    """A page under a name of one level: what it is called in its package."""
    name = f"{collection.package}-{document.name.removeprefix('usr/share/doc/').replace('/', '-')}"
    for corpus in ("mixed", "sample") if few else ("mixed",):
        path = folder / corpus / "html" / source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(document.html or b"")


def grow(folder: Path, megabytes: int) -> None:
    """Write `grown-MEGABYTES/text`: as many shuffled copies of `mixed/text` as it takes, the last one cut."""
    target = folder / f"grown-{megabytes}"
    shutil.rmtree(target, ignore_errors=True)
    (target / "text").mkdir(parents=True)
    paths = sorted((folder / "mixed/text").glob("*.jsonl"))
    whole = sum(path.stat().st_size for path in paths)
    for path in paths:
        room = megabytes * MB * path.stat().st_size // whole
        with (target / "text" / path.name).open("wb") as file:
            for row in copies(path):
                if file.tell() >= room:
                    break
                file.write(row)
    describe(target)


def copies(path: Path) -> Iterator[bytes]:
    """The documents of a file as they are, then again and again with their sentences moved between them."""
    rows = [orjson.loads(one) for one in path.read_bytes().splitlines()]
    yield from (orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
    number = 0
    while rows:
        number += 1
        texts = moved([row["text"] for row in rows], random.Random(f"{SEED}:{path.name}:{number}"))
        for row, text in zip(rows, texts, strict=True):
            yield orjson.dumps({"name": f"{row['name']}#{number}", "text": text}, option=orjson.OPT_APPEND_NEWLINE)


def moved(texts: list[str], chance: random.Random) -> Iterator[str]:
    """Texts with as many sentences and lines as before, each sentence now one from anywhere.

    Whole paragraphs would be copies of lines for the removal of copied lines, and nothing would be left of the growth.
    """
    pool = [piece for text in texts for piece in PIECE.findall(text)]
    chance.shuffle(pool)
    pieces = iter(pool)
    for text in texts:
        yield PIECE.sub(lambda _: next(pieces), text)


def describe(folder: Path) -> None:
    """Write `made.json`: for each file or folder of pages its documents, bytes and digest."""
    made = {str(path.relative_to(folder)): measured([path]) for path in sorted((folder / "text").glob("*.jsonl"))}
    made |= {f"html/{path.name}": measured(sorted(path.iterdir())) for path in sorted((folder / "html").glob("*"))}
    (folder / "made.json").write_bytes(orjson.dumps(made, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    print(folder, *(f"{name} {one['documents']:,} documents {one['bytes'] / MB:.1f} MB" for name, one in made.items()), sep="\n  ")


def measured(paths: Iterable[Path]) -> dict[str, Any]:
    """Documents, bytes of their text (of a page: as it is), SHA-256 of the file contents."""
    digest, documents, size = hashlib.sha256(), 0, 0
    for path in paths:
        with path.open("rb") as file:
            for row in file if path.suffix == ".jsonl" else (file.read(),):
                digest.update(row)
                documents += 1
                size += len(orjson.loads(row)["text"].encode()) if path.suffix == ".jsonl" else len(row)
    return {"documents": documents, "bytes": size, "sha256": digest.hexdigest()}


def main() -> None:
    """Read the command line, fetch what is missing, build."""
    assert __doc__ is not None
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folder", type=Path)
    options.add_argument("--packages", type=Path)
    options.add_argument("--grown", type=int, action="append", default=[], metavar="MEGABYTES")
    options.add_argument("--wide", action="store_true", help="over 300 MB of real text in many formats")
    chosen = options.parse_args()
    packages = chosen.packages or chosen.folder / "packages"
    fetch(packages)
    if not (chosen.folder / "mixed/made.json").exists():
        build(packages, chosen.folder)
    for megabytes in chosen.grown:
        grow(chosen.folder, megabytes)
    if chosen.wide:
        wide.build(packages, chosen.folder)


if __name__ == "__main__":
    main()
