"""The reference of all fields, written from their declarations: `docs/fields.md` and `docs/fields.zh.md`."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from pydantic.fields import FieldInfo

from compiler.emit.yaml_text import float_text
from compiler.schema import Schema, spec_schema
from compiler.spec import DeclaredField, Spec, fields
from compiler.spec.declare import DOC_ZH_KEY, MOST, TYPE_KEY, UNIT_KEY
from compiler.spec.reach import mindformers_of, stages_of
from compiler.wording import Language, Said, in_language, listed, said

FILES: Mapping[Language, str] = {"en": "docs/fields.md", "zh": "docs/fields.zh.md"}

_TITLE = said("Fields of a spec", "规格字段参考")
_INTRODUCTION = (
    said(
        "Written by `mindspec schema --docs` from the declarations in `compiler/spec`; change those instead.",
        "由 `mindspec schema --docs` 根据 `compiler/spec` 中的声明生成，请勿手工修改。",
    ),
    said(
        "The class says what a change does. *identity* changes results: it reaches the configuration of the named stages, and what reads "
        "their results runs again too. *placement* says where and how fast a stage runs; no stage runs again. *presentation* is what a "
        "reader sees; at most the report is written again. `*` stands for a name of your own.",
        "“类别”说明修改该字段的后果。identity（标识）改变结果：它进入所列阶段的配置，读取这些结果的阶段也会重新运行。placement（部署）只决定在哪里、"
        "以多快的速度运行，不会触发任何阶段。presentation（展示）只影响读者所见，最多重写报告。`*` 代表自定义的名称。",
    ),
    said(
        "A field that must be given has no default of its own; `specs/mindspec.yaml` and the groups that it picks give one to most. What "
        "this version does not build yet is declared as well, and refused with the reason.",
        "“必填”的字段没有内置默认值；其中大多由 `specs/mindspec.yaml` 及其所选的配置组给出。"
        "本版本尚未实现的取值也列在表中，使用时会被拒绝并说明原因。",
    ),
    said(
        "The last column names the keys of `config/pretrain.yaml` and `config/finetune.yaml`, the files that mindformers reads.",
        "最后一列是该字段在 mindformers 配置文件 `config/pretrain.yaml` 与 `config/finetune.yaml` 中对应的键。",
    ),
)
_HEAD = (
    said("field", "字段"),
    said("what it is", "说明"),
    said("values", "取值"),
    said("default", "默认值"),
    said("class", "类别"),
    said("stages", "阶段"),
    said("mindformers", "mindformers 键"),
)
_REQUIRED = said("must be given", "必填")
_WORDS = {
    "integer": said("integer", "整数"),
    "number": said("number", "数值"),
    "string": said("text", "文本"),
    "boolean": said("`true` or `false`", "`true` 或 `false`"),
    "null": said("`null`", "`null`"),
    "object": said("mapping", "映射"),
}
_UNITS = {
    "bytes": said("bytes", "字节"),
    "steps": said("steps", "步"),
    "tokens": said("tokens", "token"),
    "rows": said("rows", "行"),
    "pieces": said("pieces", "个子词"),
    "characters": said("characters", "字符"),
}
_LIMITS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
_UNBOUNDED = (MOST, 2**63 - 1)  # what a machine counts up to, no limit that anyone would meet


def write(root: Path) -> None:
    """Write the reference in both languages below `root`."""
    for language, file in FILES.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(reference(language), encoding="utf-8", newline="\n")


def reference(language: Language) -> str:
    """The whole page: a table for each section of a spec."""
    parts = [f"# {in_language(_TITLE, language)}", *(in_language(text, language) for text in _INTRODUCTION)]
    sections: dict[str, list[DeclaredField]] = {}
    for declared in fields():
        sections.setdefault(declared.path.partition(".")[0], []).append(declared)
    alone = [found[0] for found in sections.values() if len(found) == 1]
    parts += [_table(alone, language)]
    for name, found in sections.items():
        if len(found) > 1:
            parts += [f"## {name}", _doc(Spec.model_fields[name], language), _table(found, language)]
    return "\n\n".join(parts) + "\n"


def _table(declared: list[DeclaredField], language: Language) -> str:
    rows = [[in_language(head, language) for head in _HEAD], ["---"] * len(_HEAD), *(_row(one, language) for one in declared)]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)


def _row(declared: DeclaredField, language: Language) -> list[str]:
    schema = _schema_of(declared.path)
    stages = stages_of(declared.path) if declared.field_class == "identity" else ()
    return [
        f"`{declared.path}`",
        _doc(declared.info, language),
        in_language(_with_unit(schema), language),
        in_language(_default(schema, declared), language),
        declared.field_class,
        ", ".join(stages),
        ", ".join(f"`{key}`" for key in mindformers_of(declared.path)),
    ]


def _doc(info: FieldInfo, language: Language) -> str:
    chinese = cast(Mapping[str, Any], info.json_schema_extra)[DOC_ZH_KEY]
    return str(chinese if language == "zh" else info.description).replace("<", "&lt;")


def _default(schema: Schema, declared: DeclaredField) -> Said:
    if declared.info.is_required():
        return _REQUIRED
    shown = _value(schema.get("default"))
    return said(f"`{shown}`", f"`{shown}`")


def _value(value: Any) -> str:
    """A value as it is written in a spec, on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_value(item)}" for key, item in cast(Mapping[str, Any], value).items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, cast(list[Any], value)))}]"
    if value is None or isinstance(value, bool) or value == "":
        return json.dumps(value)
    return float_text(value) if isinstance(value, float) else str(value)


