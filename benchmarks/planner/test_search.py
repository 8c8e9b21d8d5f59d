"""The search over all layouts of 1,024 devices, and the same question answered by trying everything with the whole ledger.

    python -m pytest benchmarks/planner --benchmark-columns=min,median,rounds

The search asks only for the peak, measures a network once for each micro batch, and halves the ways to split a batch; the
reference does none of that. Both find the same layouts.
"""

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "unit" / "compiler" / "planning"))

from exhaustive import fitting
from networks import GB, LLAMA_70B, LORA, ON_ASCEND, work

from compiler.planning.devices import Devices
from compiler.planning.layouts import search

CLUSTER = Devices("ascend", 1024, 64 * GB, "hccs", 128)
TRAINING = work(LLAMA_70B, replace(ON_ASCEND, micro_batch=16, seq_length=4096), 4096)
TUNING = replace(work(LLAMA_70B, replace(LORA, micro_batch=16, seq_length=4096, target="ascend"), 1024), stage="finetune")


def test_search_of_1024_devices(benchmark: Any) -> None:
    benchmark.group = "all layouts of 1,024 devices"
    found = benchmark(search, [TRAINING], CLUSTER)
    assert found.best is not None


def test_search_for_two_trainings_that_share_a_layout(benchmark: Any) -> None:
    found = benchmark(search, [TRAINING, TUNING], CLUSTER)
    assert found.best is not None


def test_the_same_by_trying_everything_with_the_whole_ledger(benchmark: Any) -> None:
    benchmark.group = "all layouts of 1,024 devices"
    tried = benchmark.pedantic(fitting, (TRAINING, CLUSTER), rounds=1)
    assert tried == {one.shape._replace(micro_batches=1) for one in search([TRAINING], CLUSTER).candidates}


def test_it_takes_less_than_a_fifth_of_a_second() -> None:
    """Processor time, so that a busy machine does not count."""
    times: list[float] = []
    for _ in range(5):
        start = time.process_time()
        search([TRAINING, TUNING], CLUSTER)
        times.append(time.process_time() - start)
    assert min(times) < 0.2
