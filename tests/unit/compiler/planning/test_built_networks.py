"""The counts of `Architecture` against networks that mindformers builds from the compiled configuration.

One process a backend: mindformers does not go from one to the other.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from compiler.families import FAMILIES
from compiler.lower.network import adapters, network
from compiler.mindformers.block import written
from compiler.parse import load
from compiler.plan import Plan
from compiler.planning.plan import plan
from compiler.project import find_project
from compiler.resolve.experiment import resolve
from compiler.spec import Spec

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[4]
CASES = {
    "llama": ["model=llama-tiny"],
    "grouped": ["model=llama-tiny", "model.num_kv_heads=2"],
    "tied": ["model=llama-tiny", "model.tie_embeddings=true"],
    "padded": ["model=llama-tiny", "model.vocab_size=4032"],
    "stretched": ["model=llama-tiny", "model.rope_scaling={factor: 8.0}"],
    "qwen2": ["model=qwen2-tiny"],
    "qwen2 with its tables apart": ["model=qwen2-tiny", "model.tie_embeddings=false"],
    "qwen3": ["model=qwen3-tiny", "device=ascend"],
    "qwen3 with its tables apart": ["model=qwen3-tiny", "device=ascend", "model.tie_embeddings=false"],
}
# Building needs no kernel, so that the graphs of Ascend are built on a CPU, too.
PROGRAM = """
import json, sys
from mindformers import build_context
from mindformers.models.llama import LlamaConfig, LlamaForCausalLM
from mindformers.models.qwen3 import Qwen3Config, Qwen3ForCausalLM
from mindformers.pet import get_pet_model
from mindformers.pet.pet_config import LoraConfig

def build(config, legacy):
    build_context({"use_legacy": legacy, "context": {"mode": 0, "device_target": "CPU"}})
    left_out = ("type", "pet_config", "parallel_config")
    sizes = {key: value for key, value in config.items() if key not in left_out}
    return LlamaForCausalLM(LlamaConfig(**sizes)) if legacy else Qwen3ForCausalLM(Qwen3Config(**sizes))

counts = {}
for name, (config, pet) in json.load(open(sys.argv[1])).items():
    legacy = "num_layers" in config
    model = build(config, legacy)
    every = sum(one.size for one in model.get_parameters())
    added = None
    if legacy:
        pet.pop("pet_type")
        tuned = get_pet_model(model, LoraConfig(**pet))
        added = sum(one.size for one in tuned.get_parameters()) - every
    counts[name] = [every, added]
json.dump(counts, open(sys.argv[2], "w"))
"""


def planned(overrides: list[str]) -> Plan:
    """The plan of the demo with another network, whether or not this machine trains it."""
    project = find_project(ROOT)
    spec = Spec.model_validate(load(ROOT, "demo", overrides).values)
    return plan(resolve(spec, project))


@pytest.fixture(scope="module")
def plans() -> dict[str, Plan]:
    return {name: planned(overrides) for name, overrides in CASES.items()}


@pytest.fixture(scope="module")
def built(plans: dict[str, Plan], tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[int]]:
    counts: dict[str, list[int]] = {}
    for backend in ("legacy", "mcore"):
        chosen = {name: one for name, one in plans.items() if FAMILIES[one.experiment.spec.model.family].backend == backend}
        counts |= build(tmp_path_factory.mktemp(backend), chosen)
    return counts


def build(folder: Path, plans: dict[str, Plan]) -> dict[str, list[int]]:
    """Name -> parameters of the built network, and those that adapters add to it."""
    asked: dict[str, Any] = {}
    for name, one in plans.items():
        pet = adapters(one.experiment.spec)
        assert pet is not None
        asked[name] = [written(network(one, 1, None))["model_config"], written(pet)]
    (folder / "asked.json").write_text(json.dumps(asked), "utf-8")
    (folder / "program.py").write_text(PROGRAM, "utf-8")
    command = [sys.executable, "program.py", "asked.json", "counts.json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr[-3000:]
    return json.loads((folder / "counts.json").read_text("utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_the_built_network_has_as_many_parameters(name: str, plans: dict[str, Plan], built: dict[str, list[int]]) -> None:
    assert plans[name].architecture.parameters == built[name][0]


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith("qwen3")])
def test_the_built_adapters_have_as_many_parameters(name: str, plans: dict[str, Plan], built: dict[str, list[int]]) -> None:
    lora = plans[name].experiment.spec.finetune.lora
    assert lora is not None
    assert plans[name].architecture.adapter_parameters(lora.rank, lora.targets) == built[name][1]
