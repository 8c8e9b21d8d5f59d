"""Numeric types, loss scale, accumulation and recomputation."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0305": Code(
        said("numeric type the device cannot compute", "设备不能以该数值类型计算"),
        said(
            "`model.dtype` chooses the numeric types of matrix products, normalisation, softmax, rotary embedding and weights. Not every"
            " device has kernels for each.\n\n"
            "CPU and GPU kernels of this MindSpore have no bfloat16 matrix product: the first step would fail after minutes of packing and"
            " compiling. float16 in normalisation layers computes everywhere, but its gradient divides by the third power of small"
            " activations, overflows, and leaves NaN in every weight after the first update.\n\n"
            "Example: `dtype: {compute: bfloat16}` with `device: cpu`. Use float32, or float16 for `compute` with a loss scale; bfloat16"
            " runs"
            " on Ascend.",
            "`model.dtype` 决定矩阵乘、归一化、softmax、旋转位置编码和权重的数值类型，并非每种设备都有相应算子。\n\n"
            "此版本 MindSpore 的 CPU 与 GPU 算子没有 bfloat16 矩阵乘：打包和编译数分钟之后，第一步就会失败。归一化层用 float16"
            " 在各设备上都能计算，"
            "但其梯度要除以很小的激活值的三次方，会溢出，第一次更新后所有权重都成为 NaN。\n\n"
            "例：`device: cpu` 配 `dtype: {compute: bfloat16}`。请使用 float32，或者 `compute` 用 float16 并加损失缩放；bfloat16 可在"
            " Ascend 上运行。",
        ),
        plannable=True,
    ),
    "MS0306": Code(
        said("what a fused attention kernel does not take", "融合注意力算子不接受的设置"),
        said(
            "On Ascend, training uses MindSpore's fused attention (FlashAttentionScore). Its documentation lists float16 and bfloat16, and"
            " heads whose width is a multiple of 16, up to 512; it has a softmax of its own and reads no `model.dtype.softmax`.\n\n"
            "The compiled file says `use_flash_attention: true` and the types of the spec. Nothing refuses them before the graph runs on"
            " the device: the first step may fail after the data is built, or compute in another type than the spec says.\n\n"
            "Example: `device: ascend` with the default float32. Set `model.dtype.compute: bfloat16`, choose sizes with heads of 64, 80, 96"
            " or 128, and leave `model.dtype.softmax` out.",
            "在 Ascend 上，训练使用 MindSpore 的融合注意力（FlashAttentionScore）。其文档只列出 float16 与 bfloat16，以及宽度为 16 的倍数、"
            "最大 512 的头；它自行计算 softmax，不读取 `model.dtype.softmax`。\n\n"
            "编译出的文件写有 `use_flash_attention: true` 和配置中的数值类型。在设备上运行计算图之前没有任何检查：数据制作完成之后第一步"
            "可能失败，或以与配置不同的类型计算。\n\n"
            "例：`device: ascend` 配默认的 float32。请设置 `model.dtype.compute: bfloat16`，选取单头宽 64、80、96 或 128 的尺寸，"
            "并删去 `model.dtype.softmax`。",
        ),
    ),
    "MS0350": Code(
        said("loss scale does not fit", "损失缩放不合适"),
        said(
            "A loss scale multiplies the loss before the backward pass and divides the gradients after it, so that small float16 gradients"
            " stay above 6.0e-8. A static one is a fixed number (1024 unless `initial` says otherwise). A dynamic one starts at 65536,"
            " halves"
            " at an overflow, whose step is skipped, and doubles after `window` updates without one: 1000 x accumulation by default, since"
            " a skipped update throws away all of its forward passes.\n\n"
            "Powers of two from 2 to 65536 (static) or 4294967296 (dynamic) are accepted. Other factors round every gradient; larger ones"
            " overflow in every step, so that nothing is learnt. A field that the kind does not read is refused, since it would do"
            " nothing.\n\n"
            "Example: `loss_scale: {kind: static, window: 1000}`. Remove `window`, or set `kind: dynamic`.",
            "损失缩放在反向传播前放大损失，之后再把梯度除回去，使较小的 float16 梯度不低于 6.0e-8。static 为固定值（未写 `initial` 时为"
            " 1024）；"
            "dynamic 从 65536 开始，溢出时减半并跳过该步，连续 `window` 次更新没有溢出则加倍。window 默认 1000 x accumulation，"
            "因为跳过一次更新就浪费了它的全部前向计算。\n\n"
            "可取 2 到 65536（static）或 4294967296（dynamic）之间的 2 的幂。其他倍数会让每个梯度产生舍入；更大的值每一步都溢出，"
            "什么也学不到。"
            "该类型不读取的字段会被拒绝，因为写了也不起作用。\n\n"
            "例：`loss_scale: {kind: static, window: 1000}`。请删除 `window`，或改为 `kind: dynamic`。",
        ),
    ),
    "MS0352": Code(
        said("accumulation that the device does not weigh", "设备不支持的梯度累积"),
        said(
            "`accumulation` divides the rows of one update into several forward passes: effective batch = micro_batch x accumulation x data"
            " parallel. mindformers resets its own setting to 1 outside semi-automatic parallel mode, so that a training would silently run"
            " with a smaller batch than its spec says.\n\n"
            "On a cpu our own training cell accumulates: it weighs every micro batch by its trained tokens, so that losses and weights are"
            " those of the large batch, with the memory of the micro batch. On one gpu or Ascend device that is not verified, and refused;"
            " over several devices mindformers accumulates in semi-automatic mode, but weighs each pass the same, which differs for rows"
            " with unequal numbers of trained tokens: a warning.\n\n"
            "Example: `device: gpu` with `pretrain.accumulation: 4`. Use 1 and a micro_batch four times as large, or, where that does not"
            " fit, as many rows as the message names; recompute makes room for more. `parallel: auto` takes a layout of one forward pass"
            " wherever one fits.",
            "`accumulation` 把一次更新的样本分成多次前向：有效批大小 = micro_batch x accumulation x 数据并行。mindformers"
            " 在半自动并行模式之外会把"
            "自己的设置重置为 1，于是训练会悄悄使用比声明更小的批。\n\n"
            "在 cpu 上由自带的训练单元累积：按参与训练的 token 数给每个微批加权，损失和权重与整批训练一致，内存只需微批的量。单个 gpu 或"
            " Ascend 上"
            "未经验证，因此拒绝；多个设备时由 mindformers 在半自动模式下累积，但每次前向权重相同，样本的训练 token 数不等时结果会有差别，"
            "因此给出警告。\n\n"
            "例：`device: gpu` 且 `pretrain.accumulation: 4`。请取 1，并把 micro_batch 增大到四倍；容纳不下时取提示中的行数，"
            "重计算可腾出空间。只要有布局能在一次前向中容纳，`parallel: auto` 就会选取它。",
        ),
        plannable=True,
    ),
    "MS0353": Code(
        said("float16 without a loss scale", "float16 而没有损失缩放"),
        said(
            "The smallest positive float16 is 6.0e-8. Gradients of a language model's mean loss are often smaller, and become zero.\n\n"
            "Nothing fails: the loss falls for a while and then stays where it is, since only the largest gradients still move weights.\n\n"
            "A gradient has the type of what it belongs to: weights in float16 (`model.dtype.params`) lose theirs although products compute"
            " in float32. With float16 in softmax or rotary embedding alone, a part of them is lost: a warning.\n\n"
            "Set `loss_scale: {kind: dynamic}` for the training, or float32 for the part that is named.",
            "float16 能表示的最小正数是 6.0e-8，而语言模型平均损失的梯度往往更小，会变成零。\n\n"
            "过程中不会报错：损失先下降一段，然后停滞，因为只有最大的梯度还能推动权重。\n\n"
            "梯度与其所属对象的类型相同：权重为 float16（`model.dtype.params`）时，即使矩阵乘以 float32 计算，梯度也会丢失。"
            "仅 softmax 或旋转位置编码为 float16 时丢失一部分，因此给出警告。\n\n"
            "请为该训练设置 `loss_scale: {kind: dynamic}`，或把所指的部分设为 float32。",
        ),
        plannable=True,
    ),
    "MS0359": Code(
        said("loss scale without float16", "没有 float16 却设了损失缩放"),
        said(
            "float32 and bfloat16 hold numbers down to 1.0e-38, so that no gradient is lost without a scale.\n\n"
            "A power of two changes no result, but a scale that grows can make gradients overflow that were sound, and their steps are"
            " skipped.\n\n"
            "Set `loss_scale.kind: none`; keep a scale only together with float16 in `model.dtype`.",
            "float32 和 bfloat16 可表示小至 1.0e-38 的数，不加缩放也不会丢失梯度。\n\n"
            "乘以 2 的幂不改变结果，但不断增大的缩放可能使原本正常的梯度溢出，从而跳过更新。\n\n"
            "请设置 `loss_scale.kind: none`；只有 `model.dtype` 中有 float16 时才需要缩放。",
        ),
    ),
    "MS0360": Code(
        said("recomputation that saves nothing", "不节省内存的重计算"),
        said(
            "Recomputation drops activations after the forward pass and computes them again in the backward pass: 20 to 30 % more time for"
            " much less memory, on devices whose runtime orders the two that way.\n\n"
            "On a CPU most of the memory is not the activations but index tables, which MindSpore's kernels keep to the end of the process;"
            " kernels that compute again have tables of their own. Weights come out bit for bit the same, but the measured peak was 9 to"
            " 19 % (selective) and 25 to 28 % (full) higher.\n\n"
            "On a cpu use `recompute: none`. What does save memory there is a smaller micro_batch with more accumulation: the rows of an"
            " update and the result stay the same.",
            "重计算在前向之后丢弃激活值，反向时再算一遍：在运行时会据此安排次序的设备上，用多 20% 到 30% 的时间换取少得多的内存。\n\n"
            "在 CPU 上占内存最多的不是激活值，而是 MindSpore 算子一直保留到进程结束的索引表；重计算的算子又有各自的表。"
            "得到的权重逐位相同，但实测峰值内存高出 9% 至 19%（selective）和 25% 至 28%（full）。\n\n"
            "在 cpu 上请使用 `recompute: none`。真正能减少内存的是减小 micro_batch 并增大 accumulation：一次更新的样本和结果都不变。",
        ),
    ),
    "MS0373": Code(
        said("weights too short for small updates", "权重位数不足以容纳小的更新"),
        said(
            "model.dtype.params is a 16-bit type, and pre-training changes all weights. A bfloat16 holds 8 bits of a number, a float16 "
            "11.\n\n"
            "The AdamW of mindformers computes in float32 and keeps its moments in it, but writes the result back to the 16-bit weight and "
            "keeps no copy of more bits. An update below 1/256 (1/2,048) of a weight is rounded away. The loss falls at first, and stops "
            "early once updates get small.\n\n"
            "Keep the weights in float32 and compute in the 16-bit type: model.dtype.params=float32 with model.dtype.compute=bfloat16. A "
            "frozen base under LoRA does not mind.",
            "model.dtype.params 是 16 位类型，而预训练会修改全部权重。bfloat16 的有效位数为 8，float16 为 11。\n\n"
            "mindformers 的 AdamW 以 float32 计算并保存矩，但把结果写回 16 位权重，且不保"
            "留更多位数的副本。小于权重 1/256（1/2,048）的更新会被舍去。"
            "损失起初下降，更新变小之后便过早停滞。\n\n"
            "请让权重保持 float32，只以 16 位类型计算：model.dtype.params=float32，model.dtype.compute=bfloat16"
            "。LoRA 之下冻结的基座不受影响。",
        ),
    ),
}
