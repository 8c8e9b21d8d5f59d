"""The sizes of a config.json in a composed spec: which one holds, where it was written, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compiler.diagnostics import Diagnostic, Faults
from compiler.parse import load
from compiler.planning.architecture import architecture
from compiler.spec import Spec
from compiler.validate import review

Project = Callable[[str], Path]

LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 96,
    "intermediate_size": 256,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 3,
    "vocab_size": 4032,
    "hidden_act": "silu",
    "rms_norm_eps": 1e-05,
    "max_position_embeddings": 2048,
}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}


def put(root: Path, config: Any, folder: str = "hf") -> None:
    (root / folder).mkdir(parents=True, exist_ok=True)
    text = config if isinstance(config, (str, bytes)) else json.dumps(config, indent=2)
    (root / folder / "config.json").write_bytes(text.encode() if isinstance(text, str) else text)


def spec_of(root: Path, *overrides: str) -> Spec:
    return review(load(root, "try", overrides)).spec


def found(root: Path, *overrides: str) -> tuple[Diagnostic, ...]:
    with pytest.raises(Faults) as caught:
        review(load(root, "try", overrides))
    return caught.value.diagnostics


def changed(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in {**LLAMA, **values}.items() if value is not ...}


def test_config_json_gives_the_sizes(project: Project) -> None:
    root = project("model: {from_hf: hf}\n")
    put(root, LLAMA)
    model = spec_of(root).model
    assert (model.family, model.hidden_size, model.intermediate_size, model.num_layers) == ("llama", 96, 256, 3)
    assert (model.num_heads, model.num_kv_heads, model.head_dim, model.vocab_size) == (6, 3, None, 4032)
    assert (model.tie_embeddings, model.rope_theta, model.norm_eps, model.max_length) == (False, 10000.0, 1e-05, 2048)
    assert (model.rope_scaling, model.seq_length) == (None, 64)


def test_a_size_has_its_place_in_config_json_and_a_default_at_the_folder_s_name(project: Project) -> None:
    root = project("model: {from_hf: hf}\n")
    put(root, LLAMA)
    tree = load(root, "try")
    size = tree.place(("model", "hidden_size"))
    assert (str(size), size.text) == ("hf/config.json:6:18", '  "hidden_size": 96,')
    assert tree.place(("model", "rope_theta")) == tree.place(("model", "from_hf"))
    assert str(tree.place(("model", "from_hf"))) == "specs/experiment/try.yaml:3:18"


def test_a_later_fault_points_into_config_json(project: Project) -> None:
    root = project("model: {from_hf: hf}\n")
    put(root, changed(num_key_value_heads=4))
    (fault,) = found(root)
    assert (fault.code, str(fault.place)) == ("MS0302", "hf/config.json:10:26")


def test_family_from_hf_takes_the_family_too(project: Project) -> None:
    root = project("model: {family: from_hf, from_hf: hf}\n")
    put(root, changed(model_type="qwen2", tie_word_embeddings=True))
    spec = spec_of(root)
    assert (spec.model.family, architecture(spec).qkv_bias, architecture(spec).tied) == ("qwen2", True, True)


def test_family_from_hf_needs_a_folder(project: Project) -> None:
    (fault,) = found(project("model: {family: from_hf}\n"))
    assert (fault.code, fault.path) == ("MS0315", ("model", "family"))


def test_a_folder_outside_the_project(project: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("downloads")
    put(elsewhere, LLAMA, "llama")
    root = project(f"model: {{from_hf: {elsewhere}/llama}}\n")
    assert spec_of(root).model.hidden_size == 96
    assert load(root, "try").place(("model", "hidden_size")).file == f"{elsewhere}/llama/config.json"


def test_an_override_names_the_folder(project: Project) -> None:
    root = project("")
    put(root, LLAMA)
    tree = load(root, "try", ["model.from_hf=hf"])
    assert tree.values["model"]["num_heads"] == 6
    assert str(tree.place(("model", "rope_theta"))) == "<override 1>:1:15"


def test_an_equal_size_beside_it_stays_where_it_was_written(project: Project) -> None:
    root = project("model: {from_hf: hf, hidden_size: 96, rope_theta: 10000}\n")
    put(root, LLAMA)
    tree = load(root, "try")
    assert review(tree).spec.model.hidden_size == 96
    assert tree.place(("model", "hidden_size")).file == "specs/experiment/try.yaml"


@pytest.mark.parametrize(
    ("text", "overrides", "place", "message"),
    [
        ("hidden_size: 192", (), "specs/experiment/try.yaml:3:35", "192 here, 96 in config.json"),
        ("tie_embeddings: true", (), "specs/experiment/try.yaml:3:38", "true here, false in config.json"),
        ("family: qwen2", (), "specs/experiment/try.yaml:3:30", '"qwen2" here, "llama" in config.json'),
        ("", ("model.num_layers=2",), "<override 1>:1:18", "2 here, 3 in config.json"),
        ("", ("model.vocab_size=4000",), "<override 1>:1:18", "4000 here, 4032 in config.json"),
    ],
)
def test_another_size_beside_it_is_refused(project: Project, text: str, overrides: tuple[str, ...], place: str, message: str) -> None:
    root = project(f"model: {{from_hf: hf, {text}}}\n")
    put(root, LLAMA)
    (fault,) = found(root, *overrides)
    assert (fault.code, str(fault.place), fault.message) == ("MS0318", place, message)


def test_an_old_llama_has_as_many_key_value_heads_as_heads(project: Project) -> None:
    root = project("model: {from_hf: hf}\n")
    put(root, changed(num_key_value_heads=...))
    assert spec_of(root).model.num_kv_heads == 6


def test_a_qwen2_without_key_value_heads_is_incomplete(project: Project) -> None:
    root = project("model: {from_hf: hf}\n")
    put(root, changed(model_type="qwen2", num_key_value_heads=...))
    (fault,) = found(root)
    assert (fault.code, fault.message, str(fault.place)) == ("MS0316", "config.json lacks num_key_value_heads", "hf/config.json:1:1")


def test_qwen3_has_heads_of_128_where_config_json_does_not_say(project: Project) -> None:
    root = project("model: {from_hf: hf}\ndevice: {target: ascend}\n")
    put(root, changed(model_type="qwen3"))
    assert load(root, "try").values["model"]["head_dim"] == 128
    assert {fault.code for fault in found(root) if fault.severity == "error"} == {"MS0304"}


def test_llama_3_frequencies(project: Project) -> None:
    root = project("model: {from_hf: hf}\n")
    put(root, changed(rope_theta=500000.0, rope_scaling=LLAMA3))
    model = spec_of(root).model
    assert model.rope_scaling is not None
    assert model.rope_scaling.model_dump() == {
        "kind": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_length": 8192,
    }  # fmt: skip
    assert str(load(root, "try").place(("model", "rope_scaling", "factor"))) == "hf/config.json:16:19"


def test_frequencies_that_both_places_say_alike(project: Project) -> None:
    root = project("model: {from_hf: hf}\n")
    put(root, changed(rope_theta=5e5, rope_scaling=LLAMA3, rope_parameters={**LLAMA3, "rope_theta": 5e5}))
    model = spec_of(root).model
    assert model.rope_scaling is not None
    assert (model.rope_theta, model.rope_scaling.factor) == (5e5, 8.0)


def test_frequencies_as_newer_files_have_them(project: Project) -> None:
    root = project("model: {from_hf: hf}\n")
    put(root, changed(rope_parameters={"rope_type": "default", "rope_theta": 1000000}))
    tree = load(root, "try")
    assert review(tree).spec.model.rope_theta == 1000000.0
    assert tree.place(("model", "rope_theta")).text.strip() == '"rope_theta": 1000000'


@pytest.mark.parametrize(
    ("values", "code", "message"),
    [
        ({"model_type": "mixtral"}, "MS0317", 'model_type "mixtral" is not supported'),
        ({"model_type": ...}, "MS0316", "config.json names no model_type"),
        ({"model_type": 3}, "MS0317", "model_type 3 is not supported"),
        ({"hidden_size": ...}, "MS0316", "config.json lacks hidden_size"),
        ({"hidden_size": None}, "MS0316", "config.json lacks hidden_size"),
        ({"hidden_size": 96.0}, "MS0316", "hidden_size is 96.0, not a whole number above zero"),
        ({"num_hidden_layers": 0}, "MS0316", "num_hidden_layers is 0, not a whole number above zero"),
        ({"num_hidden_layers": True}, "MS0316", "num_hidden_layers is true, not a whole number above zero"),
        ({"rope_theta": "1e4"}, "MS0316", 'rope_theta is "1e4", not a number above zero'),
        ({"rms_norm_eps": float("nan")}, "MS0316", "rms_norm_eps is NaN, not a number above zero"),
        ({"tie_word_embeddings": "false"}, "MS0316", 'tie_word_embeddings is "false", not true or false'),
        ({"rope_scaling": {"type": "linear", "factor": 2.0}}, "MS0317", 'rope_scaling "linear" is not supported'),
        ({"rope_scaling": {"factor": 2.0}}, "MS0317", "rope_scaling null is not supported"),
        ({"rope_scaling": {**LLAMA3, "factor": "8"}}, "MS0316", 'rope_scaling.factor is "8", not a number above zero'),
        ({"rope_theta": 10**400}, "MS0316", f"rope_theta is {10**400}, not a number above zero"),
        ({"rope_scaling": ["llama3"]}, "MS0316", "rope_scaling is {...}, not an object"),
        ({"rope_scaling": "llama3"}, "MS0316", 'rope_scaling is "llama3", not an object'),
        ({"rope_parameters": {"full_attention": LLAMA3}}, "MS0317", "rope_parameters for each kind of layer is not supported"),
        ({"rope_scaling": {}, "rope_parameters": {"rope_type": "linear"}}, "MS0317", 'rope_parameters "linear" is not supported'),
        ({"rope_scaling": LLAMA3, "rope_parameters": {"factor": 2}}, "MS0316", "rope_scaling and rope_parameters say two things"),
        ({"rope_theta": 1e4, "rope_parameters": {"rope_theta": 5e5}}, "MS0316", "rope_theta is 10000.0, and 500000.0 in rope_parameters"),
        ({"rope_parameters": {"partial_rotary_factor": 0.5}}, "MS0317", "partial_rotary_factor 0.5 is not supported"),
        ({"layer_types": "sliding_attention"}, "MS0317", 'layer_types "sliding_attention" is not supported'),
        ({"sliding_window": 4096}, "MS0317", "sliding_window 4096 is not supported"),
        ({"use_sliding_window": True, "model_type": "qwen2"}, "MS0317", "use_sliding_window true is not supported"),
        ({"attention_bias": True}, "MS0317", "attention_bias true is not supported"),
        ({"layer_types": ["full_attention", "sliding_attention"]}, "MS0317", "layer_types {...} is not supported"),
        ({"partial_rotary_factor": 0.5}, "MS0317", "partial_rotary_factor 0.5 is not supported"),
        ({"hidden_size": 10**30}, "MS0205", f"{10**30} is not at most 2147483647"),
        ({"mlp_bias": True}, "MS0317", "mlp_bias true is not supported"),
        ({"attention_dropout": 0.1}, "MS0317", "attention_dropout 0.1 is not supported"),
        ({"hidden_act": "relu"}, "MS0317", 'hidden_act "relu" is not supported'),
        ({"quantization_config": {"bits": 4}}, "MS0317", "quantization_config {...} is not supported"),
        ({"head_dim": 64}, "MS0311", "6 heads of 64 are 384 wide, hidden_size is 96"),
        ({"vocab_size": 3999}, "MS0312", "3999 rows of embeddings for 4000 pieces of the tokenizer"),
    ],
)
def test_what_cannot_be_had_is_refused(project: Project, values: dict[str, Any], code: str, message: str) -> None:
    root = project("model: {from_hf: hf}\n")
    put(root, changed(**values))
    (fault,) = found(root)
    assert (fault.code, fault.message) == (code, message)
    assert fault.place is not None and fault.place.file == "hf/config.json"


def test_what_changes_nothing_is_accepted(project: Project) -> None:
    """Published files hold these: a window that is off, dropout of zero, no scaling, keys of training."""
    root = project("model: {from_hf: hf}\n")
    quiet = {"use_sliding_window": False, "sliding_window": 4096, "attention_dropout": 0.0, "rope_scaling": None, "mlp_bias": False}
    put(
        root,
        changed(model_type="qwen2", initializer_range=0.02, layer_types=["full_attention"] * 3, use_cache=True, pretraining_tp=1, **quiet),
    )
    assert spec_of(root).model.family == "qwen2"


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3"])
def test_code_of_its_own_under_a_name_that_is_taken(project: Project, kind: str) -> None:
    root = project("model: {from_hf: hf}\n")
    put(root, changed(model_type=kind, auto_map={"AutoConfig": "configuration_mine.Config"}))
    (fault,) = found(root)
    assert fault.code == "MS0319"
    assert f"{kind} is already used by a transformers config" in fault.message
    assert "pick another name" in fault.message
    assert fault.place is not None and fault.place.text.strip() == f'"model_type": "{kind}",'


@pytest.mark.parametrize(
    ("content", "place", "message"),
    [
        (b'\xef\xbb\xbf{"model_type": "llama"}', "hf/config.json:1:1", "hf/config.json begins with a byte order mark"),
        (b'{\n  "a": 1,\n}', "hf/config.json:3:1", "this is not JSON: Expecting property name enclosed in double quotes"),
        (b"", "hf/config.json:1:1", "this is not JSON: Expecting value"),
        (b"[]", "hf/config.json:1:1", "config.json holds no object"),
        (b'{\n"a": "\xff"}', "hf/config.json:2:1", "byte 0xff is not UTF-8"),
        (b'{"a": 1,\n "a": 2}', "hf/config.json:2:2", "the key a is written twice"),
        (b'{"a": {"b": 1, "b": 2}}', "hf/config.json:1:16", "the key b is written twice"),
        (b"[" * 100_000, "hf/config.json:1:1", "nested too deep, or a number of too many digits"),
        (b'{"a": ' + b"9" * 5000 + b"}", "hf/config.json:1:1", "nested too deep, or a number of too many digits"),
    ],
    ids=["mark", "comma", "empty", "list", "bytes", "twice", "twice below", "deep", "digits"],
)
def test_a_file_that_cannot_be_read(project: Project, content: bytes, place: str, message: str) -> None:
    root = project("model: {from_hf: hf}\n")
    put(root, content)
    (fault,) = found(root)
    assert (fault.code, str(fault.place), fault.message) == ("MS0315", place, message)


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        ("nowhere", "the folder does not exist"),
        ("data", "data/config.json cannot be read: No such file or directory"),
        ("hf/config.json", "config.json is a file"),
    ],
)
def test_a_file_that_is_not_there(project: Project, folder: str, message: str) -> None:
    root = project(f"model: {{from_hf: {folder}}}\n")
    put(root, LLAMA)
    (fault,) = found(root)
    assert (fault.code, str(fault.place), fault.message) == ("MS0315", "specs/experiment/try.yaml:3:18", message)


def test_other_faults_are_told_with_those_of_config_json(project: Project) -> None:
    root = project("model: {from_hf: hf}\npretrain: {step: 3}\n")
    put(root, changed(mlp_bias=True, hidden_act="gelu"))
    assert sorted(fault.code for fault in found(root)) == ["MS0201", "MS0317", "MS0317"]


def test_a_byte_of_white_space_makes_no_difference(project: Project) -> None:
    """Tabs between the tokens, one line, Windows line ends: JSON all the same."""
    root = project("model: {from_hf: hf}\n")
    for text in (json.dumps(LLAMA), json.dumps(LLAMA, indent="\t"), json.dumps(LLAMA, indent=2).replace("\n", "\r\n")):
        put(root, text)
        tree = load(root, "try")
        place = tree.place(("model", "hidden_size"))
        assert place.text[place.column - 1 :].startswith("96")


def test_rows_longer_than_the_published_limit_are_a_warning(project: Project) -> None:
    root = project("model: {from_hf: hf, seq_length: 80}\n")
    put(root, changed(max_position_embeddings=72))
    (warning,) = (one for one in review(load(root, "try")).warnings if one.code == "MS0313")
    assert (warning.code, warning.severity, str(warning.place)) == ("MS0313", "warning", "specs/experiment/try.yaml:3:34")


@pytest.mark.parametrize(("target", "expected"), [("ascend", ["MS0320"]), ("cpu", [])])
def test_the_published_type_is_told_where_the_device_computes_it(project: Project, target: str, expected: list[str]) -> None:
    root = project(f"model: {{from_hf: hf}}\ndevice: {{target: {target}}}\n")
    put(root, changed(torch_dtype="bfloat16"))
    assert [one.code for one in review(load(root, "try")).warnings if one.code != "MS0306"] == expected  # float32 on an Ascend
