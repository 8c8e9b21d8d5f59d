"""Pre-training, fine-tuning and their layout over devices."""

from typing import Annotated, Literal

from pydantic import Field

from compiler.spec.declare import Integer, Limited, Pair, Section, Some, Text, identity, section

Beta = Annotated[float, Field(gt=0, lt=1)]  # mindformers refuses 0


class Layout(Section):
    """How work is divided; the product of the first four is the number of devices."""

    data: Integer = identity(
        "Data parallelism: replicas that share the rows of an update out. Effective batch = micro_batch x accumulation x data.",
        "数据并行：分担一次更新样本的副本数。有效批次 = micro_batch x accumulation x data。",
        ge=1,
        default=1,
    )
    tensor: Integer = identity(
        "Tensor parallelism: devices that share every layer out; within a node, over NVLink or HCCS.",
        "张量并行：共同分担每一层的设备数；应在同一节点内，经由 NVLink 或 HCCS。",
        ge=1,
        default=1,
    )
    pipeline: Integer = identity("Pipeline stages, of as many layers each.", "流水线阶段数，各阶段层数相同。", ge=1, default=1)
    context: Integer = identity(
        "Context parallelism: devices that share the tokens of every row out.", "上下文并行：共同分担每条样本的设备数。", ge=1, default=1
    )
    micro_batches: Integer = identity(
        "Micro batches of an update that go through the pipeline, in the place of accumulation; 1 without a pipeline.",
        "一次更新中依次通过流水线的微批数，取代 accumulation；没有流水线时为 1。",
        ge=1,
        default=1,
    )
    optimizer_sharding: Limited = identity(
        "Shared out over the replicas: 1 optimizer states, 2 gradients too, 3 weights too; 0 nothing.",
        "在副本之间切分：1 优化器状态，2 另加梯度，3 另加权重；0 不切分。",
        ge=0,
        le=3,
        default=0,
    )
    recompute: Literal["none", "selective", "full"] = identity(
        "Activations computed again in the backward pass: none, all of a layer, or the part that mindformers selects: attention scores, "
        "or beside flash attention the product and activation of the feed-forward layer.",
        "反向时重新计算的激活值：不重算、整层，或 mindformers 选定的部分：注意力分数；使用 flash attention 时则为前馈层的乘积与激活。",
        default="none",
    )


class Optimizer(Section):
    """AdamW."""

    name: Literal["adamw"] = identity("Algorithm.", "优化算法。", default="adamw")
    betas: Pair[Beta] = identity("Decay rates of the two moments.", "一阶与二阶矩的衰减率。", default=(0.9, 0.95))
    eps: float = identity("Added to the denominator.", "分母修正项。", gt=0, default=1.0e-8)
    weight_decay: float = identity("Decoupled weight decay.", "权重衰减。", ge=0, default=0.01)
    clip_norm: float = identity("Largest global norm of the gradient.", "梯度全局范数上限。", gt=0, default=1.0)


class Schedule(Section):
    """Learning rate: a linear warm-up from zero to the peak, then the decay to the final rate."""

    name: Literal["cosine"] = identity("Shape of the decay.", "衰减方式。", default="cosine")
    peak: float = identity("Highest learning rate.", "最高学习率。")
    final: float = identity("Learning rate of the last step.", "最终学习率。", default=0.0)
    warmup_steps: Integer = identity("Steps until the peak.", "预热步数。", unit="steps", ge=0, default=0)


class LossScale(Section):
    """Factor on the loss that keeps small float16 gradients."""

    kind: Literal["none", "static", "dynamic"] = identity("Whether and how the loss is scaled.", "损失缩放方式。", default="none")
    initial: float | None = identity("First scale; null takes the default of the kind.", "初始缩放值；null 取默认值。", gt=0, default=None)
    window: Integer | None = identity(
        "Steps without overflow until a dynamic scale grows; null takes the default.",
        "动态缩放增大前的步数；null 取默认值。",
        unit="steps",
        ge=1,
        default=None,
    )


class Checkpoint(Section):
    """Weights saved during a training, in its scratch folder."""

    every: Integer = identity("Steps between two saves.", "保存间隔。", unit="steps", ge=1)
    keep: Integer = identity("Saves that stay.", "保留的检查点数。", ge=1, default=2)


class Training(Section):
    """What pre-training and fine-tuning have in common."""

    steps: Integer = identity("Updates of the weights.", "参数更新步数。", unit="steps", ge=1)
    micro_batch: Integer = identity(
        "Rows of one forward pass on one device; under parallel: auto the most.",
        "单设备单次前向的样本数；parallel: auto 时为其上限。",
        unit="rows",
        ge=1,
    )
    accumulation: Integer = identity(
        "Forward passes of one update; under parallel: auto micro_batch x accumulation is the effective batch of all devices.",
        "一次更新的前向次数；parallel: auto 时 micro_batch x accumulation 为全部设备的有效批次。",
        ge=1,
        default=1,
    )
    optimizer: Optimizer = section("Optimizer.", "优化器。", default=Optimizer())
    schedule: Schedule = section("Learning rate.", "学习率。")
    loss_scale: LossScale = section("Loss scale.", "损失缩放。", default=LossScale())
    checkpoint: Checkpoint = section("Checkpoints.", "检查点。")


class Pretrain(Training):
    """Training of the base model."""


class Lora(Section):
    """Low-rank adapters: W + alpha / rank * B A."""

    rank: Integer = identity("Rank of the adapters.", "秩。", ge=1, default=8)
    alpha: float = identity("Numerator of the scale alpha / rank.", "缩放系数分子。", gt=0, default=16.0)
    dropout: float = identity("Dropout before the adapter.", "dropout 概率。", ge=0, lt=1, default=0.0)
    targets: Some[Text] = identity(
        "Layers that get an adapter, by Hugging Face or MindSpore name.", "添加适配器的层（HF 或 MindSpore 名称）。"
    )


class Finetune(Training):
    """Adaptation of the base model to instructions."""

    method: Literal["lora", "full"] = identity("What is trained: adapters, or all weights.", "训练方式。", default="lora")
    lora: Lora | None = section("Adapters; null with method full.", "LoRA 参数；全量微调时为 null。", default=None)
