"""Each value knows where it was written."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from compiler.parse import experiments, load
from compiler.parse.files import read
from compiler.parse.places import Places
from compiler.parse.scalars import SpecLoader
from compiler.source import SourceTree, leaves

ROOT = Path(__file__).parents[4]
Project = Callable[[str], Path]


@pytest.mark.parametrize("name", [name for name, _ in experiments(ROOT)])
def test_every_value_is_found_at_its_place(name: str) -> None:
    tree = load(ROOT, name)
    found = [path for path, value in leaves(tree.values) if value == _value_at(tree, path)]
    assert len(found) == len(list(leaves(tree.values))) > 80


def _value_at(tree: SourceTree, path: tuple[str | int, ...]) -> object:
    """What stands in the file at the place of a value, up to the end of the scalar."""
    place = tree.places[path]
    line = (ROOT / place.file).read_text(encoding="utf-8").split("\n")[place.line - 1]
    assert line == place.text
    rest = line[place.column - 1 :]
    flow = "{" in line[: place.column] or "[" in line[: place.column]
    node = yaml.compose(f"[{rest}" if flow else rest, Loader=_Lenient) if not flow else _first_flow_scalar(rest)
    return SpecLoader("").construct_object(node)


class _Lenient(SpecLoader):
    """The rest of a line of a block mapping is one scalar."""


def _first_flow_scalar(rest: str) -> yaml.Node:
    depth, end = 0, len(rest)
    for index, char in enumerate(rest):
        depth += (char in "[{") - (char in "]}")
        if depth < 0 or (depth == 0 and char == ","):
            end = index
            break
    return yaml.compose(rest[:end], Loader=SpecLoader)


def test_later_layers_move_the_place(project: Project) -> None:
    root = project("model: {num_layers: 3}\n")
    tree = load(root, "try", ["model.num_heads=2"])
    assert str(tree.place(("model", "family"))) == "specs/model/small.yaml:1:9"
    assert str(tree.place(("model", "num_layers"))) == "specs/experiment/try.yaml:3:21"
    assert str(tree.place(("model", "num_heads"))) == "<override 1>:1:17"
    assert tree.place(("model", "num_heads")).text == "model.num_heads=2"


def test_overrides_are_numbered_as_given(project: Project) -> None:
    tree = load(project(""), "try", ["model=small", "+data.pretrain.sources.poems.path=a", "++seed=3"])
    assert str(tree.place(("seed",))) == "<override 3>:1:8"
    assert str(tree.key_place(("seed",))) == "<override 3>:1:3"
    assert str(tree.place(("data", "pretrain", "sources", "poems", "path"))) == "<override 2>:1:35"


def test_a_replaced_list_leaves_no_places(project: Project) -> None:
    root = project("finetune: {lora: {targets: [wq]}}\n")
    tree = load(root, "try")
    assert ("finetune", "lora", "targets", 1) not in tree.places
    assert str(tree.place(("finetune", "lora", "targets", 0))).startswith("specs/experiment/try.yaml")


def test_a_value_to_be_given_does_not_hide_a_given_one(project: Project) -> None:
    root = project("pretrain:\n  steps: ???\n")
    tree = load(root, "try")
    assert tree.values["pretrain"]["steps"] == 100
    assert tree.place(("pretrain", "steps")).file == "specs/mindspec.yaml"


def test_a_referring_value_is_placed_at_the_reference(project: Project) -> None:
    tree = load(project("finetune:\n  steps: ${pretrain.steps}\n  schedule: ${pretrain.schedule}\n"), "try")
    assert tree.values["finetune"]["steps"] == 100
    assert str(tree.place(("finetune", "steps"))) == "specs/experiment/try.yaml:4:10"
    assert str(tree.place(("finetune", "schedule", "peak"))).startswith("specs/")


def test_columns_count_characters(project: Project) -> None:
    tree = load(project('data: {pretrain: {filter: {deny: ["广告", 结尾]}}}\n'), "try")
    place = tree.place(("data", "pretrain", "filter", "deny", 1))
    assert place.text[place.column - 1 :].startswith("结尾")


def test_an_override_leaves_the_places_of_a_group_s_other_values(project: Project) -> None:
    """Only the group's file says anything of `model`, so nothing stands at `model` itself."""
    tree = load(project(""), "try", ["model.num_layers=3"])
    assert str(tree.place(("model", "num_layers"))) == "<override 1>:1:18"
    assert str(tree.place(("model", "num_heads"))) == "specs/model/small.yaml:5:12"


def test_a_long_list_is_placed_in_linear_time(tmp_path: Path) -> None:
    words = [f"w{number}" for number in range(10_000)]
    (tmp_path / "long.yaml").write_text(f"deny: [{', '.join(words)}]\n")
    file, places = read(tmp_path, tmp_path / "long.yaml"), Places()
    begun = time.process_time()
    places.add_file(file, ())
    assert time.process_time() - begun < 2  # looking through all items for each of them takes 10
    assert places.values["deny", len(words) - 1].line == 1
