"""Layout -> how mindformers divides a training: context, degrees, accumulation, training cell, recomputation.

Never a combination that mindformers would reset: degrees outside semi-automatic mode (all become 1), accumulation outside it
or in a pipeline (becomes 1), a whole table of embeddings in a pipeline, a micro batch count without one.
"""

from dataclasses import dataclass
from typing import Literal

from compiler import mindformers as mf
from compiler.plan import Plan
from compiler.spec.train import Training

LEVELS: dict[int, Literal["level1", "level2", "level3"]] = {1: "level1", 2: "level2", 3: "level3"}


@dataclass(frozen=True)
class Division:
    """One training on one layout. `semi_auto`: divided by degrees; otherwise one device, or ranks that share the batch."""

    plan: Plan
    training: Training
    columns: tuple[str, ...]

    @property
    def several(self) -> bool:
        """Whether more than one device computes."""
        layout = self.plan.layout
        return layout.data * layout.tensor * layout.pipeline * layout.context > 1

    @property
    def semi_auto(self) -> bool:
        """Whether mindformers divides the layers."""
        return self.several and self.plan.profile.semi_auto

    @property
    def own_accumulation(self) -> int | None:
        """Micro batches of an update that the training cell, not mindformers, divides a batch into; None for one."""
        return self.training.accumulation if self.training.accumulation > 1 and not self.semi_auto else None

    @property
    def steps(self) -> int:
        """Forward passes of an update that mindformers itself accumulates."""
        return self.training.accumulation if self.semi_auto and self.plan.layout.pipeline == 1 else 1

    @property
    def rows(self) -> int:
        """`runner_config.batch_size`, which mindformers multiplies by the micro batches that it knows of."""
        return self.training.micro_batch * (self.own_accumulation or 1)

    @property
    def micro_batches(self) -> int:
        """Micro batches of an update inside mindformers: of a pipeline, or accumulated."""
        return self.plan.layout.micro_batches if self.plan.layout.pipeline > 1 else self.steps


def parallel(division: Division) -> mf.Parallel | None:
    """The parallel context of several devices.

    Mode 0 averages what each rank computed on its rows. Mode 1 computes one mean over the rows of all ranks, each of which
    reads a part: (data, 1) of every column.
    """
    layout = division.plan.layout
    if not division.several:
        return None
    if not division.semi_auto:
        return mf.Parallel(parallel_mode=0, gradients_mean=True)
    level = layout.optimizer_sharding
    return mf.Parallel(
        parallel_mode=1,
        gradients_mean=False,
        dataset_strategy=((layout.data, 1),) * len(division.columns),
        enable_parallel_optimizer=level > 0,
        parallel_optimizer_config=mf.ParallelOptimizer(optimizer_level=LEVELS[level]) if level else None,
        strategy_ckpt_config=mf.StrategyFile(),
    )


def degrees(division: Division) -> mf.ParallelConfig:
    """The degrees of the layout in semi-automatic mode; elsewhere all ones, which mindformers would reset them to."""
    layout = division.plan.layout
    if not division.semi_auto:
        return mf.ParallelConfig()
    return mf.ParallelConfig(
        data_parallel=layout.data,
        model_parallel=layout.tensor,
        pipeline_stage=layout.pipeline,
        context_parallel=layout.context,
        micro_batch_num=layout.micro_batches if layout.pipeline > 1 else 1,
        use_seq_parallel=layout.tensor > 1,
        vocab_emb_dp=not divides_embeddings(division.plan),
    )


def divides_embeddings(plan: Plan) -> bool:
    """Whether the tables of embeddings are divided over the ranks of tensor parallelism: always in a pipeline, where
    mindformers knows nothing else, and where the rows divide; mindformers keeps whole tables where they do not."""
    layout = plan.layout
    parts = layout.tensor * layout.context
    return layout.pipeline > 1 or (layout.tensor > 1 and plan.architecture.vocab_size % parts == 0)


def wrapper_type(division: Division) -> mf.WrapperType:
    """The training cell; mindformers puts its own in place of any other where it divides an update itself."""
    return "MFPipelineWithLossScaleCell" if division.micro_batches > 1 or _pipelined(division) else division.plan.profile.wrapper


def wrapper_micro_batches(division: Division) -> int | None:
    """`micro_batch_num` of that cell."""
    return division.micro_batches if division.micro_batches > 1 or _pipelined(division) else None


def _pipelined(division: Division) -> bool:
    return division.semi_auto and division.plan.layout.pipeline > 1


def recompute(plan: Plan) -> mf.Recompute:
    """Whole layers, or chosen operators of each, computed again."""
    kind = plan.layout.recompute
    return mf.Recompute(recompute=kind == "full", select_recompute=True if kind == "selective" else None)
