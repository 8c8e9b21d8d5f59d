"""What memory depends on besides the network and the layout: batch, method, numeric types, kernels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from compiler.planning.profiles import DeviceProfile
from compiler.spec import Spec
from compiler.spec.train import Lora

WIDTHS: Mapping[str, int] = {"float32": 4, "float16": 2, "bfloat16": 2}
HUGGING_FACE: Mapping[str, str] = {
    "wq": "q_proj", "wk": "k_proj", "wv": "v_proj", "wo": "o_proj", "w1": "gate_proj", "w2": "down_proj", "w3": "up_proj",
}  # fmt: skip

Recompute = Literal["none", "selective", "full"]
RECOMPUTES: tuple[Recompute, ...] = ("none", "selective", "full")


class Division(Protocol):
    """How work is divided over devices: `compiler.spec.train.Layout`, or a lighter type of a search with the same names."""

    @property
    def data(self) -> int: ...
    @property
    def tensor(self) -> int: ...
    @property
    def pipeline(self) -> int: ...
    @property
    def context(self) -> int: ...
    @property
    def micro_batches(self) -> int: ...
    @property
    def optimizer_sharding(self) -> int: ...
    @property
    def recompute(self) -> Recompute: ...


@dataclass(frozen=True, kw_only=True)
class Adapters:
    """LoRA: matrices A (rank x inputs) and B (outputs x rank) beside each target, by Hugging Face name; the rest is frozen."""

    rank: int
    targets: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Job:
    """One training.

    micro_batch: rows of one forward pass on one device; seq_length: tokens of a row; adapters: None trains all weights.
    params, compute, softmax, layernorm, moments: bytes of one value. AdamW of mindformers keeps both moments in float32
    whatever the weights are, and no second copy of them: where weights are in 16 bit, so is the update (`master` is for
    the recipe of mixed precision that keeps a float32 copy).
    flash_attention, fused_norm: kernels that keep no scores, and no intermediate of a norm.
    """

    micro_batch: int
    seq_length: int
    accumulation: int = 1
    adapters: Adapters | None = None
    params: int = 4
    compute: int = 4
    softmax: int = 4
    layernorm: int = 4
    moments: int = 4
    master: bool = False
    flash_attention: bool = False
    fused_norm: bool = False
    target: str = "gpu"


def job(spec: Spec, section: Literal["pretrain", "finetune"], profile: DeviceProfile) -> Job:
    """The training of one section of a spec, with the kernels of the device it runs on."""
    training = spec.pretrain if section == "pretrain" else spec.finetune
    lora = spec.finetune.lora if section == "finetune" and spec.finetune.method == "lora" else None
    types = spec.model.dtype
    return Job(
        micro_batch=training.micro_batch,
        seq_length=spec.model.seq_length,
        accumulation=training.accumulation,
        adapters=_adapters(lora),
        params=WIDTHS[types.params],
        compute=WIDTHS[types.compute],
        softmax=WIDTHS[types.softmax],
        layernorm=WIDTHS[types.layernorm],
        flash_attention=profile.flash_attention,
        fused_norm=profile.fused_rms_norm,
        target=spec.device.target,
    )


def _adapters(lora: Lora | None) -> Adapters | None:
    """Of the targets those that are layers: the others are refused, but not here."""
    if lora is None:
        return None
    named = (HUGGING_FACE.get(target, target) for target in lora.targets)
    return Adapters(rank=lora.rank, targets=tuple(name for name in named if name in HUGGING_FACE.values()))
