"""The trainings whose memory is measured: width, depth, length, batch, heads, vocabulary, adapters and recomputation vary.

The coefficients of `compiler.planning.memory_cpu` were found on those with `fitted`; the others were predicted first, then run.
"""

from dataclasses import asdict, dataclass
from typing import Any

from compiler.planning.architecture import Architecture
from compiler.planning.memory import Adapters, Job, Ledger, ledger
from compiler.planning.memory_job import WIDTHS
from compiler.spec.train import Layout

EVERY = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """One training on one CPU; `rank` 0 trains all weights."""

    name: str
    fitted: bool = False
    hidden: int = 512
    inter: int = 1376
    layers: int = 4
    heads: int = 8
    kv: int = 8
    vocab: int = 8000
    seq: int = 512
    batch: int = 2
    rank: int = 0
    targets: tuple[str, ...] = EVERY
    recompute: str = "none"
    compute: str = "float32"

    def shape(self) -> dict[str, Any]:
        """What `train_once.py` reads."""
        return asdict(self)

    def ledger(self) -> Ledger:
        """What the ledger says of it."""
        net = Architecture(
            hidden_size=self.hidden,
            intermediate_size=self.inter,
            num_layers=self.layers,
            num_heads=self.heads,
            num_kv_heads=self.kv,
            head_dim=self.hidden // self.heads,
            vocab_size=self.vocab,
        )
        adapters = Adapters(rank=self.rank, targets=self.targets) if self.rank else None
        job = Job(micro_batch=self.batch, seq_length=self.seq, adapters=adapters, softmax=4, compute=WIDTHS[self.compute], target="cpu")
        return ledger(net, Layout.model_validate({"recompute": self.recompute}), job)


SMALL: dict[str, int] = {"hidden": 256, "inter": 688, "heads": 4, "kv": 4, "vocab": 4000}
CONFIGURATIONS = (
    Configuration(name="long rows", fitted=True, **{**SMALL, "seq": 1024, "batch": 1}),
    Configuration(name="large vocabulary", fitted=True, **{**SMALL, "vocab": 32000, "layers": 2, "batch": 1}),
    Configuration(name="many rows", fitted=True, **{**SMALL, "seq": 256, "batch": 8}),
    Configuration(name="wide, shallow", fitted=True, hidden=1024, inter=2816, layers=2, heads=16, kv=16, vocab=4000, seq=256, batch=4),
    Configuration(name="recomputed", fitted=True, recompute="full"),
    Configuration(name="LoRA", fitted=True, layers=6, rank=8),
    Configuration(name="LoRA, recomputed", fitted=True, layers=6, rank=8, recompute="full"),
    Configuration(name="grouped heads", kv=2),
    Configuration(name="selectively recomputed", recompute="selective"),
    Configuration(name="deep, narrow", **{**SMALL, "layers": 16, "seq": 256, "batch": 4}),
    Configuration(name="LoRA on q and v", layers=4, kv=4, rank=16, targets=("q_proj", "v_proj"), seq=384, batch=3),
    Configuration(name="three groups, odd sizes", hidden=384, inter=1000, layers=5, heads=6, kv=2, vocab=12345, seq=640, batch=1),
    Configuration(
        name="few long heads, recomputed", hidden=384, inter=1536, layers=3, heads=3, kv=3, vocab=6000, seq=768, recompute="full"
    ),
    Configuration(name="float16 products", fitted=True, compute="float16"),
    Configuration(name="float16 products, long rows", **{**SMALL, "layers": 3, "seq": 768}, compute="float16"),
)
