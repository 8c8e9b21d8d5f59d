"""From text to ids, and from ids to rows."""

from typing import Annotated, Literal

from pydantic import Field

from compiler.spec.declare import Bytes, Index, Integer, Items, Limited, Named, Section, Text, identity, section


class SpecialTokens(Section):
    """Pieces with a meaning of their own; text of the corpus can never produce them."""

    pad: Text = identity("Fills a short row.", "填充符。", default="<pad>")
    bos: Text = identity("Begins a document.", "起始符。", default="<s>")
    eos: Text = identity("Ends a document and an answer.", "结束符。", default="</s>")
    user: Items[Text] = identity("Markers of the chat template.", "对话模板的标记。", default=())
    ids: Named[Index] = identity(
        "Ids of special pieces that a given tokenizer's file does not hold.", "给定分词器的文件中没有的特殊符号及其编号。", default={}
    )


class Tokenizer(Section):
    """How text is cut into pieces."""

    kind: Literal["sentencepiece", "hf", "tiktoken"] = identity(
        "Library: SentencePiece, trained or given; a tokenizer.json of Hugging Face, or a .tiktoken file, given.",
        "分词器种类：SentencePiece（训练或给定）；Hugging Face 的 tokenizer.json 或 .tiktoken 文件（给定）。",
        default="sentencepiece",
    )
    path: Text | None = identity(
        "File of a given tokenizer, relative to the project root; without it one is trained.",
        "给定分词器的文件，相对于项目根目录；不写则训练。",
        default=None,
    )
    pattern: Text | None = identity(
        "How tiktoken splits text: gpt2, cl100k, o200k, qwen, or a regular expression; its files do not say.",
        "tiktoken 切分文本的方式：gpt2、cl100k、o200k、qwen，或正则表达式；其文件中没有写明。",
        default=None,
    )
    model_type: Literal["bpe", "unigram"] = identity("Algorithm.", "算法。", default="bpe")
    vocab_size: Integer = identity("Pieces, special ones included.", "词表大小（含特殊符号）。", unit="pieces", ge=1)
    character_coverage: Annotated[float, Field(ge=0.98, le=1)] = identity(
        "Share of characters that get a piece of their own; SentencePiece takes 0.98 to 1.",
        "字符覆盖率；SentencePiece 只接受 0.98 到 1。",
        default=0.9995,
    )
    byte_fallback: bool = identity("Whether other characters become bytes.", "未覆盖字符是否按字节编码。", default=True)
    user_defined: Items[Text] = identity("Texts that are always one piece.", "始终作为一个词元的文本。", default=())
    training_bytes: Bytes = identity(
        "Text to train on, at most; a larger corpus is sampled by document. Memory is some ten times as much.",
        "训练文本的上限；语料更大时按文档抽样。所需内存约为其十倍。",
        unit="bytes",
        default=100_000_000,
    )
    special_tokens: SpecialTokens = section("Special pieces.", "特殊符号。", default=SpecialTokens())


class Pack(Section):
    """Rows of one length in MindRecord files."""

    shards: Limited = identity("MindRecord files of one split.", "每个划分的 MindRecord 文件数。", ge=1, le=1000, default=1)
    documents: Literal["separated", "whole"] = identity(
        "Documents of one row: separated: joined, each with its end token, and cut where a row ends; whole: none is cut that a row holds.",
        "同一行中的文档：separated 首尾相接、以结束符分隔，在行末切断；whole 不切断一行容得下的文档。",
        default="separated",
    )
    tail: Literal["drop", "pad"] = identity(
        "Tokens that do not fill a row: left out and counted, or filled up with padding.",
        "不足一行的剩余部分：舍弃并计数，或用填充符补满。",
        default="drop",
    )
    dialogues: Literal["one", "several"] = identity(
        "Dialogues of instruction data in one row of training; several fill it better, and see each other.",
        "训练集一行中的对话数：several 填充更满，但对话彼此可见。",
        default="one",
    )
