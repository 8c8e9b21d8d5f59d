"""How a field of the spec is declared.

Each field is one of three classes, which decide where its value goes:

- identity changes results; it reaches `config/` and `params.json`, and so the key of a stage;
- placement says where and how fast a stage runs; no stage depends on it;
- presentation is what a reader sees; the report alone depends on it.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema
from pydantic_core import PydanticUndefined

from compiler.wording import said

FieldClass = Literal["identity", "placement", "presentation"]

CLASS_KEY = "x-mindspec-class"
DOC_ZH_KEY = "x-doc-zh"
UNIT_KEY = "x-unit"
TYPE_KEY = "x-mindspec-type"

_UNITS = {
    "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
}  # fmt: skip
MOST = 2**31 - 1  # MindSpore counts steps and sizes in 32 bits
SIZE_PATTERN = r"^[0-9]+(\.[0-9]+)? ?(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)$"

T = TypeVar("T")


class Section(BaseModel):
    """A mapping of the spec with a closed set of keys; immutable, and no value is converted silently."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, protected_namespaces=())


def _declare(doc: str, zh: str, extra: dict[str, Any], default: Any, constraints: dict[str, Any]) -> Any:
    schema = {DOC_ZH_KEY: zh, **{key: value for key, value in extra.items() if value is not None}}
    return Field(default, description=doc, json_schema_extra=schema, **constraints)


def identity(doc: str, zh: str, *, unit: str | None = None, default: Any = PydanticUndefined, **constraints: Any) -> Any:
    """A field whose value changes results."""
    return _declare(doc, zh, {CLASS_KEY: "identity", UNIT_KEY: unit}, default, constraints)


def placement(doc: str, zh: str, *, unit: str | None = None, default: Any = PydanticUndefined, **constraints: Any) -> Any:
    """A field that says where and how fast, never what."""
    return _declare(doc, zh, {CLASS_KEY: "placement", UNIT_KEY: unit}, default, constraints)


def presentation(doc: str, zh: str, *, default: Any = PydanticUndefined, **constraints: Any) -> Any:
    """A field for the reader of a report."""
    return _declare(doc, zh, {CLASS_KEY: "presentation"}, default, constraints)


def section(doc: str, zh: str, *, default: Any = PydanticUndefined) -> Any:
    """A field that holds further fields; those carry the class."""
    return _declare(doc, zh, {}, default, {})


def parse_size(value: object) -> object:
    """Bytes of a size text: MB is 10**6, MiB is 2**20; a plain integer counts bytes.

    Raises ValueError for a text that is no size or no whole number of bytes.
    """
    if not isinstance(value, str):
        return _integral(value)
    if not re.fullmatch(SIZE_PATTERN, value) or value.endswith("\n"):  # `$` also stands before a last line end
        raise ValueError(said("not a size such as 8MB or 2GiB", "不是 8MB、2GiB 之类的大小"))
    number, unit = re.fullmatch(r"([0-9.]+) ?([A-Za-z]+)", value).groups()  # type: ignore[union-attr]
    size = Decimal(number) * _UNITS[unit]
    if size != int(size):
        raise ValueError(said("not a whole number of bytes", "不是整数个字节"))
    return int(size)


def _integral(value: object) -> object:
    """1e3 is a float to every reader; in an integer field it means 1000."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value  # type: ignore[arg-type]


def _sorted(value: object) -> object:
    """The order in which a map was written or composed carries no meaning."""
    return dict(sorted(value.items())) if isinstance(value, Mapping) else value  # type: ignore[arg-type]


Seed = Annotated[int, Field(ge=0, le=2**32 - 1), BeforeValidator(_integral)]
Integer = Annotated[int, Field(le=MOST), BeforeValidator(_integral)]
Index = Annotated[int, Field(ge=0, le=MOST), BeforeValidator(_integral)]
Limited = Annotated[int, BeforeValidator(_integral)]  # an integer whose field says how large it may be
Weight = Annotated[float, Field(ge=0, le=1e12)]  # a size in bytes may stand for one; sums stay numbers
Items = Annotated[tuple[T, ...], BeforeValidator(_tuple), PlainSerializer(list)]
Some = Annotated[tuple[T, ...], Field(min_length=1), BeforeValidator(_tuple), PlainSerializer(list)]
Pair = Annotated[tuple[T, ...], Field(min_length=2, max_length=2), BeforeValidator(_tuple), PlainSerializer(list)]
Named = Annotated[dict[str, T], BeforeValidator(_sorted)]
Bytes = Annotated[
    int,
    BeforeValidator(parse_size),
    Field(ge=1, le=2**63 - 1),
    WithJsonSchema(
        {
            "type": ["integer", "string"],
            "minimum": 1,
            "maximum": 2**63 - 1,
            "pattern": SIZE_PATTERN,
            "examples": ["8MB", "2GiB"],
            TYPE_KEY: "size",
        }
    ),
]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
Label = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
Text = Annotated[str, Field(min_length=1)]
Dtype = Literal["float32", "float16", "bfloat16"]
