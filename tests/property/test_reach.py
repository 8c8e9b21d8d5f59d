"""Every field is changed, and what changes with it is what its declaration says.

Placement and presentation reach no file that a stage reads, but `placement.yaml`, which none depends on, and
`presentation.yaml`, which the report alone does. Identity reaches the configuration of exactly the stages that
`compiler/spec/reach.py` names, under the mindformers keys that it names, and then what reads their results.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from compiler.difference import Difference, Side, difference
from compiler.source import dotted, leaves
from compiler.spec import DeclaredField, fields
from compiler.spec.reach import MINDFORMERS, STAGES, TRAININGS, mindformers_of, stages_of
from runtime.contracts.registry import EVERY
from tests.property import mutation
from tests.property.contexts import CONTEXTS, ONE_VALUE
from tests.property.mutation import Context, Experiments, Mutation, select, single_valued

DECLARED = {one.path: one for one in fields()}
CHANGEABLE = [one for one in DECLARED.values() if not single_valued(one) and one.path not in ONE_VALUE]
IDENTITY = [one for one in CHANGEABLE if one.field_class == "identity"]
OTHERS = [one for one in CHANGEABLE if one.field_class != "identity"]

APART = re.compile(r"config/mindformers-\w+\.yaml")  # for people who start mindformers themselves: no stage reads them
FREE = {"placement": {"placement.yaml"}, "presentation": {"presentation.yaml"}}
# What dividing work over devices turns on, whichever of its degrees is above one.
DIVIDED = ("use_parallel", "auto_trans_ckpt", "load_checkpoint", "context.device_id", "callbacks.integrated_save", "runner_wrapper.type")
DIVIDED += ("parallel", "parallel_config")

# Fields that name files which a stage depends on.
DEPENDENCIES = (
    ".path",
    ".cases",
    ".classifier.rows",
    ".reference",
    ".prompt",
    ".transcript",
    ".checkpoint",
    ".decontaminate.evaluation",
    ".decontaminate.paths",
)

by_path = pytest.mark.parametrize


@pytest.fixture(scope="module")
def experiments(tmp_path_factory: pytest.TempPathFactory) -> Experiments:
    return Experiments(tmp_path_factory.mktemp("project"))


def test_values_that_contexts_share_stay_as_they_are() -> None:
    shared = {"model": {"kind": "one"}}
    other = mutation.changed({"recipes": None}, {"recipes": {"first": shared}, "recipes.*.model.kind": "other"})
    assert (other["recipes"]["first"], shared) == ({"model": {"kind": "other"}}, {"model": {"kind": "one"}})


def mutated(experiments: Experiments, declared: DeclaredField) -> Mutation:
    found = experiments.mutation(declared, CONTEXTS.get(declared.path, Context()))
    assert isinstance(found, Mutation), (
        f"{declared.path}: no other value is legal; tried {found}. Give it a Context in tests/property/contexts.py: `to`, another "
        "value; `given`, what must stand around it; `along`, what changes with it. ONE_VALUE there is for fields with one legal value."
    )
    return found


def told(found: Mutation) -> Difference:
    return difference(Side(found.before, Path()), Side(found.after, Path()), root_stages=("compare",))


def changed_files(found: Mutation) -> set[str]:
    return {one.path for one in told(found).files}


def names(declared: DeclaredField) -> str:
    return declared.path


@by_path("declared", OTHERS, ids=names)
def test_no_stage_file_changes_with_placement_or_presentation(declared: DeclaredField, experiments: Experiments) -> None:
    changed = changed_files(mutated(experiments, declared))
    if declared.path == "name":  # the folder is called after it, and the record says whose it is
        changed -= {"config/report.yaml"}
    assert changed <= FREE[declared.field_class]


@by_path("declared", IDENTITY, ids=names)
def test_identity_changes_the_stages_that_it_names(declared: DeclaredField, experiments: Experiments) -> None:
    found = mutated(experiments, declared)
    named = {stage for path in found.changed for stage in stages_of(path)}
    reached = {one.stage for one in told(found).reruns if one.direct} - {"report"}
    assert named, f"{declared.path}: say in STAGES of compiler/spec/reach.py which stages it reaches; it changes {sorted(reached)}"
    assert reached == named, f"{declared.path}: STAGES of compiler/spec/reach.py names {sorted(named)}, it changes {sorted(reached)}"


@by_path("declared", IDENTITY, ids=names)
def test_identity_changes_no_other_file(declared: DeclaredField, experiments: Experiments) -> None:
    found = mutated(experiments, declared)
    named = {stage for path in found.changed for stage in stages_of(path)}
    own = {f"config/{stage}.yaml" for stage in named} | {"params.json", "placement.yaml"}  # what fits a device, no stage depends on
    own |= {"dvc.yaml"} if declared.path.endswith(DEPENDENCIES) else set()
    own |= {"config/template.yaml"} if any(path.endswith("template") for path in found.changed) else set()
    own |= {"config/report.yaml"} if declared.path == "smoke" else set()  # the small twin has a name of its own
    own |= {file for path in found.changed - {declared.path} for file in FREE.get(DECLARED[path].field_class, ())}
    changed = {path for path in changed_files(found) if not APART.fullmatch(path)}
    assert changed <= own
    assert changed - {"params.json", "placement.yaml"}


def keys_changed(found: Mutation) -> set[str]:
    """Keys of the mindformers files that differ; the dataset that is written twice counts once."""
    before, after = ({node.name: node for node in one.graph.stages} for one in (found.before, found.after))
    return {key for stage in TRAININGS for key in differing(before[stage].config, after[stage].config)}


def differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    old, new = ({dotted(path): value for path, value in leaves(one)} for one in (before, after))
    for key in old.keys() | new.keys():
        if key not in old or key not in new or old[key] != new[key]:
            yield re.sub(r"\[\d+\]", "", key.replace("train_dataset_task.dataset_config.", "train_dataset."))


def below(key: str, above: str) -> bool:
    return key == above or key.startswith(f"{above}.")


@by_path("declared", [one for one in IDENTITY if one.path != "smoke"], ids=names)
def test_identity_becomes_the_mindformers_keys_that_it_names(declared: DeclaredField, experiments: Experiments) -> None:
    found = mutated(experiments, declared)
    divided = any(path.startswith(("parallel", "device.count")) for path in found.changed)
    named = {key for path in found.changed for key in mindformers_of(path)} | ({*DIVIDED} if divided else set())
    changed = keys_changed(found)
    stray = {key for key in changed if not any(below(key, one) for one in named)}
    idle = {one for one in mindformers_of(declared.path) if not any(below(key, one) for key in changed)}
    assert not stray, f"{declared.path}: add to MINDFORMERS of compiler/spec/reach.py: {sorted(stray)}"
    assert declared.path == "parallel" or not idle, f"{declared.path} does not become {sorted(idle)}: take it out of MINDFORMERS"


@by_path("declared", [one for one in DECLARED.values() if single_valued(one) and mindformers_of(one.path)], ids=names)
def test_a_single_value_becomes_a_key_that_is_written(declared: DeclaredField, experiments: Experiments) -> None:
    compiled = experiments.given(CONTEXTS.get(declared.path, Context()))
    config = next(node.config for node in compiled.graph.stages if node.name == "pretrain")
    assert all(select(config, key) is not None for key in mindformers_of(declared.path))


@by_path("declared", CHANGEABLE, ids=names)
def test_what_runs_again_is_what_the_dvc_files_say(declared: DeclaredField, experiments: Experiments) -> None:
    found = mutated(experiments, declared)
    before, after = Side(found.before, Path()).files, Side(found.after, Path()).files
    assert {one.stage for one in told(found).reruns} - {"compare"} == stale(before, after)


def stale(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> set[str]:
    """Stages that DVC runs again, from the files it reads alone: a changed entry, dependency or parameter, and what follows."""
    old, new = (yaml.safe_load(files["dvc.yaml"])["stages"] for files in (before, after))
    found: set[str] = set()
    written: set[str] = set()  # results of these
    for name, entry in new.items():
        changed = {path for path in entry["deps"] if path in written or before.get(path) != after.get(path)}
        if changed or old.get(name) != entry or parameters(before, entry) != parameters(after, entry):
            found.add(name)
            written |= {path for kind in ("outs", "metrics", "plots") for one in entry.get(kind, ()) for path in paths(one)}
    return found


def paths(result: str | Mapping[str, Any]) -> list[str]:
    """The path of a result, which has its options below it where there are any."""
    return [result] if isinstance(result, str) else list(result)


def parameters(files: Mapping[str, bytes], entry: Mapping[str, Any]) -> list[Any]:
    """Values of the parameters that a stage tracks."""
    tracked = [(path, key) for one in entry["params"] for path, keys in one.items() for key in keys]
    return [select(yaml.safe_load(files[path]), key) for path, key in tracked]


@by_path("path", ONE_VALUE)
def test_fields_of_one_value_have_no_other(path: str, experiments: Experiments) -> None:
    found = experiments.mutation(DECLARED[path], CONTEXTS.get(path, Context()))
    assert isinstance(found, list), f"{path} takes another value now: take it out of ONE_VALUE in tests/property/contexts.py"


def test_every_identity_field_names_its_stages() -> None:
    known = {*(one.name for one in EVERY), "compare"}
    assert [path for path, one in DECLARED.items() if one.field_class == "identity" and not stages_of(path)] == []
    assert {stage for stages in STAGES.values() for stage in stages} <= known


def test_tables_name_declared_fields_alone() -> None:
    above = {".".join(path.split(".")[:end]) for path in DECLARED for end in range(1, path.count(".") + 2)}
    assert set(STAGES) <= above
    assert {path.replace("training.", f"{stage}.") for stage in TRAININGS for path in MINDFORMERS} <= above | {
        path.replace("training.lora", "pretrain.lora") for path in MINDFORMERS
    }
    assert {path for path in (*CONTEXTS, *ONE_VALUE)} <= set(DECLARED)
