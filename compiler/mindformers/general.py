"""The parts that files of every run mode share: trainer, runner, context."""

from dataclasses import dataclass
from typing import Literal

from compiler.mindformers.block import Block

Dtype = Literal["float32", "float16", "bfloat16"]
Target = Literal["CPU", "GPU", "Ascend"]
JitLevel = Literal["O0", "O1", "O2"]
PrecisionMode = Literal[
    "force_fp16", "allow_fp32_to_fp16", "allow_mix_precision", "must_keep_origin_dtype", "force_fp32", "allow_fp32_to_bf16"
]


@dataclass(frozen=True, kw_only=True)
class Trainer(Block):
    """`model_name: common` names no pretrained model: the configuration below it is complete."""

    type: Literal["CausalLanguageModelingTrainer"] = "CausalLanguageModelingTrainer"
    model_name: Literal["common"] = "common"


@dataclass(frozen=True, kw_only=True)
class Runner(Block):
    """`epochs` is an upper bound (an epoch has at least one step); `StopAtStep` ends the training at the exact step.

    `batch_size`: rows that one device reads in a step; mindformers itself multiplies it by `gradient_accumulation_steps` or
    the micro batches of a pipeline. `gradient_accumulation_steps` above 1 takes effect in semi-automatic parallel mode
    without a pipeline alone; elsewhere mindformers resets it to 1.
    """

    epochs: int
    batch_size: int
    sink_mode: bool
    sink_size: Literal[1] = 1
    gradient_accumulation_steps: int = 1


@dataclass(frozen=True, kw_only=True)
class JitConfig(Block):
    """`jit_level`: how much is optimised when the graph is compiled; O1 is refused for prediction and evaluation."""

    jit_level: JitLevel
    infer_boost: Literal["on", "off"] | None = None


@dataclass(frozen=True, kw_only=True)
class AscendConfig(Block):
    """`must_keep_origin_dtype`: operators compute in the types that the model says."""

    precision_mode: PrecisionMode


@dataclass(frozen=True, kw_only=True)
class Context(Block):
    """Graph mode.

    `device_id` is dropped by mindformers when a launcher starts ranks, so it is not written then. `max_device_memory` is
    placement: it depends on the machine, not on the experiment, and is laid over the file when a stage starts.
    """

    mode: Literal[0, 1] = 0
    device_target: Target
    device_id: int | None = 0
    max_device_memory: str | None = None
    max_call_depth: int = 10000
    jit_config: JitConfig | None = None
    ascend_config: AscendConfig | None = None
