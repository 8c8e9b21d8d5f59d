"""Pre-training and fine-tuning: text, schedule, optimizer, checkpoints, adapters, scores."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0308": Code(
        said("more rows than can be counted", "样本数超出计数范围"),
        said(
            "The rows of an update are micro_batch x accumulation x data parallelism. MindSpore counts them in 32 bits, up to"
            " 2,147,483,647.\n\n"
            "Each of the factors may be legal and their product not: the batch that is compiled would be refused when the stage starts,"
            " after hours of data work, or be another number.\n\n"
            "Example: micro_batch 65536 with accumulation 65536 are 4,294,967,296 rows. Lower one of the two.",
            "一次更新的样本数为 micro_batch x accumulation x 数据并行。MindSpore 以 32 位计数，最大 2,147,483,647。\n\n"
            "各因子都合法时乘积仍可能超出：编译出的批大小会在数小时的数据处理之后、阶段启动时被拒绝，或变成另一个数。\n\n"
            "例：micro_batch 65536 与 accumulation 65536 的乘积是 4,294,967,296。请减小其中之一。",
        ),
    ),
    "MS0309": Code(
        said("seed that several devices do not take", "多个设备不采用的种子"),
        said(
            "mindformers reads `seed: 0` as no seed at all. One device is seeded by the stages themselves.\n\n"
            "Ranks that share the batch draw their fresh weights by the seed, each on its own: without one every rank starts from another"
            " network, and the mean of their gradients trains none of them. The loss looks plausible.\n\n"
            "Example: `seed: 0` with `device.count: 2`. Any other seed will do.",
            "mindformers 把 `seed: 0` 当作没有种子；单个设备由各阶段自行设定种子。\n\n"
            "共享批次的各进程各自按种子生成初始权重：没有种子时每个进程从不同的网络出发，而它们梯度的平均不适合其中任何一个。"
            "损失看上去却很正常。\n\n"
            "例：`seed: 0` 且 `device.count: 2`。改用其他任意种子即可。",
        ),
    ),
    "MS0341": Code(
        said("warm-up is longer than training", "预热步数超过训练步数"),
        said(
            "The learning rate rises in a line over `schedule.warmup_steps`, then falls in a cosine until the last step. With more"
            " steps of warm-up than steps in all, training ends on the way up.\n\n"
            "mindformers accepts it. The loss falls, only slowly; the curve looks like a rate that was chosen too low, and hours"
            " go into looking for another cause. It often comes from shortening `steps` for a trial and leaving the warm-up as it was.\n\n"
            "Example: `steps: 100`, `warmup_steps: 2000` ends at a twentieth of the peak. Take a tenth of the steps, or a few hundred.",
            "学习率先在 `schedule.warmup_steps` 步内线性上升，再按余弦下降到最后一步。预热步数多于总步数时，训练在上升途中就结束了。\n\n"
            "mindformers 不会拒绝。损失仍在下降，只是很慢；曲线看起来像学习率取得太低，往往要花几个小时去找别的原因。"
            "常见的来由是：为了试跑缩短了 `steps`，却忘了同时缩短预热。\n\n"
            "例：`steps: 100`、`warmup_steps: 2000` 会停在峰值的二十分之一。取总步数的十分之一，或数百步。",
        ),
    ),
    "MS0342": Code(
        said("learning rate is not positive", "学习率不是正数"),
        said(
            "`schedule.peak` must be above 0 and `schedule.final` at least 0.\n\n"
            "A negative rate walks up the loss: it grows from the first step on, until it is NaN. A rate of zero trains nothing at"
            " full cost. mindformers takes both without a word.\n\n"
            "Example: `peak: -1.0e-3` is usually a slip of `1.0e-3`.",
            "`schedule.peak` 必须大于 0，`schedule.final` 不得小于 0。\n\n"
            "负的学习率沿损失上升的方向走：从第一步起损失就增大，直到变成 NaN。学习率为零则耗费全部算力而什么也学不到。"
            "mindformers 对两者都不加提示。\n\n"
            "例：`peak: -1.0e-3` 多半是 `1.0e-3` 的笔误。",
        ),
    ),
    "MS0343": Code(
        said("final rate above the peak", "最终学习率高于峰值"),
        said(
            "The cosine leads from `schedule.peak` to `schedule.final`. With a final rate above the peak it leads upwards.\n\n"
            "The rate is then highest where the weights should settle: the loss flattens or rises at the end, and the last weights,"
            " which are those that are kept, are not the best ones.\n\n"
            "Example: `peak: 1.0e-4, final: 1.0e-3`, the two in the wrong order. A tenth of the peak is a usual final rate; equal"
            " values give a constant rate.",
            "余弦曲线从 `schedule.peak` 走到 `schedule.final`。最终学习率高于峰值时，曲线是上升的。\n\n"
            "于是在权重应当稳定下来的时候学习率反而最高：末段损失变平或上升，而保留下来的恰是最后的权重。\n\n"
            "例：`peak: 1.0e-4, final: 1.0e-3`，两者写反了。最终学习率通常取峰值的十分之一；两者相等即为恒定学习率。",
        ),
    ),
    "MS0344": Code(
        said("learning rate far too high", "学习率过高"),
        said(
            "AdamW moves every weight by about the learning rate in each update. Weights of a network are of the order of 0.02, so a"
            " rate of 0.05 replaces them at every step.\n\n"
            "From 1 on the loss is NaN within a few steps, which is refused. From 0.05 on it usually jumps or stays where it is,"
            " which is a warning.\n\n"
            "Example: `peak: 3.0e3` for `3.0e-3`. Pre-training takes 1.0e-4 to 3.0e-3, LoRA 1.0e-4 to 5.0e-3.",
            "AdamW 每次更新使每个权重移动约一个学习率的量。网络权重的量级约为 0.02，学习率 0.05 等于每一步都换掉它们。\n\n"
            "从 1 起，几步之内损失就是 NaN，因此拒绝；从 0.05 起，损失通常剧烈跳动或停滞，因此警告。\n\n"
            "例：把 `3.0e-3` 写成了 `3.0e3`。预训练取 1.0e-4 到 3.0e-3，LoRA 取 1.0e-4 到 5.0e-3。",
        ),
    ),
    "MS0345": Code(
        said("fewer than two checkpoints kept", "保留的检查点少于两个"),
        said(
            "While training, weights are saved every `checkpoint.every` steps and the newest `checkpoint.keep` are kept. mindformers"
            " deletes the oldest before it writes the newest.\n\n"
            "With `keep: 1` there is a moment, as long as a save takes, at which no checkpoint exists. A kill at that moment leaves"
            " nothing of the training.\n\n"
            "Keep 2 or more.",
            "训练期间每 `checkpoint.every` 步保存一次权重，保留最新的 `checkpoint.keep` 个。mindformers 在写入最新的之前先删除最旧的。\n\n"
            "`keep: 1` 时，在一次保存所需的时间里一个检查点都没有。恰在此时被终止，训练成果将荡然无存。\n\n"
            "保留 2 个或更多。",
        ),
    ),
    "MS0346": Code(
        said("no checkpoint before the end", "训练结束前没有检查点"),
        said(
            "`checkpoint.every` is larger than `steps`, so that no save is ever due.\n\n"
            "The stage still writes its last weights. But a training that stops at NaN, or is killed, leaves nothing to look at."
            " It often comes from shortening `steps` for a trial.\n\n"
            "Choose at most `steps`; a quarter of it is usual.",
            "`checkpoint.every` 大于 `steps`，永远轮不到保存。\n\n"
            "阶段结束时仍会写出最后的权重；但若训练因 NaN 停止或被终止，就没有任何东西可查。常见于试跑时只缩短了 `steps`。\n\n"
            "最大取 `steps`；通常取其四分之一。",
        ),
    ),
    "MS0347": Code(
        said("fine-tuning method is not built", "尚不支持的微调方式"),
        said(
            "This version fine-tunes with LoRA. `method: full` would train all weights.\n\n"
            "The stages after it, merging and its checks, start from an adapter and its base. With full fine-tuning there is no"
            " adapter to merge.\n\n"
            "Use `method: lora`; a high rank on all layers comes close to full fine-tuning.",
            "此版本以 LoRA 微调。`method: full` 表示训练全部权重。\n\n"
            "后续的合并阶段及其检查都以适配器和基座为起点；全量微调没有可合并的适配器。\n\n"
            "使用 `method: lora`；在所有层上取较高的秩，效果接近全量微调。",
        ),
        plannable=True,
    ),
    "MS0348": Code(
        said("unknown LoRA target", "未知的 LoRA 目标层"),
        said(
            "`lora.targets` names layers by their Hugging Face names (q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj) or"
            " by those of MindSpore (wq, wk, wv, wo, w1, w3, w2).\n\n"
            "mindformers compiles the names into one expression and complains only when nothing at all matches it. A misspelt name"
            " beside a good one is passed over: half of the adapters are missing, the training runs, and the answers are just worse.\n\n"
            "Example: `targets: [wq, wvv]` trains wq alone. When the stage starts, each name is matched again with the layers of the base.",
            "`lora.targets` 用 Hugging Face 名称（q_proj、k_proj、v_proj、o_proj、gate_proj、up_proj、down_proj）"
            "或 MindSpore 名称（wq、wk、wv、wo、w1、w3、w2）指定层。\n\n"
            "mindformers 把它们拼成一个正则表达式，只有完全没有匹配时才报错。与正确名称并列的拼写错误会被直接跳过：一半的适配器不存在，"
            "训练照常进行，只是回答更差。\n\n"
            "例：`targets: [wq, wvv]` 只训练 wq。阶段启动时还会把每个名称与基座的层再匹配一次。",
        ),
    ),
    "MS0349": Code(
        said("adapters are not described", "没有描述适配器"),
        said(
            "`method: lora` needs the section `finetune.lora`: rank, alpha and the layers that get an adapter.\n\n"
            "There is no default for the layers, since they decide what is trained and how much memory it takes.\n\n"
            "Example: `lora: {rank: 8, alpha: 16, targets: [q_proj, v_proj]}`.",
            "`method: lora` 需要 `finetune.lora` 一节：秩、alpha 以及添加适配器的层。\n\n"
            "目标层没有默认值，因为它们决定训练哪些参数、占用多少内存。\n\n"
            "例：`lora: {rank: 8, alpha: 16, targets: [q_proj, v_proj]}`。",
        ),
    ),
    "MS0351": Code(
        said("LoRA rank exceeds the layer", "LoRA 的秩超过该层"),
        said(
            "An adapter is B A, with A of rank x inputs and B of outputs x rank. Its rank cannot exceed the smaller side of the layer.\n\n"
            "A larger rank adds parameters and memory, more than the layer itself has, and can express nothing more. With shared key"
            " and value heads k_proj and v_proj are narrow, so that the limit may be lower than the width of the model.\n\n"
            "Choose 4 to 64.",
            "适配器是 B A，其中 A 为 rank x 输入，B 为 输出 x rank。它的秩不可能超过该层较短的一边。\n\n"
            "更大的秩只会增加参数和内存，甚至多于该层本身，却不能表达更多。分组共享键值头时 k_proj 与 v_proj 较窄，"
            "上限可能低于模型宽度。\n\n"
            "取 4 到 64。",
        ),
    ),
    "MS0354": Code(
        said("no warm-up at a high rate", "高学习率而没有预热"),
        said(
            "Adam divides by an average of squared gradients. In the first steps that average rests on one or two batches, so the"
            " steps are as large as the rate allows, in directions that are mostly noise.\n\n"
            "Without a warm-up the loss may jump in the first steps, layers saturate, and the training never comes down as far as it"
            " could. It looks like a bad seed. The warning is given above 1.0e-4 for fresh weights, and above 2.0e-3 for adapters.\n\n"
            "Take a tenth of the steps, or a few hundred. The first step of the warm-up already moves: a rate of 0 would waste it.",
            "Adam 要除以梯度平方的平均值。最初几步这个平均值只来自一两个批，于是步幅达到学习率允许的最大值，方向却多半是噪声。\n\n"
            "没有预热时，最初几步损失可能跳升，部分层饱和，训练再也降不到应有的水平，看上去像随机种子不好。"
            "随机初始化的权重高于 1.0e-4、适配器高于 2.0e-3 时给出警告。\n\n"
            "取总步数的十分之一，或数百步。预热的第一步已经会更新权重：学习率为 0 的一步是浪费。",
        ),
    ),
    "MS0355": Code(
        said("warm-up takes most of the training", "预热占去大半训练"),
        said(
            "More than half of the steps are warm-up.\n\n"
            "The loss falls most while the rate comes down from its peak. A training that spends itself on rising has small updates"
            " and little time to settle; with as many steps of warm-up as steps in all it never settles.\n\n"
            "Take a tenth of the steps.",
            "超过一半的步数用于预热。\n\n"
            "损失主要在学习率从峰值下降时降低。时间都花在上升上，更新偏小，也没有时间稳定；预热步数等于总步数时则根本没有衰减阶段。\n\n"
            "取总步数的十分之一。",
        ),
    ),
    "MS0356": Code(
        said("constant that is likely a slip", "常数可能写错"),
        said(
            "AdamW and the network run with almost any constants, and none of these is refused by mindformers: betas in the wrong"
            " order, a weight decay above 1, an eps above 1.0e-3, a clip_norm below 0.01, a norm_eps above 1.0e-3, a rope_theta below"
            " 1000, an adapter that drops more than half of its input.\n\n"
            "Each trains without an error and ends at a loss that is too high. With betas of [0.95, 0.9] the first moment outlives the"
            " second, and Adam can diverge; a large eps or a tiny clip_norm makes the updates vanish; a large decay shrinks the weights"
            " faster than they learn.\n\n"
            "The usual values: betas [0.9, 0.95], eps 1.0e-8, weight_decay 0.01 to 0.1, clip_norm 1.0, norm_eps 1.0e-6, rope_theta"
            " 10000.0, dropout 0.0 to 0.1.",
            "AdamW 和网络用几乎任何常数都能运行，mindformers 也不拒绝：两个 beta 写反、权重衰减大于 1、eps 大于 1.0e-3、"
            "clip_norm 小于 0.01、norm_eps 大于 1.0e-3、rope_theta 小于 1000、适配器丢弃一半以上的输入。\n\n"
            "每一种都能无错训练，最后停在偏高的损失上。betas 为 [0.95, 0.9] 时一阶矩比二阶矩记得更久，Adam 可能发散；"
            "eps 过大或 clip_norm 过小使更新几乎消失；衰减过大使权重收缩快于学习。\n\n"
            "常用值：betas [0.9, 0.95]，eps 1.0e-8，weight_decay 0.01 到 0.1，clip_norm 1.0，norm_eps 1.0e-6，"
            "rope_theta 10000.0，dropout 0.0 到 0.1。",
        ),
    ),
    "MS0357": Code(
        said("unusual LoRA scale", "不寻常的 LoRA 缩放"),
        said(
            "An adapter is added as W + (alpha / rank) B A. Published recipes have alpha / rank between 0.25 and 8; the warning is given"
            " below 0.1 and above 8.\n\n"
            "The factor acts like a learning rate of its own. Lowering the rank and leaving alpha where it was raises it unnoticed:"
            " `rank: 1, alpha: 32` adds the adapter 32 times, and the loss jumps at a rate that suited rank 8.\n\n"
            "Write alpha as one or two times the rank. The factor that was trained with is stored with the adapter and used for the"
            " merge.",
            "适配器按 W + (alpha / rank) B A 叠加。公开的配方中 alpha / rank 在 0.25 与 8 之间；低于 0.1 或高于 8 时给出警告。\n\n"
            "这个系数相当于另一个学习率。降低秩而不改 alpha 会在不知不觉中放大它：`rank: 1, alpha: 32` 以 32 倍叠加，"
            "在适合秩 8 的学习率下损失会跳升。\n\n"
            "alpha 写成秩的一到两倍。训练所用的系数随适配器一起保存，合并时使用同一系数。",
        ),
    ),
    "MS0358": Code(
        said("learning rate too low to learn", "学习率过低，学不到东西"),
        said(
            "Fresh weights need a rate of at least about 1.0e-5, adapters one of at least about 5.0e-5.\n\n"
            "Rates of 1.0e-5 belong to the fine-tuning of whole networks. An adapter starts at B = 0 and has few numbers to move: at"
            " such a rate the loss falls by a few hundredths, the stage ends well, and the merged model answers like its base.\n\n"
            "LoRA usually takes 1.0e-4 to 5.0e-3, pre-training 1.0e-4 to 3.0e-3.",
            "随机初始化的权重至少需要约 1.0e-5 的学习率，适配器至少约 5.0e-5。\n\n"
            "1.0e-5 是微调整个网络时的学习率。适配器从 B = 0 开始，可调参数很少：这样的学习率下损失只降百分之几，阶段正常结束，"
            "而合并后的模型回答与基座无异。\n\n"
            "LoRA 通常取 1.0e-4 到 5.0e-3，预训练取 1.0e-4 到 3.0e-3。",
        ),
    ),
    "MS0391": Code(
        said("number that float32 cannot hold", "float32 无法表示的数"),
        said(
            "A spec holds numbers of 64 bits; the optimizer computes in 32. Values below 1.2e-38 become 0 and values above 3.4e+38"
            " become infinite; a share such as 0.99999999999 is rounded to 1.\n\n"
            "An eps of 0 divides by zero where a gradient is 0, a beta of 1 never forgets, a dropout of 1 drops everything: the"
            " training fails at its first step or learns nothing.\n\n"
            "Choose a value that is not at the edge of what 32 bits hold.",
            "实验描述中的数是 64 位，优化器以 32 位计算。小于 1.2e-38 的值变为 0，大于 3.4e+38 的值变为无穷大；"
            "0.99999999999 这样的比例会舍入为 1。\n\n"
            "eps 为 0 会在梯度为 0 处除以零，beta 为 1 永不遗忘，dropout 为 1 会丢弃一切：训练在第一步失败，或什么也学不到。\n\n"
            "取 32 位可以表示的、不在边缘的值。",
        ),
    ),
    "MS0392": Code(
        said("text is repeated too often", "文本重复次数过多"),
        said(
            "`steps` x rows of an update x `seq_length` is the number of tokens that training reads. Divided by an estimate of the"
            " tokens in the text (`mix.budget_bytes`, three bytes a token) it says how often the text is read.\n\n"
            "Studies of repeated data find that up to four passes are nearly as good as new text and that nothing more is learned"
            " beyond about sixteen. From there on the training loss falls on, since the text is learned by heart, while the"
            " validation loss rises.\n\n"
            "Give more text, or fewer steps.",
            "`steps` x 一次更新的行数 x `seq_length` 是训练读取的词元数；除以文本词元数的估计（`mix.budget_bytes`，"
            "每词元三字节），即为文本被读的遍数。\n\n"
            "关于重复数据的研究表明：四遍以内几乎与新文本等效，约十六遍之后不再学到新东西。此后训练损失因背诵而继续下降，"
            "验证损失却在上升。\n\n"
            "增加文本，或减少步数。",
        ),
    ),
    "MS0393": Code(
        said("less text than one batch", "文本不足一个批"),
        said(
            "One update reads micro_batch x accumulation x data-parallel rows of `seq_length` + 1 ids. A byte gives at most one token,"
            " so a budget with fewer bytes than that cannot fill a single batch.\n\n"
            "mindformers drops an incomplete batch and ends without a step. Here it would be found only after the corpus was cleaned,"
            " deduplicated and packed.\n\n"
            "Give more text, or make micro_batch or seq_length smaller.",
            "一次更新读取 micro_batch x accumulation x 数据并行数 行，每行 `seq_length` + 1 个标识。一个字节至多给出一个词元，"
            "字节数少于此的文本连一个批也填不满。\n\n"
            "mindformers 会丢弃不完整的批，一步不做就结束；而这要等清洗、去重、打包全部完成之后才会发现。\n\n"
            "增加文本，或减小 micro_batch 或 seq_length。",
        ),
        plannable=True,
    ),
    "MS0394": Code(
        said("vocabulary is too large for the text", "词表对文本而言过大"),
        said(
            "A vocabulary is learned from the training documents. With fewer than 16 bytes of text for each piece there is little to"
            " learn it from.\n\n"
            "SentencePiece refuses when the text does not give as many pieces: as measured, one for 3 bytes (Chinese, BPE), one for 4"
            " to 20 (English, BPE), one for 15 to 80 (unigram). Where it does give them, most pieces are seen a few times only, and"
            " their embeddings stay noise.\n\n"
            "Choose a smaller vocabulary: the text divided by 100 bytes is a good size.",
            "词表从训练文档中学得。每个子词不足 16 字节文本时，几乎无从学起。\n\n"
            "文本给不出这么多子词时 SentencePiece 会拒绝；实测约为每 3 字节一个（中文 BPE）、每 4 到 20 字节一个（英文 BPE）、"
            "每 15 到 80 字节一个（unigram）。即使给得出，大多数子词也只出现几次，其词嵌入仍是噪声。\n\n"
            "减小词表：文本字节数除以 100 是合适的大小。",
        ),
    ),
    "MS0395": Code(
        said("checkpoints fill the disk", "检查点会占满磁盘"),
        said(
            "Each checkpoint of a training holds the weights and both moments of Adam, 12 bytes a parameter. `checkpoint.keep` of them"
            " stand in the scratch folder of the stage at the same time.\n\n"
            "A disk that fills up ends the training in the middle of a save. The scratch folder is removed when the stage is done:"
            " only the last weights become its result, however many were kept.\n\n"
            "Keep 2 or 3, or save less often.",
            "训练中的每个检查点包含权重和 Adam 的两个矩，每参数 12 字节；`checkpoint.keep` 个检查点同时存放在阶段的临时目录中。\n\n"
            "磁盘写满会使训练在保存中途终止。阶段完成后临时目录会被删除：无论保留多少，只有最后的权重成为结果。\n\n"
            "保留 2 到 3 个，或加大保存间隔。",
        ),
    ),
    "MS0396": Code(
        said("exported in another type than scored", "导出与评测的数据类型不同"),
        said(
            "`evaluate` scores the merged weights in `model.dtype.compute`; `export` writes the file in `export.dtype`.\n\n"
            "A float16 file of a model that was scored in float32 rounds every weight to three digits. Most answers stay the same,"
            " some do not, and the figures of the report belong to a model that nobody is handed.\n\n"
            "Export in float32, or score the file itself before it is used.",
            "`evaluate` 以 `model.dtype.compute` 评测合并后的权重；`export` 以 `export.dtype` 写出文件。\n\n"
            "以 float32 评测、以 float16 导出时，每个权重都被舍入到约三位有效数字。多数回答不变，少数会变，"
            "而报告中的数字属于一个并未交付的模型。\n\n"
            "以 float32 导出，或在使用之前对该文件另行评测。",
        ),
    ),
    "MS0397": Code(
        said("scored on what was trained on", "在训练数据上评测"),
        said(
            "`perplexity.split: train` measures perplexity on the rows that the weights were fitted to.\n\n"
            "It is lower than on unseen text and falls further the more is learned by heart: a model that only memorises looks better"
            " than one that learns. Comparisons and gates on it reward the wrong one.\n\n"
            "Use `validation`. The training loss is in the curves of the report already.",
            "`perplexity.split: train` 在权重拟合过的样本上计算困惑度。\n\n"
            "它低于未见文本上的困惑度，且背诵越多越低：只会背诵的模型看起来优于真正学到东西的模型。以它做比较和门禁会奖励错误的一方。\n\n"
            "使用 `validation`。训练损失已在报告的曲线中。",
        ),
    ),
    "MS0398": Code(
        said("weight decay erases the weights", "权重衰减会抹掉权重"),
        said(
            "AdamW multiplies each weight by 1 - rate x weight_decay before it adds the update. At the peak this factor must stay well"
            " above 0.\n\n"
            "At a product of 1 every weight of a matrix is erased at every step; above 1 it changes its sign and grows without end."
            " mindformers accepts it, and the loss is NaN after the warm-up.\n\n"
            "Example: `peak: 1.0e-2, weight_decay: 100`. Usual is a decay of 0 to 0.1.",
            "AdamW 在加上更新之前，先把每个权重乘以 1 - 学习率 x weight_decay。在峰值处该系数必须明显大于 0。\n\n"
            "乘积为 1 时矩阵的每个权重每一步都被清零；大于 1 时正负翻转并无限增大。mindformers 不会拒绝，预热之后损失即为 NaN。\n\n"
            "例：`peak: 1.0e-2, weight_decay: 100`。权重衰减通常取 0 到 0.1。",
        ),
    ),
    "MS0399": Code(
        said("more held out than trained on", "留作验证的多于训练的"),
        said(
            "`split.validation` is the share of documents or rows that is held out for scoring; the rest is trained on.\n\n"
            "With more than half held out the model learns from the smaller part, and a corpus that took hours to clean is mostly"
            " scored. A share of the training set was likely meant.\n\n"
            "Example: `validation: 0.95` for a training share of 95 %. Usual is 0.01 to 0.1.",
            "`split.validation` 是留作评测的文档或样本比例，其余用于训练。\n\n"
            "超过一半留作验证时，模型只从较小的部分学习，花几个小时清洗的语料大部分只用于评测。很可能写成了训练集的比例。\n\n"
            "例：想让训练集占 95 %，却写了 `validation: 0.95`。通常取 0.01 到 0.1。",
        ),
    ),
}
