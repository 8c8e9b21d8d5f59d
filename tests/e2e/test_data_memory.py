"""The memory of a data stage is that of a part, a batch or a partition: four times the corpus takes no more."""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.e2e.data_stages import compiled, demo_data, run, wanted

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
FEW, TIMES = 1000, 4  # documents of each language
MORE = 7_000_000  # bytes that the larger run may take more: what is kept of every document, and what an allocator leaves
LEAST = 8_000_000  # bytes of text by which the corpora differ
STOP_WORDS = ("the", "be", "to", "of", "and", "that", "have", "with")
# What a stage holds at a time, made so small that both corpora are many times as large; prints the peak of its process.
STAGE = """
import sys
from pathlib import Path
from runtime import records
from runtime.data import clean, mindrecord, pieces, row_files
from runtime.data.deduplication import near, partitions, survey
records.PART, pieces.GROUP, pieces.SAMPLE, row_files.PIECE = records.Limit(2000, 500_000), 500_000, 500_000, 500_000
clean.BATCH_CHARACTERS, survey.BATCH, near.CACHE, partitions.PARTITION = 200_000, 100_000, 500_000, 500_000
mindrecord.PAGE = 1 << 15  # the index of a file is written for as many rows as there are in a page of their fields
from runtime.__main__ import main
code = main(sys.argv[1:])
print(next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")))
sys.exit(code)
"""


def peaks(root: Path, documents: int) -> dict[str, int]:
    """Stage -> bytes that were resident at most."""
    for name, of_one in (("english", english), ("chinese", chinese)):
        _write(root / f"data/{name}.jsonl", ({"text": of_one(number)} for number in range(documents)))
    rows = ({"instruction": english(number)[:40], "input": "", "output": english(number)[99:199]} for number in range(2 * documents))
    _write(root / "data/rows.jsonl", rows)
    folder = compiled(
        root, data(documents), ["tokenizer.vocab_size=3000", "tokenizer.training_bytes=1MB", "launch.workers=1", "launch.threads=1"]
    )
    return {stage: peak(folder, stage) for stage in wanted(folder)}


def peak(folder: Path, stage: str) -> int:
    """Bytes that were resident at most in one run of a stage."""
    return int(run([sys.executable, "-c", STAGE, stage], folder)) * 1024


def _write(path: Path, rows: Iterator[dict[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def english(number: int) -> str:
    """Sentences of invented words; one document in ten is almost the one before it."""
    dice = random.Random(number - (number % 10 == 9))
    invented = ["".join(dice.choices("bdfgklmnprst", k=2) + dice.choices("aeiou", k=2) + dice.choices("nrstl", k=1)) for _ in range(240)]
    words = [word for one in invented for word in ((dice.choice(STOP_WORDS), one) if dice.random() < 0.2 else (one,))]
    return "\n".join((*(" ".join(words[at : at + 8]) + "." for at in range(0, len(words), 8)), f"And the number {number} of it."))


def chinese(number: int) -> str:
    dice = random.Random(-number - 1 + (number % 10 == 9))
    clauses = ["".join(chr(0x4E00 + dice.randrange(2000)) for _ in range(9)) for _ in range(60)]
    return "\n".join("，".join(clauses[at : at + 3]) + "。" for at in range(0, 60, 3)) + f"\n这是第{number}篇。"


def data(documents: int) -> dict[str, object]:
    given, sources = demo_data(), ("english", "chinese")
    text = {"format": "jsonl", "text_field": "text", "weight": 0.5}
    given["pretrain"]["sources"] = {
        name: {"path": f"data/{name}.jsonl", "language": tag, **text} for name, tag in zip(sources, ("en", "zh"), strict=True)
    }
    given["pretrain"]["mix"]["budget_bytes"] = documents * 3000
    given["instruct"]["sources"] = {"rows": {"path": "data/rows.jsonl", "format": "alpaca", "weight": 1.0}}
    return given


def test_four_times_the_corpus_takes_no_more_memory(tmp_path: Path) -> None:
    few, many = peaks(tmp_path / "few", FEW), peaks(tmp_path / "many", FEW * TIMES)
    sizes = [json.loads((tmp_path / f"{name}/experiments/same/metrics/filter.json").read_bytes())["bytes_in"] for name in ("few", "many")]
    assert sizes[1] - sizes[0] > LEAST
    for stage in (stage for stage in many if many[stage] - few[stage] > MORE):
        # The allocator, or large pages of the kernel, cost a single run some megabytes more; what grows does so in each.
        many[stage] = min(peak(tmp_path / "many/experiments/same", stage) for _ in range(3))
    grown = {stage: many[stage] - few[stage] for stage in many}
    print(yaml.safe_dump({stage: [few[stage] // 10**6, many[stage] // 10**6] for stage in many}))
    assert {stage: size for stage, size in grown.items() if size > MORE} == {}
