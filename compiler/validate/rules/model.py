"""The network must be one that exists and that the device computes."""

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.families import FAMILIES
from compiler.hf_config import published_dtype
from compiler.parse import from_hf
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.spec.model import Model
from compiler.validate.rules.registry import Rules
from compiler.wording import Said, said
from runtime.contracts.counting import counted

RULES = Rules()

# Why a device does not train the families of mindformers' mcore graphs.
_NO_MCORE = {
    "cpu": said(
        "mindformers computes it with its mcore graphs alone; their fused RMS norm, flash attention, rotary outer product and "
        "sharded embedding have no CPU kernel",
        "mindformers 只有 mcore 计算图支持它，而其中的融合 RMSNorm、FlashAttention、旋转表外积与切分词嵌入没有 CPU 内核",
    ),
    "gpu": said(
        "mindformers computes it with its mcore graphs alone; the CUDA kernels of this MindSpore have no fused RMS norm and no flash "
        "attention",
        "mindformers 只有 mcore 计算图支持它，而此版 MindSpore 的 CUDA 内核没有融合 RMSNorm 与 FlashAttention",
    ),
    "ascend": said(
        "merge, export and evaluation rebuild the legacy network of mindformers, which cannot hold the weights of an mcore graph",
        "合并、导出与评测阶段按 mindformers 的 legacy 网络重建模型，无法装入 mcore 计算图的权重",
    ),
}


