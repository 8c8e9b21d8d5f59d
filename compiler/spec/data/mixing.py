"""What is chosen: languages, topics, sources by weight, held-out documents."""

from typing import Annotated, Literal

from pydantic import Field

from compiler.spec.data.sources import Language
from compiler.spec.declare import Bytes, Integer, Items, Limited, Named, Section, Some, Text, identity, section

Share = Annotated[float, Field(gt=0, lt=1)]
Ratio = Annotated[float, Field(gt=0)]
BytesPerToken = Annotated[float, Field(ge=0.5, le=100)]  # a token of most vocabularies is 1 to 6 bytes
Temperature = Annotated[float, Field(ge=0.1)]  # beyond size^10 the largest source is all of the mix, and sizes no floating-point numbers
MOST_TOKENS = 2**63 - 1


class Topic(Section):
    """A subject, by the words that tell of it."""

    any: Items[Text] = identity(
        "Keywords, in any case; whole words in scripts with blanks, parts of text in those without, such as Chinese.",
        "关键词，不分大小写；有空格的文字按整词匹配，中文等无空格的文字按子串匹配。",
        default=(),
    )
    patterns: Items[Text] = identity(
        "Regular expressions; each match is a hit like that of a keyword.", "正则表达式；每处匹配与关键词一样算一次命中。", default=()
    )
    none: Items[Text] = identity(
        "Keywords; a document with one of them is not on the topic.", "关键词；含有其中之一的文档不属于该主题。", default=()
    )
    min_hits: Integer = identity("Hits from which a document is on the topic.", "达到多少次命中才属于该主题。", ge=1, default=1)


class Classifier(Section):
    """A small classifier, trained in the stage on labelled rows."""

    rows: Text = identity(
        'File of JSON Lines with "text" and "label", relative to the project root.',
        '带有 "text" 和 "label" 的 JSON Lines 文件，相对于项目根目录。',
    )
    keep: Some[Text] = identity("Labels whose documents are kept.", "保留哪些标签的文档。")
    threshold: Share = identity(
        "Probability of one of these labels from which a document is kept.", "属于这些标签的概率达到多少才保留。", default=0.5
    )
    characters: Integer = identity(
        "How much of the beginning of a text is looked at.", "只看文本开头的多少字符。", unit="characters", ge=100, default=2000
    )


class Filter(Section):
    """Languages and topics."""

    languages: Items[Language] = identity("Languages kept; empty keeps all.", "保留的语言；空表示全部。", default=())
    deny: Items[Text] = identity("Regular expressions; a document that matches one is dropped.", "正则表达式；匹配则丢弃。", default=())
    allow: Items[Text] = identity(
        "Regular expressions; when given, a document must match one.", "正则表达式；给出时必须匹配其一。", default=()
    )
    topics: Named[Topic] = section("Topics by name; each is counted.", "主题（按名称）；每个主题都会计数。", default={})
    keep_topics: Items[Text] = identity("Topics; when given, a document must be on one.", "主题；给出时文档必须属于其一。", default=())
    drop_topics: Items[Text] = identity("Topics; a document that is on one is dropped.", "主题；属于其一的文档会被丢弃。", default=())
    classifier: Classifier | None = section("Classifier; null uses none.", "分类器；null 表示不用。", default=None)


class Amount(Section):
    """What one source gives, in the place of its weight; exactly one field."""

    epochs: Ratio | None = identity("Times the whole source.", "整个来源的倍数。", default=None)
    bytes: Bytes | None = identity("UTF-8 bytes.", "UTF-8 字节数。", unit="bytes", default=None)
    tokens: Limited | None = identity(
        "Tokens, estimated by bytes_per_token.", "词元数，按 bytes_per_token 估计。", unit="tokens", ge=1, le=MOST_TOKENS, default=None
    )


class Mix(Section):
    """Sources by weight, up to one budget: of bytes or of tokens."""

    budget_bytes: Bytes | None = identity("UTF-8 bytes of text in all.", "文本总量（UTF-8 字节）。", unit="bytes", default=None)
    budget_tokens: Limited | None = identity(
        "Tokens of text in all, estimated by bytes_per_token; shares are then of tokens.",
        "文本总量（词元），按 bytes_per_token 估计；此时比例按词元计算。",
        unit="tokens",
        ge=1,
        le=MOST_TOKENS,
        default=None,
    )
    sources: Named[Amount] = section(
        "Amounts of single sources; the others share what is left by weight.", "个别来源的用量；其余来源按权重分配剩余部分。", default={}
    )
    epochs_max: Integer = identity("How often one source may be repeated.", "单个来源最多重复次数。", ge=1, default=1)
    synthetic_max: float = identity("Largest share of synthetic text.", "合成数据的最大比例。", ge=0, le=1, default=0.75)
    exhausted: Literal["shrink", "rebalance", "refuse"] = identity(
        "What a source with too little text does: the mix gets smaller, the others give more, or the stage stops.",
        "某个来源文本不足时：缩小混合总量、由其他来源补足，或停止。",
        default="shrink",
    )
    temperature: Temperature | None = identity(
        "Weights are multiplied by size^(1/temperature) of their source; null takes them as they are.",
        "权重乘以来源大小的 1/temperature 次方；null 表示按权重原值。",
        default=None,
    )
    bytes_per_token: BytesPerToken = identity(
        "UTF-8 bytes of one token, for estimates before there is a tokenizer.",
        "一个词元的 UTF-8 字节数，供训练分词器之前估计。",
        default=4.0,
    )
    bytes_per_token_of: Named[BytesPerToken] = identity("The same, by language.", "同上，按语言给出。", default={})


class Overlap(Section):
    """What the validation set may share with the training set."""

    ngram: Limited = identity(
        "Length of a run that is looked for on both sides.", "在两侧查找的片段长度。", unit="tokens", ge=3, le=1000, default=13
    )
    limit: Annotated[float, Field(ge=0, le=1)] = identity(
        "Share of the runs of the validation set that may be in the training set.", "验证集片段中允许出现在训练集里的比例。", default=0.1
    )
    above: Literal["warn", "refuse"] = identity("What happens above the limit.", "超过上限时如何处理。", default="warn")


class DocumentSplit(Section):
    """Held-out documents."""

    validation: Share = identity("Share of documents held out.", "验证集比例。", default=0.02)
    by: Literal["document", "file"] = identity("What is never divided.", "不可拆分的单位。", default="document")
    long_bytes: Bytes | None = identity(
        "From this size a document is long; long ones are held out in their share and listed apart. null tells none apart.",
        "达到该大小的文档为长文档；长文档按比例留出并单独列出。null 表示不区分。",
        unit="bytes",
        default=None,
    )
    overlap: Overlap = section("What both sets have in common.", "两个集合的重叠。", default=Overlap())


def text_bytes(mix: Mix) -> int | None:
    """UTF-8 bytes of text that a budget comes to, estimated where it is one of tokens; None where it is not one budget."""
    if mix.budget_tokens is None:
        return mix.budget_bytes
    return None if mix.budget_bytes is not None else int(mix.budget_tokens * mix.bytes_per_token)
