"""JSON Schema 2020-12, generated from the declaration of the spec.

spec.schema.json         one whole composed spec, strict
experiment.schema.json   a file of specs/experiment: the same fields, none required, and a defaults list
mindspec.schema.json     the primary config: as an experiment, and Hydra's own settings
<group>.schema.json      a file of specs/<group>
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import CoreSchema

from compiler.source import children
from compiler.spec.root import Spec

DIALECT = "https://json-schema.org/draft/2020-12/schema"
FOLDER = "specs/schema"
GROUPS = ("data", "device", "evaluation", "export", "finetune", "model", "pretrain", "tokenizer")

Schema = dict[str, Any]

_DEFAULTS: Schema = {
    "type": "array",
    "description": "Hydra's defaults list: the files this one builds on, and _self_.",
    "items": {"anyOf": [{"type": "string"}, {"type": "object"}]},
}
_REFERENCE: Schema = {
    "type": "string",
    "description": "A reference to another value, or ??? for one that must be given.",
    "pattern": r"^(.*\$\{.+\}.*|\?\?\?)$",
}
_LIMITS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
_ANNOTATIONS = ("description", "default", "x-doc-zh", "x-mindspec-class", "x-unit")


class _Declared(GenerateJsonSchema):
    """Pydantic's generator, without titles made up from names."""

    schema_dialect = DIALECT

    def generate(self, schema: CoreSchema, mode: JsonSchemaMode = "validation") -> JsonSchemaValue:
        generated = super().generate(schema, mode)
        for part in (generated, *generated.get("$defs", {}).values()):
            part.pop("title", None)
            for declared in part.get("properties", {}).values():
                declared.pop("title", None)
        return _with_limits(generated)


def _with_limits(node: Any) -> Any:
    """Pydantic writes a limit of an optional field under its own name, where no reader of JSON Schema looks for it."""
    if isinstance(node, dict):
        return {_LIMITS.get(key, key): _with_limits(value) for key, value in cast(Schema, node).items()}
    return [_with_limits(item) for item in cast(list[Any], node)] if isinstance(node, list) else node


@cache
def spec_schema() -> Schema:
    """The schema of a whole spec. The result is shared: do not change it."""
    generated = Spec.model_json_schema(schema_generator=_Declared)
    return {"$schema": DIALECT, "title": "mindspec: one experiment", **generated}


def experiment_schema() -> Schema:
    """The schema of a file of specs/experiment."""
    partial = _partial(spec_schema())
    partial["title"] = "mindspec: an experiment file"
    partial["properties"] = {"defaults": _DEFAULTS, **partial["properties"]}
    return partial


def primary_schema() -> Schema:
    """The schema of specs/mindspec.yaml."""
    primary = experiment_schema()
    primary["title"] = "mindspec: what every experiment starts from"
    primary["properties"]["hydra"] = {"type": "object", "description": "Hydra's own settings."}
    return primary


def group_schema(group: str) -> Schema:
    """The schema of a file of specs/<group>."""
    partial = _partial(spec_schema())
    name = partial["properties"][group]["$ref"].rpartition("/")[2]
    own = partial["$defs"][name]
    own = {**own, "properties": {"defaults": _DEFAULTS, **own["properties"]}}
    used = _reachable(own, partial["$defs"])
    return {
        "$schema": DIALECT,
        "title": f"mindspec: a file of specs/{group}",
        "$defs": {key: value for key, value in partial["$defs"].items() if key in used},
        **own,
    }


def schemas() -> dict[str, Schema]:
    """All schemas by file name."""
    groups = {f"{group}.schema.json": group_schema(group) for group in GROUPS}
    whole = {
        "spec.schema.json": spec_schema(),
        "experiment.schema.json": experiment_schema(),
        "mindspec.schema.json": primary_schema(),
    }
    return dict(sorted({**whole, **groups}.items()))


def text(schema: Schema) -> str:
    """The text of a schema file."""
    return json.dumps(schema, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write(root: Path) -> list[Path]:
    """Write all schemas below `root`; returns the files."""
    folder = root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, schema in schemas().items():
        (folder / name).write_text(text(schema), encoding="utf-8", newline="\n")
    return [folder / name for name in schemas()]


def _partial(schema: Schema) -> Schema:
    """A schema of files that are merged: nothing is required, a value may be a reference, and null takes a named entry out."""
    partial: Schema = json.loads(json.dumps(schema))
    partial["$defs"]["Reference"] = _REFERENCE
    for part in (partial, *partial["$defs"].values()):
        part.pop("required", None)
        properties = part.get("properties", {})
        for key, declared in properties.items():
            properties[key] = _or_taken_out(_or_reference(declared))
    return partial


def _or_reference(declared: Schema) -> Schema:
    if declared.get("type") in ("object", "array") or "$ref" in declared or _is_free_text(declared):
        return declared
    outer = {key: declared[key] for key in _ANNOTATIONS if key in declared}
    inner = {key: value for key, value in declared.items() if key not in outer}
    branches = inner["anyOf"] if set(inner) == {"anyOf"} else [inner]
    return {"anyOf": [*branches, {"$ref": "#/$defs/Reference"}], **outer}


def _or_taken_out(declared: Schema) -> Schema:
    """A map of named entries, in which null takes an inherited one out."""
    values = declared.get("additionalProperties")
    if not isinstance(values, dict):
        return declared
    return {**declared, "additionalProperties": {"anyOf": [values, {"type": "null"}]}}


def _is_free_text(declared: Schema) -> bool:
    return declared.get("type") == "string" and not {"enum", "const", "pattern"} & declared.keys()


def _reachable(schema: Schema, definitions: dict[str, Schema]) -> set[str]:
    found: set[str] = set()
    waiting = list(_references(schema))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _references(definitions[name])
    return found


def _references(node: Any) -> Iterator[str]:
    for key, value in children(node):
        if key == "$ref":
            yield str(value).rpartition("/")[2]
        yield from _references(value)
