"""Corpora that would take too long or too much memory, were deduplication not linear."""

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from deduplicating import Deduplicated, edited, of_texts, paragraph, settings

from runtime import records
from runtime.contracts.dedup import Lines
from runtime.data.deduplication import near
from runtime.records import Record

LINES = Lines(exact=True, min_length=20)
LINE = "the same line again and again, of some length"


def test_an_empty_corpus(tmp_path: Path) -> None:
    done = Deduplicated(tmp_path, [], settings(lines=LINES))
    assert done.kept == []
    assert done.funnel.total.documents_in == 0
    assert (done.out / "clusters.jsonl").read_bytes() == b""


def test_all_documents_are_the_same(tmp_path: Path) -> None:
    done = Deduplicated(tmp_path, of_texts([LINE] * 20_001), settings(lines=LINES))  # two parts
    assert [record.id for record in done.kept] == ["0"]
    assert done.metrics["cluster_sizes"] == {"exact_duplicate": {"16384-32767": 1}}
    (shown,) = map(orjson.loads, (done.out / "clusters.jsonl").read_bytes().splitlines())
    assert (shown["size"], len(shown["members"]), shown["kept"]) == (20_001, 10, "0")


def test_a_line_of_all_documents(tmp_path: Path) -> None:
    done = Deduplicated(tmp_path, of_texts([f"{LINE}\n{paragraph(seed, 60)}" for seed in range(2000)]), settings(lines=LINES))
    assert len(done.kept) == 2000
    assert [LINE in text for text in done.texts] == [True] + [False] * 1999
    assert done.metrics["lines_removed"] == {"s": 1999}


def test_a_document_of_one_line(tmp_path: Path) -> None:
    text = "\n".join([LINE] * 100_000)
    done = Deduplicated(tmp_path, of_texts([text, f"{LINE}\n{paragraph(1)}"]), settings(lines=LINES))
    assert done.texts == [paragraph(1)]
    assert done.funnel.total.dropped == {"repeated_lines": 1}  # of the first, one line in a hundred thousand would be left


def test_documents_without_tokens(tmp_path: Path) -> None:
    done = Deduplicated(tmp_path, of_texts(["…" * (1 + place % 7) for place in range(500)]), settings(lines=LINES))
    assert len(done.kept) == 7
    assert set(done.metrics["clusters"]) == {"exact_duplicate"}


def test_a_bucket_of_very_many_alike_is_compared_once_a_member(tmp_path: Path) -> None:
    texts = [edited(paragraph(1), 1, seed) + str(seed) for seed in range(3000)]
    done = Deduplicated(tmp_path, of_texts(texts), settings())
    assert len(done.kept) == 1
    assert done.metrics["pairs_compared"] < 1.05 * len(texts)


def test_a_bucket_of_very_many_that_are_not_alike_is_compared_with_some(tmp_path: Path) -> None:
    form = paragraph(1, 60)  # a form whose filling differs: half of the shingles are common
    done = Deduplicated(tmp_path, of_texts([form + paragraph(seed, 60) for seed in range(1000)]), settings())
    assert len(done.kept) == 1000
    assert done.metrics["pairs_compared"] < near.LEADERS * 1000


@pytest.mark.slow
def test_giant_documents(tmp_path: Path) -> None:
    texts = [paragraph(1, 3_300_000), "a b c d e f g h " * 600_000, "x" * 10_000_000, paragraph(1, 3_300_000)[5:]]
    done = Deduplicated(tmp_path, of_texts(texts), settings(lines=LINES))
    assert done.texts == texts[:3]
    assert done.funnel.total.dropped == {"near_duplicate": 1}


MEASURED = """
import resource, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from deduplicating import LARGE, settings
from runtime import records
from runtime.data.dedup import Corpus, Deduplication
from runtime.placement import Placement

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    corpus = Corpus(records.parts(folder / "in"), folder / "work", folder / "out", [], Placement(workers=2))
    Deduplication(settings(lines=LARGE), corpus).run()
    own = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    print(int(own.split()[1]) * 1024, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""
MOST = 250_000_000  # bytes of the stage's process, and of a worker


def peaks(folder: Path, megabytes: int) -> tuple[int, int]:
    """Bytes that were resident at most: of the stage's process, and of the larger of two workers.

    Its own peak is read from the kernel's status, because that of `getrusage` starts with what the calling process had.
    """
    (folder / "out").mkdir(parents=True)
    records.write(folder / "in", corpus(megabytes))
    script = folder / "measured.py"
    script.write_text(MEASURED.format(tests=str(Path(__file__).parent)))
    done = subprocess.run([sys.executable, script, folder], check=True, capture_output=True, text=True, cwd=Path(__file__).parents[4])
    parent, worker = map(int, done.stdout.split())
    return parent, worker


def corpus(megabytes: int) -> Iterator[Record]:
    """Half English-like, half Chinese; one document in ten is near an earlier one, one line in ten is of another."""
    dice, words = random.Random(1), [f"word{number}" for number in range(20_000)]
    texts: list[str] = []
    size = number = 0
    while size < megabytes * 1_000_000:
        if texts and dice.random() < 0.1:
            text = edited(dice.choice(texts), 2, number)
        elif number % 2:
            text = "\n".join(" ".join(dice.choices(words, k=12)) for _ in range(30))
        else:
            text = "\n".join(paragraph(dice.randrange(10**9), 60) for _ in range(15))
        texts[number % 500 : number % 500 + 1] = [text]
        size, number = size + len(text.encode()), number + 1
        yield Record(str(number), text, "s")


@pytest.mark.slow
def test_memory_is_that_of_a_part_and_a_partition(tmp_path: Path) -> None:
    assert max(peaks(tmp_path, 60)) < MOST
