"""The tables of the benchmarks: `python benchmarks/data/results.py [--write]` shows those of the last session, or writes RESULTS.md."""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KEPT = HERE.parents[1] / ".mindspec/bench-data.json"
ABOUT = """\
# Speed of the data stages

Written by `python benchmarks/data/results.py --write` after `make bench-data`. Speeds are MB (10^6 bytes) of UTF-8 text in each CPU
second, user and system time of all processes of a stage together, the start of Python and the loading of libraries included; one
worker, one thread. They hold beside other work on the machine. README.md says what is measured, and why datatrove drops other documents.
"""


def tables(found: Mapping[str, Any]) -> str:
    """Everything as Markdown."""
    return "\n\n".join("\n".join(one) for one in _tables(found)) + "\n"


def _tables(found: Mapping[str, Any]) -> Iterator[list[str]]:
    if "machine" in found:
        yield [f"Measured on {found['machine']}."]
    if stages := found.get("stages"):
        yield ["## Stages", "", *_table(("stage", "MB in", "CPU s", "MB/s", "peak MB"), map(_stage, stages))]
    if chains := found.get("chains"):
        yield ["## Chains", "", *_table(("chain", "MB in", "CPU s", "MB/s", "at least"), map(_chain, chains))]
    if encoding := found.get("encoding"):
        yield [
            "## Format, encode, pack",
            "",
            *_table(("work", "MB in", "CPU s", "MB/s", "of the tokenizer's own speed"), map(_encoding, encoding)),
        ]
    if ratio := found.get("datatrove"):
        times = ratio["ours"] / ratio["speed"]
        head = f"datatrove {ratio['version']}: {ratio['speed']:.2f} MB/s; here {ratio['ours']:.2f} MB/s: {times:.1f} times."
        rows = ((here, there, f"{count:,}", f"{size:.2f}") for here, there, count, size in ratio["fates"])
        yield ["## Against datatrove, 10 MB", "", head, "", *_table(("fate here", "fate there", "documents", "MB"), rows)]
    if growth := found.get("growth"):
        rows = ((f"{size / 1e6:,.0f}", f"{seconds:.1f}", f"{peak / 1e6:,.0f}") for size, seconds, peak in growth["points"])
        fixed, power = f"{growth['fixed']:.1f}", f"{growth['exponent']:.3f}"
        exponent = f"CPU seconds without those of an almost empty corpus ({fixed}) grow with the size to the power {power}."
        yield ["## Growth", "", *_table(("MB in", "CPU s of the chain", "peak MB"), rows), "", exponent]


def _stage(one: Mapping[str, Any]) -> Sequence[str]:
    size, seconds = one["bytes_in"] / 1e6, one["cpu_seconds"]
    return one["stage"], f"{size:.1f}", f"{seconds:.1f}", f"{size / seconds:.2f}", f"{one['peak_bytes'] / 1e6:,.0f}"


def _chain(one: Mapping[str, Any]) -> Sequence[str]:
    size, seconds = one["bytes_in"] / 1e6, one["cpu_seconds"]
    return one["chain"], f"{size:.1f}", f"{seconds:.1f}", f"{size / seconds:.2f}", f"{one['wanted']:.1f}"


def _encoding(one: Mapping[str, Any]) -> Sequence[str]:
    size, seconds = one["bytes_in"] / 1e6, one["cpu_seconds"]
    return one["work"], f"{size:.1f}", f"{seconds:.1f}", f"{size / seconds:.2f}", f"{size / seconds / one['own']:.2f}"


def _table(head: Sequence[str], rows: Any) -> list[str]:
    rule = [":--" if number == 0 else "--:" for number in range(len(head))]
    return [f"| {' | '.join(cells)} |" for cells in (head, rule, *rows)]


def main() -> None:
    """Show or write."""
    assert __doc__ is not None
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--write", action="store_true")
    found = json.loads(KEPT.read_text("utf-8"))
    if options.parse_args().write:
        (HERE / "RESULTS.md").write_text(f"{ABOUT}\n{tables(found)}", "utf-8")
    else:
        print(tables(found))


if __name__ == "__main__":
    main()
