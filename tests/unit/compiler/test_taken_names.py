"""Names that transformers and mindformers have given away."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from compiler import mindformers, taken_names
from compiler.taken_names import taken

ROOT = Path(__file__).parents[3]
# What `runtime` registers, by the kind of mindformers' registry.
OURS = {"callback": ("StopAtStep", "StopAtNonFinite"), "wrapper": ("CpuTrainOneStepCell",)}


def test_the_class_that_has_a_name_is_told() -> None:
    assert taken("qwen3") == "transformers.models.qwen3.configuration_qwen3.Qwen3Config"
    assert taken("telechat3") == "mindformers.models.telechat3.configuration_telechat3.TeleChat3Config"
    assert taken("LlamaConfig", "config") == "mindformers.models.llama.llama_config.LlamaConfig"
    assert taken("our-own-llama") is None
    assert taken("qwen3", "callback") is None


def test_the_names_are_those_of_the_locked_versions() -> None:
    locked = dict(line.split()[0].split("==") for line in (ROOT / "requirements.lock").read_text().splitlines() if "==" in line)
    assert dict(taken_names.versions()) == {name: locked[name] for name in ("mindformers", "transformers")}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in OURS.items() for name in names])
def test_a_class_of_ours_replaces_none_of_theirs(kind: taken_names.Kind, name: str) -> None:
    assert taken(name, kind) is None


def test_a_type_that_is_written_is_ours_or_theirs() -> None:
    written = {
        "callback": (mindformers.LossMonitor.type, mindformers.CheckpointMonitor.type),
        "lr": (mindformers.LearningRate.type,),
        "optimizer": (mindformers.Optimizer.type,),
        "trainer": (mindformers.Trainer.type,),
        "models": (mindformers.Arch.type,),
        "config": (mindformers.ModelConfig.type,),
    }
    assert [(kind, name) for kind, names in written.items() for name in names if not taken(name, kind)] == []  # type: ignore[arg-type]


def introspected(*command: str) -> str:
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, timeout=300, check=True)
    return done.stdout[done.stdout.index("{") :]


@pytest.mark.slow
def test_the_names_are_those_of_the_installed_libraries() -> None:
    assert introspected("tests/unit/compiler/registries.py", "--print") == taken_names.FILE.read_text(encoding="utf-8")


@pytest.mark.slow
def test_what_the_runtime_registers_is_what_is_listed_here() -> None:
    script = (
        "import json, mindformers\n"
        "from mindformers.tools.register import MindFormerRegister as register\n"
        "before = {kind: dict(names) for kind, names in register.registry.items()}\n"
        "from runtime.model import callbacks, training_cell\n"
        "new = {kind: sorted(set(names) - set(before[kind])) for kind, names in register.registry.items()}\n"
        "kept = all(register.registry[kind][name] is value for kind, names in before.items() for name, value in names.items())\n"
        "print(json.dumps({'new': {kind: names for kind, names in new.items() if names}, 'kept': kept}))"
    )
    found = json.loads(introspected("-c", script))
    assert found["kept"], "a class of mindformers was replaced"
    assert found["new"] == {kind: sorted(names) for kind, names in OURS.items()}
