"""The network must be one that exists and that the device computes."""

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.validate.rules.registry import Rules

RULES = Rules()

_NOT_BUILT = {
    "qwen2": "mindformers computes it with ApplyRotaryPosEmb, which has no CPU kernel",
    "qwen3": "mindformers' graph needs four operators replaced on CPU, which this version does not do",
    "from_hf": "this version trains from random weights; it does not read a Hugging Face checkpoint",
}


@RULES.needing("model")
def family(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.model.family in _NOT_BUILT:
        yield Diagnostic(
            "MS0304",
            f"{spec.model.family} is not built in this version",
            path=("model", "family"),
            reason=_NOT_BUILT[spec.model.family],
            fix="use llama",
            suggestion="llama",
        )


@RULES.needing("model")
def heads_divide_the_width(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    width, heads = spec.model.hidden_size, spec.model.num_heads
    if width % heads:
        yield Diagnostic(
            "MS0301",
            f"{width} / {heads} leaves {width % heads}",
            path=("model", "hidden_size"),
            reason="attention cannot be reshaped into heads: the graph fails to compile after the data is built",
            fix=f"make hidden_size a multiple of num_heads, for example {_nearest_multiple(width, 2 * heads)}",
        )


@RULES.needing("model")
def heads_share_evenly(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    heads, shared = spec.model.num_heads, spec.model.num_kv_heads
    if heads % shared:
        yield Diagnostic(
            "MS0302",
            f"{heads} heads cannot share {shared} key/value heads",
            path=("model", "num_kv_heads"),
            reason="each key/value head serves the same number of heads; the graph would fail to compile",
            fix=f"choose a divisor of {heads}",
        )


@RULES.needing("model")
def head_dimension_is_even(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    width, heads = spec.model.hidden_size, spec.model.num_heads
    if width % heads == 0 and width // heads % 2:
        yield Diagnostic(
            "MS0303",
            f"{width} / {heads} = {width // heads} is odd",
            path=("model", "hidden_size"),
            reason="rotary position embedding turns pairs of dimensions",
            fix=f"make hidden_size a multiple of 2 x num_heads, for example {_nearest_multiple(width, 2 * heads)}",
        )


def _nearest_multiple(value: int, step: int) -> int:
    return max(step, round(value / step) * step)
