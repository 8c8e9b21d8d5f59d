"""The network."""

from typing import Literal

from compiler.spec.declare import Dtype, Integer, Section, Text, identity, placement, presentation, section


class Precision(Section):
    """Numeric types, per part of the network."""

    compute: Dtype = identity("Type of matrix products.", "矩阵乘法的数据类型。", default="float32")
    params: Dtype = identity("Type in which weights are trained.", "训练时权重的数据类型。", default="float32")
    softmax: Dtype = identity("Type of the attention softmax.", "注意力 softmax 的数据类型。", default="float32")
    layernorm: Dtype = identity("Type of the normalisation layers.", "归一化层的数据类型。", default="float32")
    rotary: Dtype = identity("Type of the rotary position embedding.", "旋转位置编码的数据类型。", default="float32")


class RopeScaling(Section):
    """Rotary frequencies stretched for a longer context, as in Llama 3.1."""

    kind: Literal["llama3"] = identity("How frequencies are stretched.", "频率缩放方式。", default="llama3")
    factor: float = identity("Low frequencies are divided by it.", "低频分量的缩放倍数。", ge=1)
    low_freq_factor: float = identity(
        "Longest wave left in part, as a divisor of the original length.", "部分缩放的波长上界（原始长度除以该值）。", gt=0, default=1.0
    )
    high_freq_factor: float = identity(
        "Longest wave left alone, as a divisor of the original length.", "保持不变的波长上界（原始长度除以该值）。", gt=0, default=4.0
    )
    original_length: Integer = identity("Context before it was stretched.", "扩展前的上下文长度。", unit="tokens", ge=1, default=8192)


class Model(Section):
    """A decoder-only transformer."""

    family: Literal["llama", "qwen2", "qwen3", "from_hf"] = identity(
        "Architecture; from_hf takes it from config.json.", "模型结构；from_hf 表示取自 config.json。"
    )
    from_hf: Text | None = placement(
        "Folder with a Hugging Face config.json that gives the sizes; weights are not read from it.",
        "含 Hugging Face config.json 的文件夹，用于给出各项尺寸；不读取其中的权重。",
        default=None,
    )
    hidden_size: Integer = identity("Width of the residual stream.", "隐藏层维度。", ge=1)
    intermediate_size: Integer = identity("Width of the feed-forward layer.", "前馈层维度。", ge=1)
    num_layers: Integer = identity("Decoder layers.", "解码层数。", ge=1)
    num_heads: Integer = identity("Attention heads.", "注意力头数。", ge=1)
    num_kv_heads: Integer = identity("Key and value heads, shared by groups of heads.", "键值头数（分组共享）。", ge=1)
    head_dim: Integer | None = identity(
        "Width of one head; null is hidden_size / num_heads.", "单个注意力头的维度；null 表示 hidden_size / num_heads。", ge=2, default=None
    )
    vocab_size: Integer | None = identity(
        "Rows of the embedding table; null is the tokenizer's vocabulary.",
        "词嵌入表的行数；null 表示取分词器词表。",
        ge=1,
        default=None,
    )
    tie_embeddings: bool = identity("Whether one table embeds and scores.", "输入与输出是否共享词嵌入。", default=False)
    rope_theta: float = identity("Base of the rotary position embedding.", "旋转位置编码的底数。", gt=0, default=10000.0)
    rope_scaling: RopeScaling | None = section(
        "Stretched rotary frequencies; null leaves them.", "旋转频率缩放；null 表示不缩放。", default=None
    )
    norm_eps: float = identity("Added to the variance in a norm.", "归一化层的方差修正项。", gt=0, default=1.0e-6)
    seq_length: Integer = identity("Tokens of one training row.", "一条训练样本的长度。", unit="tokens", ge=2)
    max_length: Integer | None = presentation(
        "Longest row the published model was made for; only compared with seq_length.",
        "公开模型支持的最大长度；仅用于与 seq_length 比较。",
        ge=1,
        default=None,
    )
    dtype: Precision = section("Numeric types.", "数值精度。", default=Precision())
