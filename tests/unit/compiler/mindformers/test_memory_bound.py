"""The memory that MindSpore may take is placement: it follows the device, and no stage file holds it."""

from typing import Any

import pytest

from compiler.lower.graph import lower
from tests.unit.compiler.mindformers.plans import PROJECT, made


@pytest.mark.parametrize(
    ("target", "memory", "bound"),
    [("ascend", 64_000_000_000, "59GB"), ("gpu", 24 * 2**30, "24GB"), ("gpu", 2**30 - 1, None), ("cpu", 64_000_000_000, None)],
)
def test_bound_is_the_memory_in_whole_units_of_mindspore(target: str, memory: int, bound: str | None) -> None:
    graph = lower(made({"device.target": target, "device.memory": memory}), PROJECT)
    assert graph.placement.get("max_device_memory") == bound
    assert not any("max_device_memory" in str(node.config) for node in graph.stages)


def test_no_stage_file_changes_with_the_memory() -> None:
    def configs(memory: int) -> list[Any]:
        return [node.config for node in lower(made({"device.target": "ascend", "device.memory": memory}), PROJECT).stages]

    assert configs(32 * 10**9) == configs(64 * 10**9)
