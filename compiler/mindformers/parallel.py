"""How work is divided over devices: the parallel context (`parallel`), its degrees (`parallel_config`) and recomputation."""

from dataclasses import dataclass
from typing import Literal

from compiler.mindformers.block import Block


@dataclass(frozen=True, kw_only=True)
class ParallelOptimizer(Block):
    """Optimizer sharding: level1 divides optimizer states and weights, level2 accumulated gradients too, level3 gathers weights
    only while they are used (mindspore.set_auto_parallel_context, `parallel_optimizer_config`).

    `gradient_accumulation_shard` is not here: MindSpore refuses it beside `optimizer_level`, which implies it.
    """

    optimizer_level: Literal["level1", "level2", "level3"]


@dataclass(frozen=True, kw_only=True)
class StrategyFile(Block):
    """False: how frozen weights are divided is saved too; without it the parts of a LoRA base cannot be joined again."""

    only_trainable_params: bool = False


@dataclass(frozen=True, kw_only=True)
class Parallel(Block):
    """`parallel_mode` 0: data parallel; 1: semi-automatic, which divides by the degrees of `parallel_config`.

    `gradients_mean`: mode 0 sums the gradients of the ranks unless it is True; mode 1 divides one mean loss, so that their
    sum is already right. `dataset_strategy`: (parts of the batch, parts of the length) of each input column; each rank reads
    its own rows. A `full_batch` other than False would be reset in mode 0 and contradict the strategy in mode 1.
    """

    parallel_mode: Literal[0, 1]
    gradients_mean: bool
    full_batch: Literal[False] = False
    dataset_strategy: tuple[tuple[int, int], ...] | None = None
    enable_parallel_optimizer: bool = False
    parallel_optimizer_config: ParallelOptimizer | None = None
    strategy_ckpt_config: StrategyFile | None = None


@dataclass(frozen=True, kw_only=True)
class ParallelConfig(Block):
    """The degrees. All ones outside semi-automatic mode, where mindformers would reset them to that without a word.

    `vocab_emb_dp`: True keeps a whole table of embeddings on each rank; False divides it over the tensor parallel ranks,
    and is what mindformers resets it to in a pipeline. `use_seq_parallel`: norms and residuals divided along the sequence.
    """

    data_parallel: int = 1
    model_parallel: int = 1
    pipeline_stage: int = 1
    context_parallel: int | None = None
    micro_batch_num: int = 1
    use_seq_parallel: bool | None = None
    vocab_emb_dp: bool = True
    gradient_aggregation_group: int = 4


@dataclass(frozen=True, kw_only=True)
class Recompute(Block):
    """`recompute`: whole layers are computed again in the backward pass; `select_recompute`: the product and activation of
    the feed-forward part, and attention where no flash attention is used."""

    recompute: bool
    select_recompute: bool | None = None
