"""The shape of a decoder-only transformer and the number of its parameters: what memory and time are computed from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from compiler.families import FAMILIES, UNKNOWN
from compiler.spec import Spec


@dataclass(frozen=True)
class Architecture:
    """Sizes of one network. `head_dim` x `num_heads` need not be `hidden_size` (Qwen3); `tied`: one table embeds and scores."""

    hidden_size: int
    intermediate_size: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    vocab_size: int
    tied: bool = False
    qkv_bias: bool = False
    qk_norm: bool = False

    @property
    def linear(self) -> Mapping[str, tuple[int, int]]:
        """Hugging Face name of each linear layer of a decoder layer -> (inputs, outputs)."""
        width, wide = self.hidden_size, self.intermediate_size
        queries, keys = self.num_heads * self.head_dim, self.num_kv_heads * self.head_dim
        return {
            "q_proj": (width, queries),
            "k_proj": (width, keys),
            "v_proj": (width, keys),
            "o_proj": (queries, width),
            "gate_proj": (width, wide),
            "up_proj": (width, wide),
            "down_proj": (wide, width),
        }

    @property
    def layer_parameters(self) -> int:
        """Values of one decoder layer: seven matrices, two norms, and what the family adds."""
        matrices = sum(inputs * outputs for inputs, outputs in self.linear.values())
        biases = self.qkv_bias * sum(self.linear[name][1] for name in ("q_proj", "k_proj", "v_proj"))
        return matrices + biases + 2 * self.hidden_size + self.qk_norm * 2 * self.head_dim

    @property
    def embedding_parameters(self) -> int:
        """Values of the embedding table; an untied output layer has as many again."""
        return self.vocab_size * self.hidden_size

    @property
    def parameters(self) -> int:
        """All values of the network, the final norm included."""
        tables = 1 if self.tied else 2
        return self.num_layers * self.layer_parameters + tables * self.embedding_parameters + self.hidden_size

    def adapter_parameters(self, rank: int, targets: Iterable[str]) -> int:
        """Values of LoRA's A (rank x inputs) and B (outputs x rank) on these layers of every decoder layer."""
        return self.num_layers * sum(rank * sum(self.linear[target]) for target in targets)


def architecture(spec: Spec) -> Architecture:
    """The network of a spec; one whose family is not known, which no compilation reaches, counts as a plain Llama."""
    model = spec.model
    family = FAMILIES.get(model.family, UNKNOWN)
    return Architecture(
        hidden_size=model.hidden_size,
        intermediate_size=model.intermediate_size,
        num_layers=model.num_layers,
        num_heads=model.num_heads,
        num_kv_heads=model.num_kv_heads,
        head_dim=model.head_dim or model.hidden_size // model.num_heads,
        vocab_size=model.vocab_size or spec.tokenizer.vocab_size,
        tied=model.tie_embeddings,
        qkv_bias=family.qkv_bias,
        qk_norm=family.qk_norm,
    )
