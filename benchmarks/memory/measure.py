"""Measure the memory of real trainings and compare it with the ledger.

    python benchmarks/memory/measure.py [NAME ...]

Each configuration is trained in a process of its own, one after the other (about a minute and up to 5 GB each). What was
measured is kept in measured.json; the table of README.md is written from it and from what the ledger says now.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from benchmarks.memory.configurations import CONFIGURATIONS, Configuration  # noqa: E402

MEASURED, PAGE = HERE / "measured.json", HERE / "README.md"
BEGIN, END = "<!-- table: begin -->\n", "<!-- table: end -->\n"
HEADER = """\
| training | layers x hidden / heads (kv) / vocabulary | rows x tokens | activations, loss, their tables | measured | ledger | off by | |
|---|---|---|---:|---:|---:|---:|---|
"""


def train(one: Configuration) -> int:
    """Peak in bytes of one configuration, trained in another process. Raises RuntimeError with the end of its log."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(HERE / "train_once.py"), json.dumps(one.shape()), folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{one.name}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return int(json.loads(done.stdout.splitlines()[-1])["peak"])


def activations(one: Configuration) -> int:
    """Bytes in the ledger that are there because of the tokens: what layers and the loss keep, and the tables of their kernels."""
    stage = one.ledger().stages[0]
    items = {row.item: row.bytes for row in stage.rows}
    learnt = items["optimizer"] // 8 * 32  # two divisions of an update, 16 bytes each
    return items["activations"] + items["logits"] + items["tables"] - learnt


def line(one: Configuration, peak: int) -> str:
    """One row of the table."""
    predicted = one.ledger().peak
    shape = f"{one.layers} x {one.hidden} / {one.heads} ({one.kv}) / {one.vocab}"
    numbers = f"{activations(one) / 1e6:.0f} MB | {peak / 1e6:.0f} MB | {predicted / 1e6:.0f} MB | {100 * (predicted / peak - 1):+.1f} %"
    return f"| {one.name} | {shape} | {one.batch} x {one.seq} | {numbers} | {'fitted' if one.fitted else 'held out'} |\n"


def write_page(measured: dict[str, int]) -> None:
    """Put the table between its two marks."""
    table = HEADER + "".join(line(one, measured[one.name]) for one in CONFIGURATIONS if one.name in measured)
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(before + BEGIN + table + END + rest.split(END)[1])


def main(names: list[str]) -> None:
    """Measure the named configurations, or all; print and keep each as soon as it is there."""
    measured: dict[str, int] = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
    for one in CONFIGURATIONS:
        if one.name in names or not names:
            measured[one.name] = train(one)
            MEASURED.write_text(json.dumps(measured, indent=2, sort_keys=True) + "\n")
            print(line(one, measured[one.name]), end="", flush=True)
    write_page(measured)


if __name__ == "__main__":
    main(sys.argv[1:])