def _with_unit(schema: Schema) -> Said:
    values = _values(schema)
    unit = _UNITS.get(schema.get(UNIT_KEY, ""))
    return said(f"{values} ({unit})", f"{values.zh}（{unit.zh}）") if unit and TYPE_KEY not in schema else values


def _values(schema: Schema) -> Said:
    """What a value may be, in words."""
    if TYPE_KEY in schema:
        return said("size: bytes, or text such as `8MB`, `2GiB`", "大小：字节数，或 `8MB`、`2GiB` 之类的文本")
    if "anyOf" in schema:
        return _either([_values(branch) for branch in schema["anyOf"]])
    if "enum" in schema or "const" in schema:
        return listed(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    if "$ref" in schema:
        return said("a mapping of the fields below", "由下列字段组成的映射")
    return _of_type(schema)


def _either(branches: list[Said]) -> Said:
    return said(" or ".join(branches), " 或 ".join(branch.zh for branch in branches))


def _of_type(schema: Schema) -> Said:
    kind = schema.get("type")
    if kind == "array":
        item, least = _values(schema["items"]), schema.get("minItems", 0)
        if least == schema.get("maxItems"):
            return said(f"list of {least}, each {item}", f"{least} 项的列表，每项：{item.zh}")
        return said(f"list of {item}, at least one", f"至少一项的列表：{item.zh}") if least else said(f"list of {item}", f"列表：{item.zh}")
    if kind == "object":
        value = _values(schema["additionalProperties"])
        return said(f"name: {value}", f"名称: {value.zh}")
    limits = [f"{sign} {_value(schema[key])}" for key, sign in _LIMITS.items() if key in schema and schema[key] not in _UNBOUNDED]
    pattern = [f"`{schema['pattern']}`"] if "pattern" in schema else []
    word = _WORDS[str(kind)]
    rest = ", ".join([*limits, *pattern])
    return said(f"{word} {rest}".strip(), f"{word.zh} {rest}".strip())


def _schema_of(path: str) -> Schema:
    """The schema of a field by its declared path, annotations of the place where it is used included."""
    schema: Schema = spec_schema()
    for part in path.split("."):
        inner = _holder(schema, part)
        schema = inner["additionalProperties"] if part == "*" else inner["properties"][part]
    return schema


def _holder(schema: Schema, part: str) -> Schema:
    """The schema that knows a key: itself, what it refers to, or the branch of a union that does."""
    wanted = "additionalProperties" if part == "*" else "properties"
    return next(one for one in _unfolded(schema) if part in one.get(wanted, {}) or (part == "*" and isinstance(one.get(wanted), dict)))


def _unfolded(schema: Schema) -> Iterator[Schema]:
    yield schema
    if "$ref" in schema:
        yield from _unfolded(spec_schema()["$defs"][str(schema["$ref"]).rpartition("/")[2]])
    for branch in schema.get("anyOf", ()):
        yield from _unfolded(branch)