@RULES.needing()
def config_json_is_usable(_spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    yield from from_hf.faults(tree)


@RULES.needing("model")
def family_is_known(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    """What config.json gives has replaced the family by now."""
    if spec.model.family == "from_hf" and spec.model.from_hf is None:
        yield Diagnostic(
            "MS0315",
            said("family from_hf needs a folder to take the family from", "family 为 from_hf 时需要指明来源文件夹"),
            path=("model", "family"),
            reason=said("no config.json is named, so the network is not known", "没有指明 config.json，网络结构未知"),
            fix=said("add `from_hf: FOLDER`, or name the family: llama, qwen2", "添加 `from_hf: 文件夹`，或直接写明结构：llama、qwen2"),
        )


@RULES.needing("model", "device")
def device_trains_the_family(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    name, target = spec.model.family, spec.device.target
    known = FAMILIES.get(name)
    if known and known.backend == "mcore":
        yield Diagnostic(
            "MS0304",
            said(f"{name} is not trained on {target} in this version", f"本版本不能在 {target} 上训练 {name}"),
            path=("model", "family"),
            reason=_NO_MCORE[target],
            fix=said(
                "use a size of qwen2, such as model=qwen2.5-7b or model=qwen2-tiny; `mindspec plan` takes it as it is",
                "改用 qwen2 的规格，如 model=qwen2.5-7b 或 model=qwen2-tiny；`mindspec plan` 可直接使用它",
            ),
        )


@RULES.needing("model")
def heads_divide_the_width(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    width, heads = spec.model.hidden_size, spec.model.num_heads
    if width % heads and not _own_head_dim(spec.model):
        yield Diagnostic(
            "MS0301",
            said(f"{width} / {heads} leaves {width % heads}", f"{width} / {heads} 余 {width % heads}"),
            path=("model", "hidden_size"),
            reason=said(
                "attention cannot be reshaped into heads: the graph fails to compile after the data is built",
                "注意力无法按头拆分：数据制作完成之后计算图编译失败",
            ),
            fix=_even_width(spec.model, said("make hidden_size a multiple of num_heads", "让 hidden_size 是 num_heads 的整数倍")),
        )


@RULES.needing("model")
def heads_share_evenly(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    heads, shared = spec.model.num_heads, spec.model.num_kv_heads
    if heads % shared:
        yield Diagnostic(
            "MS0302",
            said(f"{counted(heads, 'head')} cannot share {shared} key/value heads", f"{heads} 个头无法平均共享 {shared} 个键值头"),
            path=("model", "num_kv_heads"),
            reason=said(
                "each key/value head serves the same number of heads; the graph would fail to compile",
                "每个键值头服务的头数必须相同，否则计算图编译失败",
            ),
            fix=said(f"choose a divisor of {heads}", f"选择 {heads} 的约数"),
        )


@RULES.needing("model")
def head_dimension_is_even(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    width, heads, own = spec.model.hidden_size, spec.model.num_heads, spec.model.head_dim
    reason = said("rotary position embedding turns pairs of dimensions", "旋转位置编码成对地旋转维度")
    if own is not None and own % 2:
        yield Diagnostic(
            "MS0303",
            said(f"{own} is odd", f"{own} 是奇数"),
            path=("model", "head_dim"),
            reason=reason,
            fix=said(f"choose an even width, for example {own + 1}", f"选择偶数，例如 {own + 1}"),
        )
    elif own is None and width % heads == 0 and width // heads % 2:
        yield Diagnostic(
            "MS0303",
            said(f"{width} / {heads} = {width // heads} is odd", f"{width} / {heads} = {width // heads} 是奇数"),
            path=("model", "hidden_size"),
            reason=reason,
            fix=_even_width(spec.model, said("make hidden_size a multiple of 2 x num_heads", "让 hidden_size 是 2 x num_heads 的整数倍")),
        )


@RULES.needing("model")
def head_dimension_is_the_family_s(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    model = spec.model
    known = FAMILIES.get(model.family)
    if known and not known.own_head_dim and model.head_dim is not None and model.head_dim * model.num_heads != model.hidden_size:
        yield Diagnostic(
            "MS0311",
            said(
                f"{model.num_heads} heads of {model.head_dim} are {model.num_heads * model.head_dim} wide, hidden_size is "
                f"{model.hidden_size}",
                f"{model.num_heads} 个宽 {model.head_dim} 的头共 {model.num_heads * model.head_dim} 维，"
                f"而 hidden_size 为 {model.hidden_size}",
            ),
            path=("model", "head_dim"),
            reason=said(
                f"in {known.title} a head is hidden_size / num_heads wide, and mindformers would compute with that",
                f"{known.title} 的单头维度等于 hidden_size / num_heads，mindformers 会按它计算",
            ),
            fix=said("leave head_dim out", "去掉 head_dim"),
        )


@RULES.needing("model", "tokenizer")
def vocabulary_holds_the_tokenizer(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    """A larger table is kept: its further rows are padding."""
    rows, pieces = spec.model.vocab_size, spec.tokenizer.vocab_size
    if rows is not None and rows < pieces:
        yield Diagnostic(
            "MS0312",
            said(f"{rows} rows of embeddings for {pieces} pieces of the tokenizer", f"词嵌入只有 {rows} 行，而分词器有 {pieces} 个词元"),
            path=("model", "vocab_size"),
            reason=said(
                "ids beyond the table read memory that is not theirs, without an error; the loss is wrong from the first step on",
                "越界的 id 会读到不属于它的内存且不报错，损失从第一步起就是错的",
            ),
            fix=said(
                f"set model.vocab_size to at least {pieces}, or leave it out to take the tokenizer's",
                f"把 model.vocab_size 设为至少 {pieces}，或去掉它以采用分词器词表",
            ),
            related=((said("the tokenizer's vocabulary", "分词器词表"), tree.place(("tokenizer", "vocab_size"))),),
        )


@RULES.needing("model", "tokenizer")
def rows_have_pieces(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    """Public sizes bring the table of a public tokenizer, and this project trains its own."""
    rows, pieces = spec.model.vocab_size, spec.tokenizer.vocab_size
    if rows is not None and rows > 2 * pieces:
        idle = rows - pieces
        yield Diagnostic(
            "MS0310",
            said(
                f"{idle:,} of {rows:,} rows are never trained: the tokenizer has {pieces:,} pieces",
                f"{rows:,} 行中有 {idle:,} 行永远得不到训练：分词器只有 {pieces:,} 个词元",
            ),
            path=("model", "vocab_size"),
            severity="warning",
            reason=said(
                "no text reaches them, yet they take memory, and every step computes their logits",
                "没有文本会用到它们，但它们占用内存，而且每一步都要计算其 logits",
            ),
            fix=said(
                "for a plan of the published size keep it; for a run write model.vocab_size=null",
                "仅为规划公开规模时可以保留；要运行则写 model.vocab_size=null",
            ),
            suggestion="null",
        )


@RULES.needing("model")
def rows_fit_the_positions(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    length, limit = spec.model.seq_length, spec.model.max_length
    if limit is not None and length > limit:
        yield Diagnostic(
            "MS0313",
            said(f"rows of {length} tokens, but the model was made for {limit}", f"样本长 {length}，而模型设计长度为 {limit}"),
            path=("model", "seq_length"),
            reason=said(
                "positions beyond the limit turn in ways that the published model never saw",
                "超出上限的位置，其旋转角度是公开模型从未见过的",
            ),
            fix=said(
                f"lower it to {limit}, or stretch the frequencies and raise max_length", f"减小到 {limit}，或扩展频率并提高 max_length"
            ),
            severity="warning",
        )


@RULES.needing("model")
def rotary_scaling_is_computed(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    scaling, known = spec.model.rope_scaling, FAMILIES.get(spec.model.family)
    if scaling is None or known is None:
        return
    if not known.scaled_rope:
        yield Diagnostic(
            "MS0314",
            said(f"{known.title} has no scaled frequencies here", f"{known.title} 在此不支持频率缩放"),
            path=("model", "rope_scaling"),
            reason=said("only mindformers' legacy Llama takes these numbers", "只有 mindformers 的 legacy Llama 支持这些参数"),
            fix=said("write `rope_scaling: null`", "写 `rope_scaling: null`"),
        )
    elif scaling.high_freq_factor <= scaling.low_freq_factor:
        yield Diagnostic(
            "MS0314",
            said(
                f"{scaling.high_freq_factor} is not above low_freq_factor {scaling.low_freq_factor}",
                f"{scaling.high_freq_factor} 不大于 low_freq_factor {scaling.low_freq_factor}",
            ),
            path=("model", "rope_scaling", "high_freq_factor"),
            reason=said(
                "no wave would lie between the two limits: mindformers divides by their difference while it builds the network",
                "两个界限之间没有波长：mindformers 构建网络时会除以两者之差",
            ),
            fix=said("use 1.0 and 4.0, as Llama 3.1 does", "使用 1.0 与 4.0，如 Llama 3.1"),
        )


@RULES.needing("model", "device")
def published_type_is_used(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    """Only where the device computes the published type: elsewhere there is nothing to choose."""
    if spec.model.from_hf is None or spec.device.target != "ascend":
        return
    published, compute = published_dtype(tree.root, spec.model.from_hf), spec.model.dtype.compute
    if published is not None and published != compute:
        yield Diagnostic(
            "MS0320",
            said(f"{compute}, but config.json says {published}", f"此处为 {compute}，而 config.json 为 {published}"),
            path=("model", "dtype", "compute"),
            reason=said(
                "memory, speed and range differ from what the model was published with",
                "显存、速度与数值范围都与发布时不同",
            ),
            fix=said(
                f"set model.dtype.compute to {published}, if nothing else is meant",
                f"若无特别用意，把 model.dtype.compute 设为 {published}",
            ),
            severity="warning",
        )


def _own_head_dim(model: Model) -> bool:
    known = FAMILIES.get(model.family)
    return model.head_dim is not None and known is not None and known.own_head_dim


def _even_width(model: Model, rule: Said) -> Said:
    step = 2 * model.num_heads
    near = max(step, round(model.hidden_size / step) * step)
    return said(f"{rule}, for example {near}", f"{rule.zh}，例如 {near}")
