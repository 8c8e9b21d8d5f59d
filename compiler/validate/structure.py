"""Structural faults: the generated JSON Schema through `jsonschema`, told in the terms of the spec.

A union is explained by the branch the user meant, and no message repeats the whole instance.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import pydantic

from compiler import suggest
from compiler.diagnostics import Diagnostic
from compiler.parse.full_width import full_width, half_width
from compiler.quoting import override_in_quotes
from compiler.source import Path, Place, SourceTree, leaves
from compiler.spec import Spec
from compiler.spec.declare import DOC_ZH_KEY, TYPE_KEY
from compiler.validate.described import TYPE_NAMES, describe, show
from compiler.wording import Said, listed, said
from runtime.contracts.counting import counted

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

Schema = dict[str, Any]
_SUGGESTIONS = 300  # unknown keys for which the one that was meant is looked for

_PATTERNS = {
    r"^[a-z0-9][a-z0-9-]*$": said(
        "lower-case letters, digits and hyphens, a letter or digit first", "小写字母、数字和连字符，并以字母或数字开头"
    ),
    r"^[A-Za-z][A-Za-z0-9_-]*$": said(
        "letters, digits, hyphens and underscores, a letter first", "字母、数字、连字符和下划线，并以字母开头"
    ),
    r"^[a-z]{2,3}(-[A-Za-z]+)*$": said("a language tag such as en or zh", "en、zh 之类的语言标签"),
}
_LIMITS = {
    "minimum": said("at least", "不小于"), "exclusiveMinimum": said("greater than", "大于"),
    "maximum": said("at most", "不大于"), "exclusiveMaximum": said("less than", "小于"),
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
    told, left = set[Path](), iter(range(_SUGGESTIONS))
    for violation in sorted(_violations(tree), key=_priority):
        if violation.keyword in ("additionalProperties", "required") or violation.path not in told:
            told.add(violation.path)
            yield from _explain(violation, tree, left)


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


def _explain(error: Violation, tree: SourceTree, left: Iterator[int]) -> Iterable[Diagnostic]:
    match error.keyword:
        case "additionalProperties":
            return _unknown_keys(error, tree, left)
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


def _unknown_keys(error: Violation, tree: SourceTree, left: Iterator[int]) -> Iterator[Diagnostic]:
    """`left`: how many more keys are compared with all that are known, which takes a millisecond each."""
    known = error.schema.get("properties", {})
    for key in error.instance:
        if key not in known:
            compared = next(left, None) is not None
            meant = suggest.key([str(part) for part in error.path], key, known, error.instance) if compared else None
            yield _unknown_key(key, meant, error, tree)


def _is_a_spec(value: object) -> bool:
    return isinstance(value, Mapping) and "name" in value


def _unknown_key(key: str, meant: str | None, error: Violation, tree: SourceTree) -> Diagnostic:
    path, known = error.path, error.schema.get("properties", {})
    if not path and (key == "experiment" or _is_a_spec(error.instance[key])):
        hint = said("begin the file with the line `# @package _global_`", "请在文件开头加上一行 `# @package _global_`")
    elif wide := full_width(tree.key_place((*path, key))):
        hint = wide[1]
    elif meant:
        hint = suggest.did_you_mean(meant)
    else:
        options = suggest.offered(key, known)
        hint = said(f"known here: {options}", f"此处可用的有：{options.zh}")
    return Diagnostic(
        "MS0201",
        said("unknown key", "未知的键"),
        tree.key_place((*path, key)),
        (*path, key),
        reason=said("a key that nothing reads would leave the default in force without a word", "没有任何程序读取的键会让默认值悄悄生效"),
        fix=hint,
        suggestion=meant or "",
    )


def _missing_keys(error: Violation, tree: SourceTree) -> Iterator[Diagnostic]:
    properties = error.schema.get("properties", {})
    here = [str(part) for part in error.path]
    unknown = list(islice((key for key in error.instance if key not in properties), _SUGGESTIONS))
    misspelt = {suggest.key(here, key, properties, error.instance) for key in unknown}
    name = re.match(r"'(.*)' is a required property", error.message).group(1)  # type: ignore[union-attr]
    # Without its header `# @package _global_` a file stands below another key, with all that it says.
    elsewhere = any(isinstance(below := error.instance[key], Mapping) and name in below for key in unknown)
    if ".".join([*here, name]) not in misspelt and not elsewhere:
        doc, zh = (str(properties[name].get(key, "")).rstrip(".。") for key in ("description", DOC_ZH_KEY))
        fix = said(f"add `{name}:` ({doc})", f"请加上 `{name}:`（{zh}）")
        path = (*error.path, name)
        place = tree.keys.get(path) or tree.key_place(error.path)  # taken away by an override, or never given
        yield Diagnostic("MS0202", said("must be given", "必须给出"), place, path, fix=fix)


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
            said(f"expected {_names(expected)}, got the text {show(value)}", f"应为{_names(expected).zh}，实际是文本 {show(value)}"),
            place,
            error.path,
            reason=said("text does not compare or compute as a number", "文本不能像数值那样比较和计算"),
            fix=said(f"remove the quotes: {value}", f"请去掉引号：{value}"),
            suggestion=value,
        )
    if expected <= {"string", "null"} and isinstance(value, (bool, int, float)):
        return _unquoted(error.path, value, tree)
    if isinstance(value, str) and {"integer", "number"} & expected and _number(plain := half_width(value)):
        return _odd_digits(error, value, plain, place)
    message = said(f"expected {_names(expected)}, got {describe(value)}", f"应为{_names(expected).zh}，实际是{describe(value).zh}")
    example = _example(expected)
    return Diagnostic("MS0203", message, place, error.path, fix=said(f"write {example}", f"请写{example.zh}"))


def _odd_digits(error: Violation, value: str, plain: str, place: Place) -> Diagnostic:
    """Characters that look like those of a number, such as full-width digits, or that nobody sees."""
    expected = _names(_expected(error))
    return Diagnostic(
        "MS0203",
        said(f"expected {expected}, got the text {show(value)}", f"应为{expected.zh}，实际是文本 {show(value)}"),
        place,
        error.path,
        fix=said(f"write {plain} in plain ASCII digits", f"请用半角字符写成 {plain}"),
        suggestion=plain,
    )


def _referred(path: Path, value: str, place: Place) -> Diagnostic:
    """A reference to text: quotes were never there."""
    return Diagnostic(
        "MS0207",
        said(f"expected a number, but the reference gives the text {show(value)}", f"应为数值，但引用得到的是文本 {show(value)}"),
        place,
        path,
        reason=said(
            "text does not compare or compute as a number; a variable of the environment is always text",
            "文本不能像数值那样比较和计算；环境变量总是文本",
        ),
        fix=said('let the text be read as a number: "${oc.decode:${...}}"', '请让文本按数值读取："${oc.decode:${...}}"'),
    )


def _unquoted(path: Path, value: Any, tree: SourceTree) -> Diagnostic:
    written = tree.written.get(path, show(value))
    override = override_in_quotes(tree.place(path), written)
    return Diagnostic(
        "MS0208",
        said(f"expected text, got {describe(value)}", f"应为文本，实际是{describe(value).zh}"),
        tree.place(path),
        path,
        reason=said(
            f"{written} without quotes is read as {describe(value)}; the characters themselves are lost",
            f"不加引号的 {written} 会被读作{describe(value).zh}，原来的字符会丢失",
        ),
        fix=said(f"write {override}", f"请写成 {override}")
        if override
        else said(f'write "{written}" in quotes', f'请加引号，写成 "{written}"'),
        suggestion=f'"{written}"',
    )


def _not_allowed(error: Violation, tree: SourceTree) -> Diagnostic:
    allowed = [error.schema["const"]] if "const" in error.schema else list(error.schema["enum"])
    meant = suggest.closest(error.instance, map(str, allowed)) if isinstance(error.instance, str) else None
    hint = suggest.did_you_mean(meant) if meant else said("", "")
    options = listed(allowed)
    return Diagnostic(
        "MS0204",
        said(f"{show(error.instance)} is not allowed", f"不允许的取值 {show(error.instance)}"),
        tree.place(error.path),
        error.path,
        fix=said(f"{hint} allowed: {options}".lstrip(), f"{hint.zh}可取：{options.zh}"),
        suggestion=meant or "",
    )


def _malformed(error: Violation, tree: SourceTree) -> Diagnostic:
    if error.schema.get(TYPE_KEY) == "size":
        wanted = said(
            "a size such as 8MB (8,000,000 bytes) or 2GiB (2 x 1,073,741,824 bytes)",
            "8MB（8,000,000 字节）、2GiB（2 x 1,073,741,824 字节）之类的大小",
        )
    else:
        wanted = _PATTERNS[error.limit]
    message = said(f"{show(error.instance)} is malformed", f"{show(error.instance)} 的格式不正确")
    return Diagnostic("MS0206", message, tree.place(error.path), error.path, fix=said(f"write {wanted}", f"请写{wanted.zh}"))


def _out_of_range(error: Violation, tree: SourceTree) -> Diagnostic:
    limit = error.limit
    counted = {"minItems": said("at least", "至少"), "maxItems": said("at most", "至多")}
    if error.keyword in counted:
        word, count = counted[error.keyword], len(error.instance)
        message = said(f"a list of {count}, but {word} {limit} needed", f"列表有 {count} 项，但{word.zh}需要 {limit} 项")
    elif error.keyword == "minLength":
        message = said("the text is empty", "文本为空")
    else:
        word = _LIMITS[error.keyword]
        message = said(f"{show(error.instance)} is not {word} {show(limit)}", f"{show(error.instance)} 应{word.zh} {show(limit)}")
    return Diagnostic("MS0205", message, tree.place(error.path), error.path, fix=_range(error.schema))


def _range(schema: Schema) -> Said:
    """What would be accepted, in words."""
    if "minLength" in schema:
        return said("write some text", "请写一些文本")
    if schema.get("type") == "array":
        least, most = schema.get("minItems"), schema.get("maxItems")
        if least == most:
            return said(f"write {least} values", f"请写 {least} 个值")
        return said(f"write at least {counted(least or 0, 'value')}", f"请至少写 {least} 个值")
    limits = listed(said(f"{word} {show(schema[key])}", f"{word.zh} {show(schema[key])}") for key, word in _LIMITS.items() if key in schema)
    return said(f"choose a value: {limits}", f"请取值：{limits.zh}")


def _not_finite(tree: SourceTree) -> Iterator[Diagnostic]:
    """NaN passes every comparison of a schema."""
    for path, value in leaves(tree.values):
        if isinstance(value, float) and not math.isfinite(value):
            message = said(f"{value} is not a finite number", f"{value} 不是有限的数值")
            yield Diagnostic("MS0205", message, tree.place(path), path, fix=said("write a number", "请写一个数值"))


def _line_ends(tree: SourceTree) -> Iterator[Diagnostic]:
    """To a pattern that ends in `$`, as to most tools, a text and the same text with a line end are one."""
    for path, value in leaves(tree.values):
        prose = path in (("title",), ("description",)) or path[-2:-1] in (("deny",), ("allow",))
        if isinstance(value, str) and not prose and value != value.rstrip("\r\n"):
            message = said(f"{show(value)} ends in a line end", f"{show(value)} 末尾有换行符")
            yield Diagnostic("MS0206", message, tree.place(path), path, fix=said("write the text in one line", "请写成一行"))


def _expected(error: Violation) -> set[str]:
    if error.keyword == "type":
        value = error.limit
        return {value} if isinstance(value, str) else set(value)
    types = [_resolved(branch).get("type", "string") for branch in error.limit]
    return {name for one in types for name in ([one] if isinstance(one, str) else one)}


def _resolved(schema: Schema) -> Schema:
    from compiler.schema import spec_schema

    reference = schema.get("$ref")
    return spec_schema()["$defs"][reference.rpartition("/")[2]] if reference else schema


def _names(expected: set[str]) -> Said:
    if expected >= {"integer", "string"}:
        size, others = said("a size", "大小"), expected - {"integer", "string"}
        return said(f"{size} or {_names(others)}", f"{size.zh}或{_names(others).zh}") if others else size
    names = [TYPE_NAMES[name] for name in sorted(expected, key=list(TYPE_NAMES).index)]
    return said(" or ".join(names), "或".join(name.zh for name in names))


def _example(expected: set[str]) -> Said:
    if "boolean" in expected:
        return said("true or false without quotes", "不带引号的 true 或 false")
    return _names(expected)


def _number(text: str) -> bool:
    return re.fullmatch(r"\s*[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?\s*", text) is not None
