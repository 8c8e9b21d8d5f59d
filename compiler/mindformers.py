"""The part of the mindformers 1.9.0 YAML that this compiler can write, as types.

mindformers ignores many unknown keys without a word, so what is not declared here cannot be emitted. Field names and their
order are those of the file.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Trainer:
    """`model_name: common` names no pretrained model: the configuration below it is complete."""

    type: str = "CausalLanguageModelingTrainer"
    model_name: str = "common"


@dataclass(frozen=True, kw_only=True)
class Runner:
    """`epochs` is an upper bound (an epoch has at least one step); `StopAtStep` ends the training at the exact step.

    `batch_size`: rows of one update on one device. `gradient_accumulation_steps` stays 1: mindformers would reset it.
    """

    epochs: int
    batch_size: int
    sink_mode: bool
    sink_size: int = 1
    gradient_accumulation_steps: int = 1


@dataclass(frozen=True, kw_only=True)
class Optimizer:
    """AdamW with decoupled weight decay; parameters of one dimension get none."""

    type: str = "AdamW"
    betas: tuple[float, float]
    eps: float
    weight_decay: float


@dataclass(frozen=True, kw_only=True)
class LearningRate:
    """Linear from `warmup_lr_init` to `learning_rate` over `warmup_steps`, then a cosine to `lr_end` at `total_steps`."""

    type: str = "CosineWithWarmUpLR"
    learning_rate: float
    lr_end: float
    warmup_steps: int
    warmup_lr_init: float
    total_steps: int


@dataclass(frozen=True, kw_only=True)
class DataLoader:
    """One MindRecord file, or the folder of its shards."""

    type: str = "MindDataset"
    dataset_dir: str
    shuffle: bool = True


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """`batch_size` and `seed` repeat the runner's, which decide."""

    data_loader: DataLoader
    input_columns: tuple[str, ...]
    num_parallel_workers: int = 1
    python_multiprocessing: bool = False
    drop_remainder: bool = True
    batch_size: int
    repeat: int = 1
    numa_enable: bool = False
    prefetch_size: int = 1
    seed: int


@dataclass(frozen=True, kw_only=True)
class DatasetTask:
    """The same dataset again, under the name of the task."""

    type: str = "CausalLanguageModelDataset"
    dataset_config: Dataset


@dataclass(frozen=True, kw_only=True)
class Context:
    """Graph mode on one device."""

    mode: int = 0
    device_target: str
    device_id: int = 0
    max_call_depth: int = 10000


@dataclass(frozen=True, kw_only=True)
class Parallel:
    """One device: all ones."""

    data_parallel: int = 1
    model_parallel: int = 1
    pipeline_stage: int = 1
    micro_batch_num: int = 1
    vocab_emb_dp: bool = True
    gradient_aggregation_group: int = 4


@dataclass(frozen=True, kw_only=True)
class Recompute:
    """Whether activations are computed again in the backward pass."""

    recompute: bool


@dataclass(frozen=True, kw_only=True)
class StopAtStep:
    """Ours, registered by `runtime.model.callbacks`: the training ends after exactly `step` updates."""

    type: str = "StopAtStep"
    step: int


@dataclass(frozen=True, kw_only=True)
class StopAtNonFinite:
    """Ours: a loss or gradient norm that is not finite ends the stage before anything is saved."""

    type: str = "StopAtNonFinite"


@dataclass(frozen=True, kw_only=True)
class LossMonitor:
    """The text log; its frequency is overlaid from the placement."""

    type: str = "MFLossMonitor"
    per_print_times: int = 10


@dataclass(frozen=True, kw_only=True)
class CheckpointMonitor:
    """Intermediate weights; the oldest is deleted before the newest is written, so keep at least two."""

    type: str = "CheckpointMonitor"
    prefix: str
    save_checkpoint_steps: int
    keep_checkpoint_max: int
    integrated_save: bool = True
    async_save: bool = False
    checkpoint_format: str = "safetensors"
    save_trainable_params: bool = False


@dataclass(frozen=True, kw_only=True)
class DynamicScale:
    """A loss scale that halves at an overflow and doubles after `scale_window` updates without one; never below 1."""

    type: str = "DynamicLossScaleUpdateCell"
    loss_scale_value: float
    scale_factor: int = 2
    scale_window: int


@dataclass(frozen=True, kw_only=True)
class Wrapper:
    """The training cell; `scale_sense` 1.0 is no loss scaling, another number a static one.

    `accumulation`: ours, of `CpuTrainOneStepCell` alone; the rows of a batch are divided into so many micro batches.
    """

    type: str
    accumulation: int | None = None
    scale_sense: float | DynamicScale = 1.0
    use_clip_grad: bool = True
    max_grad_norm: float


@dataclass(frozen=True, kw_only=True)
class Pet:
    """LoRA: A starts normal and B zero, so the first loss is that of the base.

    `target_modules` is a regular expression that mindformers matches from the start of a cell's own name (`wq`), not its path.
    """

    pet_type: str = "lora"
    lora_rank: int
    lora_alpha: float
    lora_dropout: float
    lora_a_init: str = "normal"
    lora_b_init: str = "zero"
    param_init_type: str
    compute_dtype: str
    target_modules: str


@dataclass(frozen=True, kw_only=True)
class RopeScaling:
    """`scaling_factor` of `extend_method: LLAMA3`; the table of positions must be longer than the original length."""

    factor: float
    low_freq_factor: float
    high_freq_factor: float
    original_max_position_embeddings: int


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The legacy Llama. What is None stays at mindformers' default and is not written."""

    type: str = "LlamaConfig"
    batch_size: int
    seq_length: int
    hidden_size: int
    num_layers: int
    num_heads: int
    n_kv_heads: int
    vocab_size: int
    intermediate_size: int
    rms_norm_eps: float
    theta: float
    bos_token_id: int
    eos_token_id: int
    pad_token_id: int
    ignore_token_id: int = -100
    compute_dtype: str
    layernorm_compute_type: str
    softmax_compute_type: str
    rotary_dtype: str
    param_init_type: str
    use_past: bool = False
    use_flash_attention: bool
    use_rope_slice: bool
    fused_rms_norm: bool
    offset: int = 0
    qkv_has_bias: bool | None = None
    tie_word_embeddings: bool | None = None
    extend_method: str | None = None
    scaling_factor: RopeScaling | None = None
    max_position_embedding: int | None = None
    pet_config: Pet | None = None


@dataclass(frozen=True, kw_only=True)
class Arch:
    """The network class."""

    type: str = "LlamaForCausalLM"


@dataclass(frozen=True, kw_only=True)
class Model:
    """The network and its sizes."""

    model_config: ModelConfig
    arch: Arch = Arch()


Callback = StopAtStep | StopAtNonFinite | LossMonitor | CheckpointMonitor


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """A whole training file; `output_dir` is moved below the stage's keyed scratch folder when it starts."""

    seed: int
    run_mode: str
    use_legacy: bool = True
    use_parallel: bool = False
    output_dir: str
    load_checkpoint: str = ""
    load_ckpt_format: str | None = None
    src_strategy_path_or_dir: str = ""
    auto_trans_ckpt: bool = False
    only_save_strategy: bool = False
    resume_training: bool = False
    trainer: Trainer = Trainer()
    runner_config: Runner
    optimizer: Optimizer
    lr_schedule: LearningRate
    train_dataset: Dataset
    train_dataset_task: DatasetTask
    context: Context
    parallel_config: Parallel = Parallel()
    micro_batch_interleave_num: int = 1
    recompute_config: Recompute
    callbacks: tuple[Callback, ...]
    runner_wrapper: Wrapper
    model: Model
