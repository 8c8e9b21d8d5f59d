"""export: the merged model as a MINDIR whose bytes depend on the model alone, checked by loading it again."""

import json
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from runtime.contracts import installed
from runtime.contracts.export import Export
from runtime.faults import InputFault, StageFault
from runtime.model import context, description, header
from runtime.stage import Stage

NAME = "model"
DYNAMIC = -1
TOLERANCE = {"float32": 1.0e-05, "float16": 1.0e-03}
CHECKED_BATCH = 2


def run(stage: Stage[Export]) -> None:
    """Build, fill, compile, export, load again, compare; `mindir/` gets the files MindSpore wrote and io.json."""
    asked = stage.parameters
    folder = stage.input("merged")
    described = description.read(folder)
    check_merged(described)
    context.prepare(stage.scratch / "mindspore", stage.placement.threads)
    device = {"cpu": "CPU", "gpu": "GPU", "ascend": "Ascend"}[asked.device]
    context.check_device(device)
    with stage.bar(4, "steps") as bar:
        ids = sample(described.config)
        expected = write(folder, stage.out, asked, device, ids)
        bar.advance(2)
        files = make_readable(stage.out)
        read = header.read(stage.out / graph_file(files))
        check_header(read, described, asked)
        bar.advance()
        difference = float(np.abs(load_and_run(stage.out / graph_file(files), ids) - expected).max())
        bar.advance()
    check_difference(difference, asked.dtype)
    _describe(stage, described, read, files, difference)


def check_merged(described: description.Description) -> None:
    """Raise InputFault for weights that hold no adapter: they are not what was fine-tuned."""
    if not described.merged:
        raise InputFault("these weights hold no adapter", where="merged/model.json", fix="delete the folder merged and run `dvc repro`")


def sample(config: dict[str, int]) -> np.ndarray:
    """Ids (batch, length) int32 that use the whole vocabulary and the whole length, the same every time."""
    generator = np.random.Generator(np.random.PCG64(0))
    return generator.integers(0, config["vocab_size"], (CHECKED_BATCH, config["seq_length"])).astype(np.int32)


def write(folder: Path, out: Path, asked: Export, device: str, ids: np.ndarray) -> np.ndarray:
    """Export the model of `folder` below `out` and return the network's own logits of `ids`. Raises StageFault."""
    import mindspore as ms

    from runtime.model import network
    from runtime.model.mindir import canonicalize

    network.open_device(device)
    described = description.read(folder)
    dynamic = asked.shape == "dynamic"
    net = network.open_folder(folder, asked.dtype, dynamic)
    expected = network.logits(net, ids)

    def finish(model: Any) -> None:
        canonicalize(model)
        for key, value in user_info(described).items():
            model.user_info.add(key=key, value=value)

    shape = ms.Tensor(shape=[None, None], dtype=ms.int32) if dynamic else ms.Tensor(ids[:1])
    try:
        ms.export(net, shape, file_name=str(out / NAME), file_format="MINDIR", custom_func=finish)
    except (RuntimeError, TypeError, ValueError) as error:
        traceback.print_exc()  # into the log
        first = next((line for line in str(error).splitlines() if line.strip()), "")
        raise StageFault(
            f"the network cannot be exported: {first}",
            where="config/export.yaml",
            reason="an operator of it has no MINDIR form for this shape or type",
            fix="try shape: static or dtype: float32",
        ) from error
    return expected


def user_info(described: description.Description) -> dict[str, str]:
    """Our own metadata in the file: which weights, which versions wrote it."""
    versions = {library: installed.installed_version(library) or "" for library in ("mindspore", "mindformers")}
    return {"weights_sha256": described.weights_sha256, **versions}


def make_readable(out: Path) -> list[str]:
    """Give the files MindSpore leaves at 0400 their usual rights, and list them. Large models come as a graph and a folder of data."""
    for path in out.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())


def graph_file(files: list[str]) -> str:
    """The file that is loaded: the model itself, or its graph where weights lie beside it. Raises StageFault."""
    graphs = [name for name in files if name in (f"{NAME}.mindir", f"{NAME}_graph.mindir")]
    if len(graphs) != 1:
        raise StageFault(f"expected one MINDIR, found {', '.join(files) or 'nothing'}", where="mindir", fix="run export again")
    return graphs[0]


def check_header(read: header.Header, described: description.Description, asked: Export) -> None:
    """Refuse a file whose version, weights or shapes are not the ones that were asked for."""
    version = installed.installed_version("mindspore")
    wanted = (DYNAMIC, DYNAMIC) if asked.shape == "dynamic" else (1, described.config["seq_length"])
    wrong = [f"version {read.version}, not {version}"] if read.version != version else []
    wrong += [f"weights {read.user_info.get('weights_sha256')}"] if read.user_info.get("weights_sha256") != described.weights_sha256 else []
    wrong += [f"inputs {read.inputs}"] if [(i.dtype, i.shape) for i in read.inputs] != [("int32", wanted)] else []
    if wrong:
        raise StageFault("; ".join(wrong), where="mindir", reason="the file is not the model that was asked for")


def load_and_run(path: Path, ids: np.ndarray) -> np.ndarray:
    """Logits of a MINDIR file, loaded as a deployment does: without mindformers."""
    import mindspore as ms
    from mindspore import nn

    read = header.read(path)
    header.check_version(read, ms.__version__, str(path))
    graph: Any = nn.GraphCell(ms.load(str(path.resolve())))
    if read.inputs[0].shape[0] == DYNAMIC:
        return graph(ms.Tensor(ids)).asnumpy()
    return np.concatenate([graph(ms.Tensor(row[None])).asnumpy() for row in ids])


def check_difference(difference: float, dtype: str) -> None:
    """Refuse a file that does not compute what the network computes."""
    if not difference <= TOLERANCE[dtype]:
        raise StageFault(
            f"logits of the file and of the network differ by {difference:.3g}, {TOLERANCE[dtype]:.0e} is allowed",
            where="mindir",
            reason="the exported model is another one",
        )


def _described(tensor: header.TensorHeader) -> dict[str, Any]:
    """Name, type and shape as JSON; null is a dimension known only at run time."""
    shape = [None if size == DYNAMIC else size for size in tensor.shape]
    return {"name": tensor.name, "dtype": tensor.dtype, "shape": shape}


def _describe(stage: Stage[Export], described: description.Description, read: header.Header, files: list[str], difference: float) -> None:
    tensors = {"inputs": [_described(t) for t in read.inputs], "outputs": [_described(t) for t in read.outputs]}
    content = {
        "files": files,
        "version": read.version,
        "mind_ir_version": read.mind_ir_version,
        **tensors,
        "user_info": read.user_info,
    }
    (stage.out / "io.json").write_text(json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2) + "\n", "utf-8")
    stage.counts.update(nodes=read.nodes, parameters=len(read.parameters))
    stage.facts.update(weights_sha256=described.weights_sha256, files=files, version=read.version)
    size = sum((stage.out / name).stat().st_size for name in files)
    stage.metrics(
        {
            "files": len(files),
            "bytes": size,
            "nodes": read.nodes,
            "largest_difference": difference,
            "tolerance": TOLERANCE[stage.parameters.dtype],
        }
    )
