"""The whole files: training and fine-tuning, evaluation, prediction."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from compiler.mindformers.block import Block, UndeclaredValue
from compiler.mindformers.callbacks import Callback
from compiler.mindformers.dataset import Dataset, DatasetTask
from compiler.mindformers.general import Context, Runner, Trainer
from compiler.mindformers.llama import Model
from compiler.mindformers.optimization import LearningRate, Optimizer, Wrapper
from compiler.mindformers.parallel import Parallel, ParallelConfig, Recompute
from compiler.mindformers.qwen3 import Qwen3Model


@dataclass(frozen=True, kw_only=True)
class TrainingConfig(Block):
    """A whole training file; `output_dir` is moved below the stage's keyed scratch folder when it starts.

    `load_checkpoint` is a file on one device and its folder on several. `auto_trans_ckpt` divides its weights, which needs
    the strategies of semi-automatic mode: in data-parallel mode it ends in an error.
    """

    seed: int
    run_mode: Literal["train", "finetune"]
    use_legacy: bool = True
    use_parallel: bool = False
    output_dir: str
    load_checkpoint: str = ""
    load_ckpt_format: Literal["safetensors"] | None = None
    src_strategy_path_or_dir: Literal[""] = ""
    auto_trans_ckpt: bool = False
    only_save_strategy: Literal[False] = False
    resume_training: Literal[False] = False
    trainer: Trainer = field(default_factory=Trainer)
    runner_config: Runner
    optimizer: Optimizer
    lr_schedule: LearningRate
    train_dataset: Dataset
    train_dataset_task: DatasetTask
    context: Context
    parallel: Parallel | None = None
    parallel_config: ParallelConfig = field(default_factory=ParallelConfig)
    micro_batch_interleave_num: Literal[1] = 1
    recompute_config: Recompute
    callbacks: tuple[Callback, ...]
    runner_wrapper: Wrapper
    model: Model | Qwen3Model

    def __post_init__(self) -> None:
        super().__post_init__()
        for contradiction in _contradictions(self):
            raise UndeclaredValue(contradiction)


def _contradictions(config: TrainingConfig) -> Iterator[str]:
    """What mindformers would reset without a word, or refuse only when the ranks have started."""
    parallel, degrees, steps = config.parallel, config.parallel_config, config.runner_config.gradient_accumulation_steps
    semi_auto, pipelined = parallel is not None and parallel.parallel_mode == 1, degrees.pipeline_stage > 1
    if config.use_parallel != (parallel is not None):
        yield "use_parallel goes with a parallel context"
    if not semi_auto and degrees != ParallelConfig():
        yield "degrees other than 1 are reset outside semi-automatic mode"
    if steps > 1 and (pipelined or not semi_auto):
        yield "gradient_accumulation_steps is reset to 1 in a pipeline and outside semi-automatic mode"
    if degrees.micro_batch_num > 1 and not pipelined:
        yield "micro_batch_num is reset to 1 without a pipeline"
    if pipelined and degrees.vocab_emb_dp:
        yield "vocab_emb_dp is reset to False in a pipeline"
    if (config.runner_wrapper.type == "MFPipelineWithLossScaleCell") != (semi_auto and (pipelined or steps > 1)):
        yield "runner_wrapper.type is reset where mindformers divides an update, and needs it"
    if config.auto_trans_ckpt and not semi_auto:
        yield "auto_trans_ckpt needs the strategies of semi-automatic mode"
    if parallel and semi_auto and len(parallel.dataset_strategy or ()) != len(config.train_dataset.input_columns):
        yield "dataset_strategy has one part for each column"
    if config.use_legacy != isinstance(config.model, Model):
        yield "use_legacy goes with the legacy Llama"


@dataclass(frozen=True, kw_only=True)
class Metric(Block):
    """Averaged over batches by mindformers, not over tokens."""

    type: Literal["PerplexityMetric"] = "PerplexityMetric"


@dataclass(frozen=True, kw_only=True)
class EvaluationConfig(Block):
    """A file for `Trainer(config).evaluate(eval_checkpoint=config.load_checkpoint)`, on one device.

    Called without the argument, mindformers forgets `load_checkpoint` and scores random weights.
    """

    seed: int
    run_mode: Literal["eval"] = "eval"
    use_legacy: Literal[True] = True
    use_parallel: Literal[False] = False
    output_dir: str
    load_checkpoint: str
    load_ckpt_format: Literal["safetensors"] = "safetensors"
    trainer: Trainer = field(default_factory=Trainer)
    runner_config: Runner
    eval_dataset: Dataset
    eval_dataset_task: DatasetTask
    metric: Metric = field(default_factory=Metric)
    context: Context
    model: Model


@dataclass(frozen=True, kw_only=True)
class Tokenizer(Block):
    """The tokenizer of the experiment, as mindformers' own class reads it."""

    type: Literal["LlamaTokenizer"] = "LlamaTokenizer"
    vocab_file: str
    unk_token: str
    bos_token: str
    eos_token: str
    pad_token: str
    add_bos_token: bool = True
    add_eos_token: bool = False


@dataclass(frozen=True, kw_only=True)
class Processor(Block):
    """From text to ids and back."""

    return_tensors: Literal["ms"] = "ms"
    tokenizer: Tokenizer
    type: Literal["LlamaProcessor"] = "LlamaProcessor"


@dataclass(frozen=True, kw_only=True)
class PredictionConfig(Block):
    """A file for `Trainer(config).predict(predict_checkpoint=config.load_checkpoint, input_data=[...])`, on one device.

    Called without the checkpoint, mindformers forgets `load_checkpoint` and answers with random weights.
    `postprocess_use_numpy`: tokens are chosen on the host, where the device has no kernel for it.
    """

    seed: int
    run_mode: Literal["predict"] = "predict"
    use_legacy: Literal[True] = True
    use_parallel: Literal[False] = False
    output_dir: str
    load_checkpoint: str
    load_ckpt_format: Literal["safetensors"] = "safetensors"
    postprocess_use_numpy: bool
    predict_batch_size: int
    trainer: Trainer = field(default_factory=Trainer)
    runner_config: Runner
    context: Context
    processor: Processor
    model: Model
