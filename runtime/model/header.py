"""What a MINDIR says about itself, read without MindSpore and without its weights.

A MINDIR is one Protocol Buffers message (mind_ir.ModelProto). The reader below walks its wire format and seeks over
what it does not need, so that a file of gigabytes costs as much as a small one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from runtime.faults import InputFault

TYPES = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: "string", 9: "bool",
    10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 16: "bfloat16", 17: "float64",
}  # fmt: skip
VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True)
class TensorHeader:
    """Name, element type and shape; -1 is a dimension known only at run time. `location`: side file of its data."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    location: str | None = None


@dataclass
class Header:
    """`version`: of the MindSpore that wrote the file; `user_info`: our own metadata; `nodes`: of the main graph."""

    ir_version: str = ""
    mind_ir_version: int = 0
    producer: str = ""
    version: str = ""
    nodes: int = 0
    functions: int = 0
    inputs: list[TensorHeader] = field(default_factory=list)
    outputs: list[TensorHeader] = field(default_factory=list)
    parameters: list[TensorHeader] = field(default_factory=list)
    user_info: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Span:
    """A length-delimited field: where its content starts and how long it is."""

    start: int
    length: int


class Reader:
    """Fields of messages in an open file."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size

    def fields(self, span: Span) -> Iterator[tuple[int, int | Span]]:
        """Number and value (an integer, or the span of a string or message) of every field in `span`."""
        at, end = span.start, span.start + span.length
        while at < end:
            key, at = self._varint(at)
            number, wire = key >> 3, key & 7
            if wire == VARINT:
                value, at = self._varint(at)
                yield number, value
            elif wire == LENGTH:
                length, at = self._varint(at)
                if at + length > end:
                    raise ValueError("a field is longer than the message that holds it")
                yield number, Span(at, length)
                at += length
            elif wire in (FIXED32, FIXED64):
                at += 4 if wire == FIXED32 else 8
            else:
                raise ValueError(f"wire type {wire} does not exist")
        if at != end:
            raise ValueError("the file ends within a field")

    def text(self, value: int | Span) -> str:
        """The content of a string field."""
        if isinstance(value, int):
            raise ValueError("a number stands where a text is expected")
        self._file.seek(value.start)
        return self._file.read(value.length).decode()

    def _varint(self, at: int) -> tuple[int, int]:
        self._file.seek(at)
        result = shift = 0
        for byte in self._file.read(10):
            result |= (byte & 127) << shift
            shift, at = shift + 7, at + 1
            if byte < 128:
                return result, at
        raise ValueError("the file ends within a number")


def read(path: Path) -> Header:
    """Read the header of a MINDIR file. Raises InputFault where the file is missing, cut short, or no MINDIR."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            header = _model(Reader(file, size), Span(0, size))
    except (OSError, ValueError) as error:
        raise InputFault(f"not a MINDIR file: {error}", where=str(path), fix="export the model again") from None
    if not header.version or not header.outputs:
        raise InputFault("not a MINDIR file: it names no version or no output", where=str(path), fix="export the model again")
    return header


def check_version(header: Header, installed: str, where: str) -> None:
    """Raise InputFault where a file was written by another minor version than the one that would load it."""
    if header.version.split(".")[:2] != installed.split(".")[:2]:
        raise InputFault(
            f"written by MindSpore {header.version}, installed is {installed}",
            where=where,
            reason="another version may lack an operator of the file, and says so only in a message about something else",
            fix=f"install mindspore=={header.version}, or export the model again",
        )


def _model(reader: Reader, span: Span) -> Header:
    header = Header()
    for number, value in reader.fields(span):
        if number == 1:
            header.ir_version = reader.text(value)
        elif number == 2:
            header.producer = reader.text(value)
        elif number == 5:
            header.version = reader.text(value)
        elif number == 7 and isinstance(value, Span):
            _graph(reader, value, header)
        elif number == 8:
            header.functions += 1
        elif number == 13 and isinstance(value, int):
            header.mind_ir_version = value
        elif number == 14 and isinstance(value, Span):
            entry = dict(reader.fields(value))
            header.user_info[reader.text(entry[1])] = reader.text(entry[2])
    return header


def _graph(reader: Reader, span: Span, header: Header) -> None:
    for number, value in reader.fields(span):
        if number == 1:
            header.nodes += 1
        elif number == 3 and isinstance(value, Span):
            header.parameters.append(_tensor(reader, value))
        elif number in (5, 6) and isinstance(value, Span):
            (header.inputs if number == 5 else header.outputs).append(_value_info(reader, value))


def _value_info(reader: Reader, span: Span) -> TensorHeader:
    name, tensor = "", TensorHeader("", "unknown", ())
    for number, value in reader.fields(span):
        if number == 1:
            name = _local(reader.text(value))
        elif number == 2 and isinstance(value, Span):
            tensor = _tensor(reader, value)
    return TensorHeader(name, tensor.dtype, tensor.shape)


def _tensor(reader: Reader, span: Span) -> TensorHeader:
    name, dtype, location, shape = "", "unknown", None, []
    for number, value in reader.fields(span):
        if number == 1 and isinstance(value, int):
            shape.append(_signed(value))
        elif number == 2 and isinstance(value, int):
            dtype = TYPES.get(value, f"type {value}")
        elif number == 7:
            name = _local(reader.text(value))
        elif number == 12 and isinstance(value, Span):
            location = next((reader.text(v) for n, v in reader.fields(value) if n == 1), None)
    return TensorHeader(name, dtype, tuple(shape), location)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _local(name: str) -> str:
    """A name without the graph it is qualified with."""
    return name.split(":", 1)[-1]
