"""Composition: Hydra's order, files of people, and refusals instead of tracebacks."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from compiler.diagnostics import Faults
from compiler.parse import experiments, load
from compiler.validate import validate

Project = Callable[[str], Path]
ROOT = Path(__file__).parents[4]


def codes(root: Path, overrides: list[str] | None = None) -> list[str]:
    with pytest.raises(Faults) as caught:
        load(root, "try", overrides or [])
    return [fault.code for fault in caught.value.diagnostics]


def primary(root: Path, defaults: str, own: str = "") -> Path:
    file = root / "specs" / "mindspec.yaml"
    text = file.read_text(encoding="utf-8").partition("\n\n")[2]
    file.write_text(f"defaults: {defaults}\nmodel: {{num_layers: 5}}\n{own}{text}", encoding="utf-8")
    return root


def test_own_values_win_when_self_is_last(project: Project) -> None:
    root = primary(project(""), "[{model: small}, _self_, {experiment: '???'}]")
    assert load(root, "try").values["model"]["num_layers"] == 5


def test_the_group_wins_when_self_is_first(project: Project) -> None:
    root = primary(project(""), "[_self_, {model: small}, {experiment: '???'}]")
    assert load(root, "try").values["model"]["num_layers"] == 2


def test_the_order_must_be_stated(project: Project) -> None:
    assert codes(primary(project(""), "[{model: small}, {experiment: '???'}]")) == ["MS0105"]


def test_an_experiment_overrides_a_group(project: Project) -> None:
    root = project("defaults: [_self_, {override /model: large}]\n")
    (root / "specs" / "model" / "large.yaml").write_text("family: llama\nnum_layers: 9\n", encoding="utf-8")
    assert load(root, "try").values["model"] == {"family": "llama", "num_layers": 9}


def test_an_override_may_set_a_field_that_no_file_mentions(project: Project) -> None:
    tree = load(project(""), "try", ["model.dtype.compute=float16"])
    assert tree.values["model"]["dtype"] == {"compute": "float16"}


def test_sources_of_two_layers_are_all_kept(project: Project) -> None:
    root = project("data: {pretrain: {sources: {poems: {path: a, format: text}}}}\n")
    assert list(load(root, "try").values["data"]["pretrain"]["sources"]) == ["handbook", "poems"]


def test_an_index_outside_a_list_is_an_error(project: Project) -> None:
    assert codes(project(""), ["finetune.lora.targets.5=wq"]) == ["MS0119"]


def test_byte_order_mark_changes_nothing(project: Project) -> None:
    root = project("title: 标题\n")
    plain = load(root, "try")
    for file in (root / "specs").rglob("*.yaml"):
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert load(root, "try") == plain


def test_json_is_yaml(project: Project) -> None:
    root = project("")
    (root / "specs" / "experiment" / "try.yaml").write_text('# @package _global_\n{"name": "try", "seed": 7}', encoding="utf-8")
    assert load(root, "try").values["seed"] == 7


def test_line_ends_of_windows(project: Project) -> None:
    root = project("")
    (root / "specs" / "experiment" / "try.yaml").write_bytes(b"# @package _global_\r\nname: try\r\nseed: x\r\n")
    with pytest.raises(Faults) as caught:
        validate(load(root, "try"))
    assert str(caught.value.diagnostics[0].place) == "specs/experiment/try.yaml:3:7"


def test_package_line_below_the_schema_line(project: Project) -> None:
    root = project("")
    file = root / "specs" / "experiment" / "try.yaml"
    file.write_text("# yaml-language-server: $schema=x.json\n# @package _global_\nname: try\nseed: 9\n", encoding="utf-8")
    assert load(root, "try").values["seed"] == 9


def test_a_missing_package_line_is_explained(project: Project) -> None:
    root = project("")
    (root / "specs" / "experiment" / "try.yaml").write_text("name: try\nseed: 9\n", encoding="utf-8")
    with pytest.raises(Faults, match="@package _global_"):
        validate(load(root, "try"))


@pytest.mark.parametrize(
    "text",
    [
        "defaults: 3",
        "defaults: {a: b}",
        "defaults: [3]",
        "defaults: [[a], _self_]",
        "defaults: [_self_, _self_]",
        "defaults: [_self_, {a: {b: c}}]",
        "defaults: [_self_, {a: b, c: d}]",
        "defaults: [_self_, {override /model: nope}]",
        "defaults: [_self_, {override /nogroup: small}]",
        "defaults: [_self_, /nofile]",
        "defaults: [_self_, /experiment/try]",
        "defaults: [_self_, '${x}']",
        "defaults: [_self_, '???']",
        "defaults: [_self_, '']",
        "defaults: [_self_, {'': a}]",
        "defaults: [_self_, {/: a}]",
        "defaults: [_self_, {sometimes /model: small}]",
        "defaults: [_self_, {/model: '???'}]",
        "defaults: [_self_, {/experiment: good}]",
        "defaults: [_self_, {override /model@_global_: small}]",
        "defaults: [_self_, ../model/small]",
        "hydra: 3",
        "hydra: {job: {env_copy: [NO_SUCH_VARIABLE]}}",
        "launch: {workers: '${oc.env:NO_SUCH_VARIABLE}'}",
        "model: 3",
        "'': 3",
        "parallel: null",
    ],
)
def test_odd_files_are_refused_in_place(text: str, project: Project) -> None:
    with pytest.raises(Faults) as caught:
        validate(load(project(f"{text}\n"), "try"))
    assert all(fault.place and fault.place.file == "specs/experiment/try.yaml" for fault in caught.value.diagnostics)


def test_malformed_reference_is_located(project: Project) -> None:
    assert codes(project("title: ${oops\n")) == ["MS0111"]


def test_environment_is_for_placement_alone(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKERS", "3")
    root = project("launch: {workers: '${oc.decode:${oc.env:WORKERS}}'}\n")
    assert validate(load(root, "try")).launch.workers == 3
    assert codes(project("seed: ${oc.decode:${oc.env:WORKERS}}\n")) == ["MS0112"]
    assert codes(project("launch: {workers: '${oc.env:WORKERS}'}\nmodel: {num_layers: '${launch.workers}'}\n")) == ["MS0112"]


@pytest.mark.parametrize("call", ["now:%H", "hydra:job.name", "random:", "uuid:"])
def test_values_of_the_moment_are_refused_everywhere(call: str, project: Project) -> None:
    assert codes(project(f"launch: {{workers: '${{{call}}}'}}\n")) == ["MS0112"]


def test_a_reference_has_one_value_wherever_it_is_used(project: Project) -> None:
    tree = load(project("title: run ${seed}\ndescription: ${title} of ${name}\n"), "try", ["seed=5"])
    assert (tree.values["title"], tree.values["description"]) == ("run 5", "run 5 of try")


def test_quoted_comma_is_one_value(project: Project) -> None:
    assert load(project(""), "try", ['title="你好,世界"']).values["title"] == "你好,世界"
    assert codes(project(""), ["title=a,b"]) == ["MS0109"]


def test_chinese_needs_quotes_on_the_command_line_alone(project: Project) -> None:
    root = project("title: 语料/新闻\n")
    assert load(root, "try").values["title"] == "语料/新闻"
    with pytest.raises(Faults) as caught:
        load(root, "try", ["title=语料/新闻"])
    assert caught.value.diagnostics[0].suggestion == 'title="语料/新闻"'
    assert load(root, "try", [caught.value.diagnostics[0].suggestion]).values["title"] == "语料/新闻"


def test_faults_of_files_and_overrides_come_together(project: Project) -> None:
    assert codes(project("title: on\nseed: 1\nseed: 2\n"), ["a=1,2", "title=中"]) == ["MS0109", "MS0108", "MS0104", "MS0103"]


def test_name_may_differ_from_the_file(project: Project) -> None:
    root = project("")
    (root / "specs" / "experiment" / "try.yaml").rename(root / "specs" / "experiment" / "other.yaml")
    assert load(root, "try").values["name"] == "try"
    assert experiments(root) == [("good", "specs/experiment/good.yaml"), ("try", "specs/experiment/other.yaml")]


@settings(max_examples=60, deadline=None)
@given(text=st.text(alphabet=st.sampled_from("ab.=+~[]{}(),:'\"\\ $中0-|@/"), max_size=14))
def test_no_override_gives_a_traceback(text: str) -> None:
    try:
        validate(load(ROOT, "smoke", [text]))
    except Faults as faults:
        assert faults.diagnostics


@settings(max_examples=60, deadline=None)
@given(text=st.text(alphabet=st.sampled_from("ab: -{}[],'\"\n\t#&*!|>%@?$\x00\x85中0"), max_size=24))
def test_no_file_gives_a_traceback(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("specs")
    (root / "specs" / "experiment").mkdir(parents=True)
    (root / "specs" / "mindspec.yaml").write_text("defaults: [_self_, {experiment: '???'}]\n", encoding="utf-8")
    (root / "specs" / "experiment" / "try.yaml").write_text(f"# @package _global_\n{text}", encoding="utf-8", newline="")
    for step in (lambda: validate(load(root, "try")), lambda: experiments(root)):
        with pytest.raises(Faults):
            step()


@pytest.mark.parametrize("name", [name for name, _ in experiments(ROOT)])
def test_plain_hydra_composes_the_same_values(name: str) -> None:
    with initialize_config_dir(str(ROOT / "specs"), version_base="1.3"):
        config = compose("mindspec", [f"experiment={name}", "pretrain.schedule.peak=3e-4"])
    assert load(ROOT, name, ["pretrain.schedule.peak=3e-4"]).values == OmegaConf.to_container(config, resolve=True)


def test_composition_needs_no_heavy_library() -> None:
    code = (
        "import sys; from pathlib import Path; from compiler.parse import load; from compiler.validate import validate;"
        "validate(load(Path(sys.argv[1]), 'demo'));"
        "print([name for name in ('pandas', 'dvc', 'mindspore', 'numpy', 'polars', 'mindformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(ROOT)], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"
