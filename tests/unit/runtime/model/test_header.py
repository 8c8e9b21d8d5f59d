"""The header reader on messages written here byte by byte, field numbers as in mind_ir.proto."""

from pathlib import Path

import pytest

from runtime.faults import InputFault
from runtime.model import header


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value & (1 << 64) - 1)


def text(field: int, content: str | bytes) -> bytes:
    data = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(data)) + data


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def tensor(name: str, dtype: int, shape: tuple[int, ...], rest: bytes = b"") -> bytes:
    return b"".join(number(1, size) for size in shape) + number(2, dtype) + text(7, name) + rest


def model(graph: bytes = b"") -> bytes:
    ids = text(1, "graph0:ids") + text(2, tensor("graph0:ids", 6, (-1, -1)))
    out = text(1, "graph0:node3") + text(2, tensor("graph0:node3", 1, (-1, -1, 4000)))
    graph = text(1, text(2, "o")) * 3 + graph + text(5, ids) + text(6, out)
    entry = text(1, "written_from") + text(2, "{}")
    return text(1, "0.1.0") + text(2, "MindSpore") + text(5, "2.9.0") + text(7, graph) + text(8, b"") + number(13, 3) + text(14, entry)


def written(tmp_path: Path, data: bytes) -> Path:
    (tmp_path / "m.mindir").write_bytes(data)
    return tmp_path / "m.mindir"


def test_versions_shapes_and_own_metadata(tmp_path: Path) -> None:
    read = header.read(written(tmp_path, model()))
    assert (read.version, read.mind_ir_version, read.producer, read.nodes, read.functions) == ("2.9.0", 3, "MindSpore", 3, 1)
    assert read.inputs == [header.TensorHeader("ids", "int32", (-1, -1))]
    assert read.outputs == [header.TensorHeader("node3", "float32", (-1, -1, 4000))]
    assert read.user_info == {"written_from": "{}"}


def test_weights_are_listed_but_not_read(tmp_path: Path) -> None:
    weight = text(3, tensor("graph0:model.w", 10, (2, 70000), text(9, b"\0" * 280000)))
    read = header.read(written(tmp_path, model(weight)))
    assert read.parameters == [header.TensorHeader("model.w", "float16", (2, 70000))]


def test_a_side_file_is_named(tmp_path: Path) -> None:
    weight = text(3, tensor("graph0:model.w", 1, (2,), text(12, text(1, "model_variables/data_0") + number(2, 64))))
    assert header.read(written(tmp_path, model(weight))).parameters[0].location == "model_variables/data_0"


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 something else", b"\xff" * 40, text(5, "2.9.0")])
def test_what_is_no_mindir_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(InputFault, match="not a MINDIR file"):
        header.read(written(tmp_path, data))


def test_a_cut_within_the_graph_is_refused(tmp_path: Path) -> None:
    for size in range(20, len(model()) - 60):
        with pytest.raises(InputFault):
            header.read(written(tmp_path, model()[:size]))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputFault, match=r"absent\.mindir"):
        header.read(tmp_path / "absent.mindir")


def test_another_minor_version_is_refused_with_both_numbers(tmp_path: Path) -> None:
    read = header.read(written(tmp_path, model()))
    header.check_version(read, "2.9.1", "m.mindir")
    with pytest.raises(InputFault, match=r"written by MindSpore 2\.9\.0, installed is 2\.4\.1"):
        header.check_version(read, "2.4.1", "m.mindir")
