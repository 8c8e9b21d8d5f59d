"""Structural faults: the generated JSON Schema through `jsonschema`, told in the terms of the spec.

A union is explained by the branch the user meant, and no message repeats the whole instance.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import pydantic

from compiler.diagnostics import Diagnostic
from compiler.source import Path, Place, SourceTree, leaves
from compiler.spec import Spec
from compiler.spec.declare import TYPE_KEY
from compiler.validate import suggest

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

Schema = dict[str, Any]

_TYPE_NAMES = {
    "integer": "an integer", "number": "a number", "string": "text", "boolean": "true or false",
    "object": "a mapping", "array": "a list", "null": "null",
}  # fmt: skip
_PATTERNS = {
    r"^[a-z0-9][a-z0-9-]*$": "lower-case letters, digits and hyphens, a letter or digit first",
    r"^[A-Za-z][A-Za-z0-9_-]*$": "letters, digits, hyphens and underscores, a letter first",
    r"^[a-z]{2,3}(-[A-Za-z]+)*$": "a language tag such as en or zh",
}
_LIMITS = {
    "minimum": "at least", "exclusiveMinimum": "greater than",
    "maximum": "at most", "exclusiveMaximum": "less than",
}  # fmt: skip


class Violation(NamedTuple):
    """One keyword of the schema that an instance violates; `limit` is the value of the keyword."""

    keyword: str
    limit: Any
    instance: Any
    schema: Schema
    path: Path
    message: str


def faults(tree: SourceTree) -> Iterator[Diagnostic]:
    """Every structural fault of a tree, one a path."""
    yield from _not_finite(tree)
    yield from _line_ends(tree)
    if _typed(tree):
        return
    told: set[Path] = set()
    for violation in sorted(_violations(tree), key=_priority):
        if violation.keyword in ("additionalProperties", "required") or violation.path not in told:
            told.add(violation.path)
            yield from _explain(violation, tree)


def _typed(tree: SourceTree) -> bool:
    """Whether the types accept a tree: they take nothing that the schema refuses, which is slow to make and only explains."""
    try:
        Spec.model_validate(tree.values)
    except pydantic.ValidationError:
        return False
    return True


def _violations(tree: SourceTree) -> Iterator[Violation]:
    from jsonschema import Draft202012Validator

    from compiler.schema import spec_schema

    validator: Any = Draft202012Validator(spec_schema())
    for error in validator.iter_errors(tree.values):
        for leaf in _meant(error):
            plain: Any = leaf
            yield Violation(
                str(plain.validator), plain.validator_value, plain.instance, plain.schema, tuple(plain.absolute_path), plain.message
            )


def _priority(violation: Violation) -> int:
    """A wrong type explains the other faults of the same value."""
    return 0 if violation.keyword == "type" else 1


def _meant(error: "ValidationError") -> "Iterator[ValidationError]":
    """An error of a union as the errors of the branch whose type the value has."""
    if error.validator != "anyOf":
        yield error
        return
    branches: dict[int | str, list[ValidationError]] = {}
    for inner in error.context or ():
        branches.setdefault(inner.schema_path[0], []).append(inner)
    fitting = [inner for inner in branches.values() if not any(_refuses_type(one, error) for one in inner)]
    if len(fitting) == 1:
        for inner in fitting[0]:
            yield from _meant(inner)
    else:
        yield error


def _refuses_type(inner: "ValidationError", outer: "ValidationError") -> bool:
    return inner.validator == "type" and inner.absolute_path == outer.absolute_path


def _explain(error: Violation, tree: SourceTree) -> Iterable[Diagnostic]:
    match error.keyword:
        case "additionalProperties":
            return _unknown_keys(error, tree)
        case "required":
            return _missing_keys(error, tree)
        case "type" | "anyOf":
            return [_wrong_type(error, tree)]
        case "enum" | "const":
            return [_not_allowed(error, tree)]
        case "pattern":
            return [_malformed(error, tree)]
        case _:
            return [_out_of_range(error, tree)]


def _unknown_keys(error: Violation, tree: SourceTree) -> Iterator[Diagnostic]:
    known = error.schema.get("properties", {})
    for key in error.instance:
        if key not in known:
            yield _unknown_key(key, error.path, error.instance, known, tree)


def _unknown_key(key: str, path: Path, given: Iterable[str], known: Iterable[str], tree: SourceTree) -> Diagnostic:
    parent = [str(part) for part in path]
    meant = suggest.key(parent, key, known, given)
    if not path and key == "experiment":
        hint = "begin the file with the line `# @package _global_`"
    else:
        hint = f"did you mean {meant}?" if meant else f"known here: {', '.join(known)}"
    return Diagnostic(
        "MS0201",
        "unknown key",
        tree.key_place((*path, key)),
        (*path, key),
        reason="a key that nothing reads would leave the default in force without a word",
        fix=hint,
        suggestion=meant or "",
    )


def _missing_keys(error: Violation, tree: SourceTree) -> Iterator[Diagnostic]:
    properties = error.schema.get("properties", {})
    here = [str(part) for part in error.path]
    unknown = [key for key in error.instance if key not in properties]
    misspelt = {suggest.key(here, key, properties, error.instance) for key in unknown}
    name = re.match(r"'(.*)' is a required property", error.message).group(1)  # type: ignore[union-attr]
    if ".".join([*here, name]) not in misspelt:
        doc = str(properties[name].get("description", ""))
        yield Diagnostic(
            "MS0202", "must be given", tree.key_place(error.path), (*error.path, name), fix=f"add `{name}:` ({doc.rstrip('.')})"
        )


def _wrong_type(error: Violation, tree: SourceTree) -> Diagnostic:
    if {"enum", "const"} & error.schema.keys():
        return _not_allowed(error, tree)
    expected, value = _expected(error), error.instance
    place = tree.place(error.path)
    if isinstance(value, str) and {"integer", "number"} & expected and _number(value):
        if "${" in place.text:
            return _referred(error.path, value, place)
        return Diagnostic(
            "MS0207",
            f"expected {_names(expected)}, got the text {_show(value)}",
            place,
            error.path,
            reason="text does not compare or compute as a number",
            fix=f"remove the quotes: {value}",
            suggestion=value,
        )
    if expected <= {"string", "null"} and isinstance(value, (bool, int, float)):
        return _unquoted(error.path, value, tree)
    return Diagnostic(
        "MS0203", f"expected {_names(expected)}, got {_describe(value)}", place, error.path, fix=f"write {_example(error, expected)}"
    )


def _referred(path: Path, value: str, place: Place) -> Diagnostic:
    """A reference to text: quotes were never there."""
    return Diagnostic(
        "MS0207",
        f"expected a number, but the reference gives the text {_show(value)}",
        place,
        path,
        reason="text does not compare or compute as a number; a variable of the environment is always text",
        fix='let the text be read as a number: "${oc.decode:${...}}"',
    )


def _unquoted(path: Path, value: Any, tree: SourceTree) -> Diagnostic:
    written = tree.written.get(path, _show(value))
    return Diagnostic(
        "MS0208",
        f"expected text, got {_describe(value)}",
        tree.place(path),
        path,
        reason=f"{written} without quotes is read as {_describe(value)}; the characters themselves are lost",
        fix=f'write "{written}" in quotes',
        suggestion=f'"{written}"',
    )


def _not_allowed(error: Violation, tree: SourceTree) -> Diagnostic:
    allowed = [error.schema["const"]] if "const" in error.schema else list(error.schema["enum"])
    meant = suggest.closest(error.instance, map(str, allowed)) if isinstance(error.instance, str) else None
    hint = f"did you mean {meant}? " if meant else ""
    return Diagnostic(
        "MS0204",
        f"{_show(error.instance)} is not allowed",
        tree.place(error.path),
        error.path,
        fix=f"{hint}allowed: {', '.join(map(str, allowed))}",
        suggestion=meant or "",
    )


def _malformed(error: Violation, tree: SourceTree) -> Diagnostic:
    if error.schema.get(TYPE_KEY) == "size":
        wanted = "a size such as 8MB (8,000,000 bytes) or 2GiB (2 x 1,073,741,824 bytes)"
    else:
        wanted = _PATTERNS[error.limit]
    return Diagnostic("MS0206", f"{_show(error.instance)} is malformed", tree.place(error.path), error.path, fix=f"write {wanted}")


def _out_of_range(error: Violation, tree: SourceTree) -> Diagnostic:
    limit = error.limit
    counted = {"minItems": "at least", "maxItems": "at most"}
    if error.keyword in counted:
        message = f"a list of {len(error.instance)}, but {counted[error.keyword]} {limit} needed"
    elif error.keyword == "minLength":
        message = "the text is empty"
    else:
        message = f"{_show(error.instance)} is not {_LIMITS[error.keyword]} {_show(limit)}"
    return Diagnostic("MS0205", message, tree.place(error.path), error.path, fix=_range(error.schema))


def _range(schema: Schema) -> str:
    """What would be accepted, in words."""
    if "minLength" in schema:
        return "write some text"
    if schema.get("type") == "array":
        least, most = schema.get("minItems"), schema.get("maxItems")
        return f"write {least} values" if least == most else f"write at least {least} value{'s' * (least != 1)}"
    limits = [f"{word} {_show(schema[key])}" for key, word in _LIMITS.items() if key in schema]
    return f"choose a value: {', '.join(limits)}"


def _not_finite(tree: SourceTree) -> Iterator[Diagnostic]:
    """NaN passes every comparison of a schema."""
    for path, value in leaves(tree.values):
        if isinstance(value, float) and not math.isfinite(value):
            yield Diagnostic("MS0205", f"{value} is not a finite number", tree.place(path), path, fix="write a number")


def _line_ends(tree: SourceTree) -> Iterator[Diagnostic]:
    """To a pattern that ends in `$`, as to most tools, a text and the same text with a line end are one."""
    for path, value in leaves(tree.values):
        prose = path in (("title",), ("description",)) or path[-2:-1] in (("deny",), ("allow",))
        if isinstance(value, str) and not prose and value != value.rstrip("\r\n"):
            yield Diagnostic("MS0206", f"{_show(value)} ends in a line end", tree.place(path), path, fix="write the text in one line")


def _expected(error: Violation) -> set[str]:
    if error.keyword == "type":
        value = error.limit
        return {value} if isinstance(value, str) else set(value)
    branches = [_resolved(branch) for branch in error.limit]
    return {str(branch.get("type", "string")) for branch in branches}


def _resolved(schema: Schema) -> Schema:
    from compiler.schema import spec_schema

    reference = schema.get("$ref")
    return spec_schema()["$defs"][reference.rpartition("/")[2]] if reference else schema


def _names(expected: set[str]) -> str:
    if expected == {"integer", "string"}:
        return "a size"
    return " or ".join(_TYPE_NAMES[name] for name in sorted(expected, key=list(_TYPE_NAMES).index))


def _example(error: Violation, expected: set[str]) -> str:
    if "boolean" in expected:
        return "true or false without quotes"
    return _names(expected)


_DESCRIBE: tuple[tuple[type, Callable[[Any], str]], ...] = (
    (bool, lambda value: f"the boolean {str(value).lower()}"),
    (int, lambda value: f"the number {value}"),
    (float, lambda value: f"the number {value}"),
    (str, lambda value: f"the text {_show(value)}"),
    (list, lambda value: f"a list of {len(value)}"),
    (Mapping, lambda _value: "a mapping"),
)


def _describe(value: Any) -> str:
    return next((describe(value) for kind, describe in _DESCRIBE if isinstance(value, kind)), "null")


def _show(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _number(text: str) -> bool:
    return re.fullmatch(r"\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*", text) is not None
