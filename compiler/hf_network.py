"""What a Hugging Face config.json says in the terms of a spec, and what in it cannot be had."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from compiler.diagnostics import Diagnostic
from compiler.families import FAMILIES
from compiler.hf_config import HfConfig
from compiler.source import Path as KeyPath
from compiler.taken_names import taken
from compiler.wording import Said, said

_HEAD_DIM_OF_QWEN3 = 128  # what transformers takes where its config.json does not say
_LLAMA3 = {
    "factor": "factor",
    "low_freq_factor": "low_freq_factor",
    "high_freq_factor": "high_freq_factor",
    "original_max_position_embeddings": "original_length",
}


def faults(config: HfConfig) -> list[Diagnostic]:
    """All that keeps the network of config.json from being trained, each at its place."""
    return _family_faults(config) or [*_size_faults(config), *_unsupported(config)]


def fields(config: HfConfig) -> Iterator[tuple[str, Any, KeyPath]]:
    """(field of `model`, value, path in config.json) of all that a config.json without faults decides.

    The path is empty where config.json does not say and the default of transformers holds.
    """
    values = _flat(config.values)
    yield "family", values["model_type"], ("model_type",)
    for size in _sizes(values):
        value = size.of(values)
        yield size.field, float(value) if size.kind is float else value, _path_of(config, size)
    key, scaling = _rope(values)
    if scaling.get("rope_type", scaling.get("type")) == "llama3":
        stretched = {field: scaling[name] if field == "original_length" else float(scaling[name]) for name, field in _LLAMA3.items()}
        yield "rope_scaling", {"kind": "llama3", **stretched}, (key,)
    else:
        yield "rope_scaling", None, ()


@dataclass(frozen=True)
class _Size:
    """A field of the spec, the key of config.json it comes from, and what transformers takes where the key is missing."""

    field: str
    key: str
    kind: type
    missing: Any = ...

    def of(self, values: Mapping[str, Any]) -> Any:
        value = values.get(self.key)
        return self.missing if value is None else value


_SIZES = (
    _Size("hidden_size", "hidden_size", int),
    _Size("intermediate_size", "intermediate_size", int),
    _Size("num_layers", "num_hidden_layers", int),
    _Size("num_heads", "num_attention_heads", int),
    _Size("num_kv_heads", "num_key_value_heads", int),
    _Size("head_dim", "head_dim", int, None),
    _Size("vocab_size", "vocab_size", int),
    _Size("tie_embeddings", "tie_word_embeddings", bool, False),
    _Size("rope_theta", "rope_theta", float, 10000.0),
    _Size("norm_eps", "rms_norm_eps", float, 1.0e-6),
    _Size("max_length", "max_position_embeddings", int, None),
)


def _sizes(values: Mapping[str, Any]) -> Iterator[_Size]:
    """The sizes as a family counts them: an old Llama has as many key/value heads as heads."""
    for size in _SIZES:
        if size.key == "num_key_value_heads" and values["model_type"] == "llama":
            yield replace(size, missing=values.get("num_attention_heads", ...))
        elif size.key == "head_dim" and values["model_type"] == "qwen3":
            yield replace(size, missing=_HEAD_DIM_OF_QWEN3)
        else:
            yield size


_ROPE_KEYS = ("rope_scaling", "rope_parameters")  # of older and of newer files


def _rope(values: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The key that holds the scaling, and its content; newer files keep rope_theta in it as well."""
    for key in _ROPE_KEYS:
        if values.get(key) and isinstance(values[key], dict):
            return key, values[key]
    return "rope_scaling", {}


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values with rope_theta at the top, where older files have it."""
    inner = _rope(values)[1].get("rope_theta")
    return {**values, "rope_theta": values.get("rope_theta") if inner is None else inner}


def _family_faults(config: HfConfig) -> list[Diagnostic]:
    kind, known = config.values.get("model_type"), ", ".join(FAMILIES)
    fix = said(f"supported: {known}", f"支持：{known}")
    if kind is None:
        message = said("config.json names no model_type", "config.json 没有 model_type")
        reason = said("the family of the network is not known", "模型结构未知")
        return [_at(config, (), "MS0316", message, reason=reason, fix=fix)]
    if not isinstance(kind, str) or kind not in FAMILIES:
        message = said(f"model_type {show(kind)} is not supported", f"不支持 model_type {show(kind)}")
        reason = said("the network of another family would be trained", "训练的将是另一种结构的网络")
        return [_at(config, ("model_type",), "MS0317", message, reason=reason, fix=fix)]
    return [_custom_code(config, kind)] if config.values.get("auto_map") else []


def _custom_code(config: HfConfig, kind: str) -> Diagnostic:
    owner = taken(kind) or "transformers"
    fault = _at(
        config,
        ("model_type",),
        "MS0319",
        said(
            f"{kind} is already used by a transformers config ({owner}), pick another name",
            f"{kind} 已被 transformers 配置（{owner}）占用，请换一个名称",
        ),
        reason=said(
            "auto_map brings code of its own under this name, and transformers refuses the second class when the model is opened",
            "auto_map 以此名称引入自带代码，打开模型时 transformers 会拒绝第二个同名类",
        ),
        fix=said(
            "give the code's model_type a name of its own, or remove auto_map if the network is the published one",
            "为自带代码的 model_type 另取名称；若网络就是公开的那一个，则删去 auto_map",
        ),
    )
    return replace(fault, related=((said("the code of its own", "自带代码"), config.places[("auto_map",)]),))


def _size_faults(config: HfConfig) -> Iterator[Diagnostic]:
    values = _flat(config.values)
    for size in _sizes(values):
        value = size.of(values)
        path = _path_of(config, size)
        if value is ...:
            message = said(f"config.json lacks {size.key}", f"config.json 缺少 {size.key}")
            reason = said("a default would be another model's size", "默认值会是另一个模型的尺寸")
            yield _at(config, path, "MS0316", message, reason=reason, fix=_as_published())
        elif value is not None and not _fits(value, size.kind):
            wanted = {
                int: ("a whole number above zero", "正整数"),
                float: ("a number above zero", "正数"),
                bool: ("true or false", "true 或 false"),
            }
            english, chinese = wanted[size.kind]
            message = said(f"{size.key} is {show(value)}, not {english}", f"{size.key} 为 {show(value)}，不是{chinese}")
            yield _at(config, path, "MS0316", message, fix=said(f"write {english}", f"请写{chinese}"))


def _path_of(config: HfConfig, size: _Size) -> KeyPath:
    """Where the value of a size stands in config.json: the whole file where it does not stand in it."""
    inner = (_rope(config.values)[0], size.key)
    return inner if inner in config.places else (size.key,) if (size.key,) in config.places else ()


def _fits(value: object, kind: type) -> bool:
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and value > 0
    return isinstance(value, (int, float)) and 0 < value <= sys.float_info.max


_PARTLY_TURNED = said("every dimension of a head would be rotated", "单头的全部维度都会被旋转")

# Key, families (None: all), what is refused, and why.
_Refused = tuple[str, tuple[str, ...] | None, Callable[[Any], bool], Said]
_REFUSED: tuple[_Refused, ...] = (
    (
        "use_sliding_window",
        None,
        bool,
        said("attention would see the whole row instead of a window", "注意力会看到整行，而不是滑动窗口"),
    ),
    (
        "sliding_window",
        ("llama",),
        lambda value: value is not None,
        said("attention would see the whole row instead of a window", "注意力会看到整行，而不是滑动窗口"),
    ),
    (
        "layer_types",
        None,
        lambda value: value is not None and (not isinstance(value, list) or set(map(str, cast(list[object], value))) != {"full_attention"}),
        said("attention would see the whole row in every layer", "每一层的注意力都会看到整行"),
    ),
    (
        "partial_rotary_factor",
        None,
        lambda value: value not in (None, 1, 1.0),
        _PARTLY_TURNED,
    ),
    (
        "attention_bias",
        ("llama", "qwen3"),
        bool,
        said("the biases of the attention would be missing", "注意力的偏置会缺失"),
    ),
    ("mlp_bias", None, bool, said("the biases of the feed-forward layer would be missing", "前馈层的偏置会缺失")),
    (
        "hidden_act",
        None,
        lambda value: value not in (None, "silu", "swish"),
        said("the feed-forward layer of mindformers computes SiLU alone", "mindformers 的前馈层只有 SiLU"),
    ),
    (
        "quantization_config",
        None,
        lambda value: value is not None,
        said("a model is trained with weights that are not quantised", "训练使用未量化的权重"),
    ),
    (
        "attention_dropout",
        None,
        lambda value: value not in (None, 0, 0.0),
        said("the attention of mindformers' Llama has no dropout", "mindformers 的 Llama 注意力没有 dropout"),
    ),
)


def _unsupported(config: HfConfig) -> Iterator[Diagnostic]:
    family = config.values["model_type"]
    for key, families, refused, reason in _REFUSED:
        value = config.values.get(key)
        if (families is None or family in families) and refused(value):
            yield _refusal(config, (key,), f"{key} {show(value)}", reason)
    yield from _rope_forms(config) or _rope_faults(config, family)


def _rope_forms(config: HfConfig) -> list[Diagnostic]:
    """Frequencies in a form that would be read in part: no object, one for each kind of layer, in two places that differ."""
    faults: list[Diagnostic] = []
    given = {key: config.values[key] for key in _ROPE_KEYS if config.values.get(key)}
    for key, value in given.items():
        if not isinstance(value, dict):
            message = said(f"{key} is {show(value)}, not an object", f"{key} 为 {show(value)}，不是 JSON 对象")
            faults.append(_at(config, (key,), "MS0316", message, reason=_NOT_READ, fix=_as_published()))
        elif any(isinstance(inner, dict) for inner in cast(Mapping[str, Any], value).values()):
            what = said(f"{key} for each kind of layer", f"按层类型分别给出的 {key}")
            faults.append(_refusal(config, (key,), what, said("all layers turn at the same frequencies here", "此处所有层的旋转频率相同")))
    return faults or list(_rope_twice(config, given))


def _rope_twice(config: HfConfig, given: Mapping[str, Mapping[str, Any]]) -> Iterator[Diagnostic]:
    if len(given) == 2 and len({json.dumps(_kind_and_numbers(one), sort_keys=True) for one in given.values()}) == 2:
        message = said("rope_scaling and rope_parameters say two things", "rope_scaling 与 rope_parameters 不一致")
        yield _at(config, ("rope_parameters",), "MS0316", message, reason=_NOT_READ, fix=said("keep one of the two", "只保留其中一个"))
    outer = config.values.get("rope_theta")
    for key, scaling in given.items():
        inner = scaling.get("rope_theta")
        if outer is not None and inner is not None and inner != outer:
            message = said(
                f"rope_theta is {show(outer)}, and {show(inner)} in {key}", f"rope_theta 为 {show(outer)}，而 {key} 中为 {show(inner)}"
            )
            yield _at(config, (key, "rope_theta"), "MS0316", message, reason=_NOT_READ, fix=said("keep one of the two", "只保留其中一个"))


def _kind_and_numbers(scaling: Mapping[str, Any]) -> dict[str, Any]:
    """The content without what older files keep elsewhere, or under another name."""
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    return {key: value for key, value in scaling.items() if key not in ("rope_type", "type", "rope_theta")} | {"rope_type": kind}


_NOT_READ = said("different versions of transformers read different ones", "不同版本的 transformers 读取的内容不同")


def _rope_faults(config: HfConfig, family: str) -> Iterator[Diagnostic]:
    key, scaling = _rope(config.values)
    if scaling.get("partial_rotary_factor") not in (None, 1, 1.0):
        value = show(scaling["partial_rotary_factor"])
        yield _refusal(config, (key, "partial_rotary_factor"), f"partial_rotary_factor {value}", _PARTLY_TURNED)
    kind = scaling.get("rope_type", scaling.get("type", "default" if key == "rope_parameters" or not scaling else None))
    if kind == "default" or not scaling:
        return
    if kind != "llama3" or not FAMILIES[family].scaled_rope:
        reason = said("positions would turn at other frequencies than the published ones", "位置的旋转频率会与公开模型不同")
        yield _refusal(config, (key,), f"{key} {show(kind)}", reason)
        return
    for name in _LLAMA3:
        value = scaling.get(name)
        if not _fits(value, int if name.startswith("original") else float):
            message = said(f"{key}.{name} is {show(value)}, not a number above zero", f"{key}.{name} 为 {show(value)}，不是正数")
            path = (key, name) if (key, name) in config.places else (key,)
            fix = said("Llama 3.1 has 8.0, 1.0, 4.0 and 8192", "Llama 3.1 为 8.0、1.0、4.0 与 8192")
            yield _at(config, path, "MS0316", message, fix=fix)


def _refusal(config: HfConfig, path: KeyPath, what: str, reason: Said) -> Diagnostic:
    fix = said("use a model without it", "改用没有该设置的模型")
    return _at(config, path, "MS0317", said(f"{what} is not supported", f"不支持 {what}"), reason=reason, fix=fix)


def _as_published() -> Said:
    return said("take the file from the model's own folder again", "请重新取得该模型的原始文件")


def show(value: object) -> str:
    """A value as config.json has it; of a nested one only that it is one."""
    return "{...}" if isinstance(value, (Mapping, list)) else json.dumps(value, ensure_ascii=False)


def _at(config: HfConfig, path: KeyPath, code: str, message: Said, *, reason: str = "", fix: Said) -> Diagnostic:
    return Diagnostic(code, message, config.places[path], reason=reason, fix=fix)
