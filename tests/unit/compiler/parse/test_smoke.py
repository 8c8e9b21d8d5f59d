"""`smoke: true`: less of everything, never more, the same way through every stage, another name."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compiler.diagnostics import Faults
from compiler.families import FAMILIES
from compiler.parse import load
from compiler.planning.architecture import architecture
from compiler.source import SourceTree, dotted, leaves
from compiler.spec import Spec
from compiler.validate import review

ROOT = Path(__file__).parents[4]
SIZES = sorted(path.stem for path in (ROOT / "specs/model").glob("*.yaml"))
RUNNABLE = [name for name in SIZES if not name.startswith("qwen3")]
Project = Callable[[str], Path]


def twin(*overrides: str, root: Path = ROOT, name: str = "demo") -> SourceTree:
    return load(root, name, ["smoke=true", *overrides])


def numbers(tree: SourceTree) -> dict[tuple[Any, ...], float]:
    return {path: value for path, value in leaves(tree.values) if isinstance(value, (int, float)) and not isinstance(value, bool)}


@pytest.mark.parametrize("size", RUNNABLE)
def test_every_size_becomes_a_small_twin_on_a_cpu(size: str) -> None:
    spec = review(twin(f"model={size}", "device=cpu")).spec
    assert spec.name == "demo--smoke"
    assert architecture(spec).parameters < 1_300_000
    assert spec.pretrain.steps <= 24 and spec.finetune.steps <= 12


@pytest.mark.parametrize("size", SIZES)
def test_a_twin_keeps_what_distinguishes_the_network(size: str) -> None:
    whole, small = (load(ROOT, "demo", [f"model={size}", *more]).values["model"] for more in ([], ["smoke=true"]))
    assert whole["family"] == small["family"]
    assert whole.get("tie_embeddings") == small.get("tie_embeddings")
    assert whole["num_heads"] * small["num_kv_heads"] == small["num_heads"] * whole["num_kv_heads"]
    assert (whole["num_kv_heads"] > 1) == (small["num_kv_heads"] > 1)
    head = small.get("head_dim") or small["hidden_size"] // small["num_heads"]
    assert head % 2 == 0
    assert ("head_dim" in whole) == ("head_dim" in small)
    assert (head * small["num_heads"] != small["hidden_size"]) <= FAMILIES[whole["family"]].own_head_dim


@pytest.mark.parametrize("size", SIZES)
def test_no_number_grows(size: str) -> None:
    overrides = [f"model={size}", "pack.shards=8", "compare.gate=true"]
    whole, small = numbers(load(ROOT, "demo", overrides)), numbers(twin(*overrides))
    assert whole.keys() <= small.keys()  # the budget was a text such as 5.4MB
    assert all(small[path] <= whole[path] for path in whole)


def test_sources_targets_and_metrics_stay() -> None:
    whole, small = load(ROOT, "demo").values, twin().values
    for path in (("data", "pretrain", "sources"), ("data", "instruct"), ("finetune", "lora", "targets"), ("evaluation", "metrics")):
        one, other = whole, small
        for part in path:
            one, other = one[part], other[part]
        assert one == other
    lora, shrunk = whole["finetune"]["lora"], small["finetune"]["lora"]
    assert shrunk["rank"] == 4 and shrunk["alpha"] / shrunk["rank"] == lora["alpha"] / lora["rank"]


def test_a_cluster_of_ascend_devices_becomes_one_cpu_and_says_which_overrides_it_does_not_take() -> None:
    overrides = [
        "model=llama2-70b", "device=ascend", "device.count=64", "device.nodes=8", "device.interconnect=hccs",
        "device.device_ids=[0,1,2,3,4,5,6,7]", "parallel.data=8", "parallel.tensor=8", "parallel.optimizer_sharding=1",
        "model.dtype.compute=bfloat16", "device.target=cpu",
    ]  # fmt: skip
    reviewed = review(twin(*overrides))
    spec = reviewed.spec
    assert (spec.device.count, spec.device.nodes, spec.device.device_ids, spec.device.interconnect) == (1, 1, (0,), "none")
    assert spec.parallel == Spec.model_fields["parallel"].default
    assert spec.model.dtype.compute == "float32"
    told = {dotted(one.path): str(one.place) for one in reviewed.warnings if one.code == "MS0122"}
    assert set(told) == {override.partition("=")[0] for override in overrides[2:-1]}
    assert told["device.count"] == "<override 4>:1:14"


@pytest.mark.parametrize(
    "override",
    [
        "model.seq_length=512", "model.num_layers=4", "model.hidden_size=128", "pretrain.steps=100", "finetune.micro_batch=16",
        "finetune.lora.rank=16", "tokenizer.vocab_size=3500", "data.pretrain.mix.budget_bytes=2000000", "pack.shards=8",
        "evaluation.suites.core.max_new_tokens=30", "finetune.schedule.warmup_steps=5", "compare.gate=true",
    ],
)  # fmt: skip
def test_an_override_beside_it_holds(override: str) -> None:
    name, _, value = override.partition("=")
    tree = twin(override)
    assert dict(map(lambda leaf: (dotted(leaf[0]), leaf[1]), leaves(tree.values)))[name] == (value == "true" or int(value))
    assert str(tree.place(tuple(name.split(".")))).startswith("<override 2>")
    assert not tree.overruled


def test_a_width_that_is_given_leaves_the_others_as_they_are() -> None:
    assert twin("model.num_heads=4").values["model"]["hidden_size"] == load(ROOT, "demo").values["model"]["hidden_size"]


def test_rows_that_may_not_fit_are_told_with_a_length_that_holds_them(project: Project) -> None:
    root = project("smoke: true\nmodel: {seq_length: 512}\n")
    rows = root / "data/raw/dialogues.jsonl"
    rows.write_text('{"instruction": "%s", "output": "Yes."}\n' % ("long " * 400) * 3)  # a question can be cut
    assert "MS0445" not in {one.code for one in review(load(root, "try")).warnings}
    rows.write_text('{"instruction": "Why?", "output": "%s"}\n' % ("because " * 150) * 3)
    (told,) = (one for one in review(load(root, "try")).warnings if one.code == "MS0445")
    assert told.suggestion == "model.seq_length=512"
    assert "MS0445" not in {one.code for one in review(load(root, "try", [told.suggestion])).warnings}


def test_an_automatic_layout_becomes_one_device() -> None:
    assert review(twin("parallel=auto")).spec.parallel == Spec.model_fields["parallel"].default


def test_a_padded_table_stays_padded_and_one_too_small_is_refused_with_its_real_sizes(project: Project) -> None:
    given = twin("model=qwen2.5-7b", "tokenizer.vocab_size=4000").values
    assert (given["tokenizer"]["vocab_size"], given["model"]["vocab_size"]) == (4000, 4064)
    root = project("smoke: true\nmodel: {vocab_size: 152064}\ntokenizer: {vocab_size: 151665}\n")
    padded = load(root, "try").values
    assert (padded["tokenizer"]["vocab_size"], padded["model"]["vocab_size"]) == (3000, 3064)
    exact = load(project("smoke: true\nmodel: {vocab_size: 32000}\ntokenizer: {vocab_size: 32000}\n"), "try").values
    assert exact["tokenizer"]["vocab_size"] == exact["model"]["vocab_size"] == 3000
    with pytest.raises(Faults) as caught:
        review(twin("model=llama2-7b", "tokenizer.vocab_size=50000"))
    assert "32000 rows of embeddings for 50000 pieces of the tokenizer" in {fault.message for fault in caught.value.diagnostics}


def test_what_was_lowered_has_its_place_at_the_override() -> None:
    tree = twin()
    assert str(tree.place(("pretrain", "steps"))) == "<override 1>:1:7"
    assert str(tree.place(("model", "hidden_size"))) == "<override 1>:1:7"
    assert tree.place(("seed",)).file == "specs/mindspec.yaml"
    assert ("pretrain", "steps") not in tree.written


def test_the_key_in_an_experiment_file_does_the_same(project: Project) -> None:
    root = project("smoke: true\n")
    tree = load(root, "try")
    assert tree.values["name"] == "try--smoke"
    assert str(tree.place(("pretrain", "steps"))) == "specs/experiment/try.yaml:3:8"
    assert review(tree).spec.smoke


def test_the_name_of_a_twin_must_be_free(project: Project) -> None:
    root = project("")
    (root / "specs/experiment/other.yaml").write_text("# @package _global_\nname: try--smoke\n")
    with pytest.raises(Faults) as caught:
        twin(root=root, name="try")
    assert [fault.code for fault in caught.value.diagnostics] == ["MS0002"]


def test_a_twin_is_asked_for_by_the_name_of_the_experiment() -> None:
    with pytest.raises(Faults) as caught:
        load(ROOT, "demo--smoke")
    (fault,) = caught.value.diagnostics
    assert (fault.code, fault.fix) == ("MS0001", "write demo smoke=true")


@pytest.mark.parametrize("value", ["false", "null"])
def test_without_it_nothing_changes(value: str) -> None:
    assert load(ROOT, "demo", [f"smoke={value}"]).values["name"] == "demo"


@pytest.mark.parametrize(
    ("override", "code"),
    [
        ("smoke=1", "MS0203"),
        ("pretrain.steps=many", "MS0203"),
        ("model.num_heads=0", "MS0205"),
        ("data.pretrain.mix.budget_bytes=8XB", "MS0206"),
        ("model=null", None),
        ("finetune.lora=3", "MS0203"),
    ],
)
def test_what_is_malformed_is_told_as_ever(override: str, code: str | None) -> None:
    overrides = [override] if override.startswith("smoke") else ["smoke=true", override]
    with pytest.raises(Faults) as caught:
        review(load(ROOT, "demo", overrides))
    assert code is None or code in {fault.code for fault in caught.value.diagnostics}


def test_a_model_from_config_json_is_shrunk_too(project: Project) -> None:
    root = project("model: {from_hf: hf}\nsmoke: true\n")
    (root / "hf").mkdir()
    (root / "hf/config.json").write_text(
        '{"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "vocab_size": 128256,'
        ' "num_attention_heads": 32, "num_key_value_heads": 8}'
    )
    spec = review(load(root, "try")).spec
    assert (spec.model.hidden_size, spec.model.num_heads, spec.model.num_kv_heads) == (64, 8, 2)


@pytest.mark.parametrize("size", RUNNABLE)
def test_heads_of_a_twin_are_ones_that_fused_attention_computes(size: str) -> None:
    warnings = review(twin(f"model={size}", "device=ascend", "model.dtype.compute=bfloat16")).warnings
    assert "MS0306" not in {one.code for one in warnings}
