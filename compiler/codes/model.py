"""The network: its sizes, its family, and the config.json that may give them."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0301": Code(
        said("heads do not divide the width", "注意力头数不能整除隐藏层维度"),
        said(
            "Attention cuts the residual stream into num_heads equal parts, so hidden_size must be a multiple of num_heads.\n\n"
            "mindformers rounds the quotient down and only notices when it reshapes: the graph fails to compile after data, tokenizer "
            "and packing have been made.\n\n"
            "Example: hidden_size 100 with num_heads 8 leaves 4. Choose 96 or 104, or another number of heads; a head of 64 or 128 "
            "is usual. In Qwen3, model.head_dim frees the heads from the width.",
            "注意力把隐藏层均分给 num_heads 个头，因此 hidden_size 必须是 num_heads 的整数倍。\n\n"
            "mindformers 会向下取整，直到 reshape 时才出错：此时数据、分词器与打包都已完成，计算图却编译失败。\n\n"
            "例如 hidden_size 100、num_heads 8 余 4。请改用 96 或 104，或改变头数；常用的单头维度是 64 或 128。"
            "在 Qwen3 中可用 model.head_dim 单独指定单头维度。",
        ),
    ),
    "MS0302": Code(
        said("heads do not share key/value heads evenly", "注意力头不能平均共享键值头"),
        said(
            "In grouped-query attention each key/value head serves the same number of heads: num_heads must be a multiple of "
            "num_kv_heads.\n\n"
            "Otherwise the graph fails to compile, after the data has been made.\n\n"
            "Example: 32 heads take 1, 2, 4, 8, 16 or 32 key/value heads. As many as heads is plain multi-head attention, one is "
            "multi-query attention.",
            "在分组查询注意力（GQA）中，每个键值头服务的注意力头数相同：num_heads 必须是 num_kv_heads 的整数倍。\n\n"
            "否则在数据全部制作完成之后，计算图才编译失败。\n\n"
            "例如 32 个头可用 1、2、4、8、16 或 32 个键值头。与头数相等即普通多头注意力（MHA），等于 1 即多查询注意力（MQA）。",
        ),
    ),
    "MS0303": Code(
        said("odd head dimension", "单头维度为奇数"),
        said(
            "The rotary position embedding turns pairs of dimensions, so a head needs an even number of them.\n\n"
            "With an odd one the tables of sines and cosines have one column too few, and the first forward pass fails on shapes that "
            "name neither heads nor width.\n\n"
            "Make hidden_size a multiple of 2 x num_heads, or head_dim even.",
            "旋转位置编码（RoPE）成对地旋转维度，因此单头维度必须是偶数。\n\n"
            "若为奇数，正弦余弦表会少一列，首次前向计算报形状错误，而报错里既不提头数也不提隐藏层维度。\n\n"
            "请让 hidden_size 是 2 x num_heads 的整数倍，或让 head_dim 为偶数。",
        ),
    ),
    "MS0304": Code(
        said("family that this device does not train", "该设备不能训练此模型结构"),
        said(
            "Llama and Qwen2 run as mindformers' legacy Llama on every device. Qwen3 normalises each head's query and key, which only "
            "mindformers' mcore graphs compute.\n\n"
            "On CPU and GPU those graphs stop at operators without a kernel: the fused RMS norm, flash attention, the outer product of "
            "the rotary table, the sharded embedding. On Ascend they run, but merge, export and evaluation of this version rebuild the "
            "legacy network and could not read the weights.\n\n"
            "Use a Qwen2.5 size for the run (model=qwen2.5-7b, or model=qwen2-tiny to try). What is asked of memory and layout can be "
            "planned for Qwen3 all the same: `mindspec plan NAME`.",
            "Llama 与 Qwen2 在各类设备上都以 mindformers 的 legacy Llama 运行。Qwen3 对每个头的 query 与 key 做归一化，"
            "只有 mindformers 的 mcore 计算图支持。\n\n"
            "在 CPU 与 GPU 上，这些计算图会停在没有内核的算子上：融合 RMSNorm、FlashAttention、旋转位置表的外积、切分的词嵌入。"
            "在昇腾上可以训练，但本版本的合并、导出与评测阶段按 legacy 网络重建模型，无法读取其权重。\n\n"
            "运行请改用 Qwen2.5 的规格（model=qwen2.5-7b，试跑用 model=qwen2-tiny）。"
            "Qwen3 的显存与并行布局仍可规划：`mindspec plan NAME`。",
        ),
        plannable=True,
    ),
    "MS0307": Code(
        said("too many positions", "位置过多"),
        said(
            "mindformers makes a table of the cosines and sines of all positions when it builds the network. With model.rope_scaling the"
            " table reaches to original_length, however short the rows are, and positions are float32 numbers.\n\n"
            "A length with digits too many takes more memory than the device has, before the first step. Beyond 16,777,216 = 2^24 two"
            " neighbouring positions are the same float32 number, and nothing says so.\n\n"
            "Example: `rope_scaling: {factor: 8.0, original_length: 81920000}`. Llama 3.1 has 8192.",
            "mindformers 构建网络时会制作所有位置的余弦与正弦表。使用 model.rope_scaling 时，无论样本多短，表都要覆盖 original_length；"
            "位置以 float32 表示。\n\n"
            "多写几位数字，表就会在第一步之前占满设备内存。超过 16,777,216 = 2^24 之后，相邻两个位置是同一个 float32 数，"
            "而且没有任何提示。\n\n"
            "例：`rope_scaling: {factor: 8.0, original_length: 81920000}`。Llama 3.1 为 8192。",
        ),
    ),
    "MS0310": Code(
        said("rows of the embedding table without a piece", "词嵌入表中没有对应词元的行"),
        said(
            "model.vocab_size is more than twice tokenizer.vocab_size. The public sizes bring the table of their own tokenizer "
            "(128,256 rows for Llama 3), while the tokenizer of an experiment is trained on its text.\n\n"
            "Rows that no piece has are never trained, and nothing says so. They take memory for weights, gradients and moments, and the "
            "logits of every token are computed over all of them.\n\n"
            "Keep it to plan for a published size. For a run write model.vocab_size=null, which takes the tokenizer's.",
            "model.vocab_size 超过 tokenizer.vocab_size 的两倍。公开规模自带其分词器的词表大小（Llama 3 为 128,256 行），"
            "而实验的分词器是在自己的文本上训练的。\n\n"
            "没有词元的行永远得不到训练，也没有任何提示。它们要占用权重、梯度和矩的内存，每个 token 的 logits 都要对所有行计算。\n\n"
            "只为规划公开规模时可以保留；要运行则写 model.vocab_size=null，即采用分词器词表。",
        ),
    ),
    "MS0311": Code(
        said("head dimension that the family cannot have", "该模型结构不支持的单头维度"),
        said(
            "In Llama and Qwen2 the heads share the width out among themselves: head_dim is hidden_size / num_heads, and mindformers "
            "has no setting for another one.\n\n"
            "It would compute with the quotient, and the model would have another size than the one that was written.\n\n"
            "Leave head_dim out, or change hidden_size or num_heads. Only Qwen3 has heads of their own width.",
            "Llama 与 Qwen2 的单头维度由隐藏层均分得到：head_dim 等于 hidden_size / num_heads，mindformers 没有单独的设置。\n\n"
            "它会按商计算，模型的实际尺寸与所写的不同。\n\n"
            "请去掉 head_dim，或修改 hidden_size、num_heads。只有 Qwen3 的单头维度可以独立设置。",
        ),
    ),
    "MS0312": Code(
        said("vocabulary smaller than the tokenizer's", "模型词表小于分词器词表"),
        said(
            "Every id that the tokenizer can write needs a row of the embedding table: model.vocab_size must be at least "
            "tokenizer.vocab_size. Without model.vocab_size the two are equal.\n\n"
            "An id beyond the table reads memory that is not its own. Nothing fails: the loss is wrong or NaN from the first step on. "
            "And an adapter trained on a shrunk table does not merge into the padded base, hours later.\n\n"
            "Example: tokenizer 50,000 with model 32,000 is refused. Tokenizer 151,665 with model 152,064 (Qwen2.5) is kept as it is: "
            "the 399 further rows are padding that no text reaches, and no stage cuts them off.",
            "分词器能写出的每个 id 都要在词嵌入表中有一行：model.vocab_size 不得小于 tokenizer.vocab_size。"
            "不写 model.vocab_size 时两者相等。\n\n"
            "越界的 id 会读到不属于它的内存，而且不报错：损失从第一步起就是错的或 NaN。"
            "在缩小的词表上训练的适配器，数小时后也无法合并到带填充的基座。\n\n"
            "例如分词器 50,000、模型 32,000 会被拒绝；分词器 151,665、模型 152,064（Qwen2.5）则原样保留："
            "多出的 399 行是填充，没有文本会用到，任何阶段都不会裁掉它们。",
        ),
    ),
    "MS0313": Code(
        said("rows longer than the model was made for", "样本长度超过模型设计长度"),
        said(
            "A model is published with the longest context its positions were trained for. This one trains on longer rows.\n\n"
            "That is allowed, since weights are trained anew; but with the published rope_theta far positions turn faster than the "
            "design foresaw, and what is compared with the published model is another model.\n\n"
            "Lower seq_length, or stretch the frequencies: model.rope_scaling or a larger rope_theta. Then raise max_length to say so.",
            "公开模型都注明其位置编码支持的最大长度，而这里的训练样本更长。\n\n"
            "这是允许的，因为权重从头训练；但在公开的 rope_theta 下，远处位置的旋转超出设计范围，与公开模型也不再可比。\n\n"
            "请减小 seq_length，或扩展频率：model.rope_scaling 或更大的 rope_theta，然后相应提高 max_length。",
        ),
    ),
    "MS0314": Code(
        said("rotary scaling that cannot be computed", "无法计算的旋转频率缩放"),
        said(
            "model.rope_scaling stretches the rotary frequencies as Llama 3.1 does: waves shorter than original_length / "
            "high_freq_factor stay, waves longer than original_length / low_freq_factor are divided by factor, and those between go "
            "over smoothly.\n\n"
            "So high_freq_factor must be above low_freq_factor; when they are equal mindformers divides by zero while it builds the "
            "network. Only its legacy Llama takes the four numbers.\n\n"
            "Llama 3.1 uses factor 8, Llama 3.2 factor 32, both with 1 and 4 over 8,192 tokens.",
            "model.rope_scaling 按 Llama 3.1 的方式缩放旋转频率：波长小于 original_length / high_freq_factor 的保持不变，"
            "大于 original_length / low_freq_factor 的除以 factor，中间的平滑过渡。\n\n"
            "因此 high_freq_factor 必须大于 low_freq_factor；两者相等时 mindformers 构建网络会除以零。"
            "只有其 legacy Llama 支持这四个参数。\n\n"
            "Llama 3.1 的 factor 为 8，Llama 3.2 为 32，两者的高低频系数都是 1 与 4，原始长度 8,192。",
        ),
    ),
    "MS0315": Code(
        said("config.json cannot be read", "无法读取 config.json"),
        said(
            "model.from_hf names a folder as Hugging Face writes it; the sizes of the model are read from its config.json when the "
            "spec is composed. The weights beside it are not read: a model is trained anew.\n\n"
            "The file must exist, be UTF-8 without a byte order mark, and hold one JSON object, each key once. transformers and "
            "mindformers read it under the same rules and would stop later, on the machine that trains.\n\n"
            "Name the folder, relative to the project root or absolute; not the file in it.",
            "model.from_hf 指向 Hugging Face 格式的文件夹；组合 spec 时从其中的 config.json 读取模型尺寸。"
            "旁边的权重不会读取，模型从头训练。\n\n"
            "该文件必须存在、为不带 BOM 的 UTF-8，并且是一个 JSON 对象、键不重复。transformers 与 mindformers 遵循同样的规则，"
            "否则会在训练机器上才失败。\n\n"
            "请写文件夹（相对项目根目录或绝对路径），不要写其中的文件。",
        ),
    ),
    "MS0316": Code(
        said("config.json lacks a size or holds a wrong one", "config.json 缺少尺寸或取值有误"),
        said(
            "The sizes of a network cannot be guessed: hidden_size, intermediate_size, num_hidden_layers, num_attention_heads and "
            "vocab_size must be in config.json as whole numbers above zero, and num_key_value_heads too, except for an old Llama, "
            "where it is num_attention_heads.\n\n"
            "transformers would put its own default in place of a missing one, which is another model's.\n\n"
            "Take the file from the model's own folder again, or write the sizes into the spec.",
            "网络尺寸无法猜测：config.json 中必须有 hidden_size、intermediate_size、num_hidden_layers、num_attention_heads 与 vocab_size，"
            "且为正整数；num_key_value_heads 也必须有，仅旧版 Llama 例外（等于 num_attention_heads）。\n\n"
            "缺少时 transformers 会填入自己的默认值，而那是另一个模型的尺寸。\n\n"
            "请重新取得该模型的原始文件，或把尺寸写进 spec。",
        ),
    ),
    "MS0317": Code(
        said("config.json describes another kind of network", "config.json 描述的网络不受支持"),
        said(
            "Llama, Qwen2 and Qwen3 are supported as published: SiLU, causal attention over the whole row, biases only where the "
            "family has them, rotary frequencies plain or stretched as in Llama 3.1, weights that are not quantised.\n\n"
            "A setting that mindformers' network does not have would be passed over without a word: the model would train, and be "
            "another one than its config.json says.\n\n"
            "Examples: use_sliding_window true, attention_bias true in a Llama, mlp_bias, hidden_act gelu, rope_scaling yarn, "
            "quantization_config.",
            "支持公开形式的 Llama、Qwen2 与 Qwen3：SiLU 激活、整行因果注意力、仅在该结构规定处有偏置、"
            "普通或 Llama 3.1 式缩放的旋转频率、未量化的权重。\n\n"
            "mindformers 网络不具备的设置会被悄悄忽略：模型照常训练，却不是 config.json 所描述的模型。\n\n"
            "例如 use_sliding_window 为 true、Llama 中 attention_bias 为 true、mlp_bias、hidden_act 为 gelu、rope_scaling 为 yarn、"
            "quantization_config。",
        ),
    ),
    "MS0318": Code(
        said("size that contradicts config.json", "与 config.json 矛盾的尺寸"),
        said(
            "With model.from_hf the sizes are those of config.json. It goes before what a file of specs/model says, since that is only "
            "where an experiment starts from; but a size that the experiment or an override writes beside it is meant, and must be "
            "the same.\n\n"
            "One of the two would have to be ignored, and the weights would not fit the network that somebody expects.\n\n"
            "Leave the size out, or leave from_hf out and write all of them.",
            "使用 model.from_hf 时，尺寸以 config.json 为准。它优先于 specs/model 中的文件（那只是实验的起点）；"
            "但实验文件或命令行覆盖中明确写出的尺寸必须与它一致。\n\n"
            "否则两者必有一个被忽略，网络与预期的权重对不上。\n\n"
            "请去掉该尺寸，或去掉 from_hf 并写全所有尺寸。",
        ),
    ),
    "MS0319": Code(
        said("name already used by a transformers config", "名称已被 transformers 配置占用"),
        said(
            "A config.json with auto_map brings code of its own, and registers it under its model_type. transformers refuses a second "
            "class under a name it knows.\n\n"
            'The symptom is "is already used by a Transformers config, pick another name" when the model is opened, on the machine '
            "that trains.\n\n"
            "Give model_type a name of its own where the code is kept; or, when the network is the published one, take auto_map out of "
            "config.json.",
            "带 auto_map 的 config.json 自带代码，并以其 model_type 注册；transformers 不允许用已有的名称注册第二个类。\n\n"
            '症状是在训练机器上打开模型时报 "is already used by a Transformers config, pick another name"。\n\n'
            "请给自带代码的 model_type 换一个独有的名称；若网络就是公开的那一个，则从 config.json 中删去 auto_map。",
        ),
    ),
    "MS0320": Code(
        said("numeric type other than the published one", "与发布时不同的数据类型"),
        said(
            "config.json says in which numeric type the model was published (torch_dtype). This device computes it, but the spec "
            "computes in another one.\n\n"
            "Nothing fails: float32 takes twice the memory and time of bfloat16 on such a device, and float16 has a smaller range than "
            "the model was trained in and needs a loss scale.\n\n"
            "Set model.dtype.compute to the published type, unless the other one is meant.",
            "config.json 的 torch_dtype 注明了模型发布时的数据类型。本设备支持该类型，而 spec 使用了另一种。\n\n"
            "这不会报错：在此类设备上 float32 的显存与时间约为 bfloat16 的两倍；float16 的数值范围比原训练类型小，并且需要损失缩放。\n\n"
            "除非有意为之，请把 model.dtype.compute 设为发布时的类型。",
        ),
    ),
}
