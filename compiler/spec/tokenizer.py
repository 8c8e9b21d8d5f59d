"""From text to ids, and from ids to rows."""

from typing import Annotated, Literal

from pydantic import Field

from compiler.spec.declare import Integer, Items, Section, Text, identity, section


class SpecialTokens(Section):
    """Pieces with a meaning of their own; text of the corpus can never produce them."""

    pad: Text = identity("Fills a short row.", "填充符。", default="<pad>")
    bos: Text = identity("Begins a document.", "起始符。", default="<s>")
    eos: Text = identity("Ends a document and an answer.", "结束符。", default="</s>")
    user: Items[Text] = identity("Markers of the chat template.", "对话模板的标记。", default=())


class Tokenizer(Section):
    """How text is cut into pieces."""

    kind: Literal["sentencepiece", "hf", "tiktoken"] = identity("Library.", "分词器种类。", default="sentencepiece")
    model_type: Literal["bpe", "unigram"] = identity("Algorithm.", "算法。", default="bpe")
    vocab_size: Integer = identity("Pieces, special ones included.", "词表大小（含特殊符号）。", unit="pieces", ge=1)
    character_coverage: Annotated[float, Field(ge=0.98, le=1)] = identity(
        "Share of characters that get a piece of their own; SentencePiece takes 0.98 to 1.",
        "字符覆盖率；SentencePiece 只接受 0.98 到 1。",
        default=0.9995,
    )
    byte_fallback: bool = identity("Whether other characters become bytes.", "未覆盖字符是否按字节编码。", default=True)
    special_tokens: SpecialTokens = section("Special pieces.", "特殊符号。", default=SpecialTokens())


class Pack(Section):
    """Rows of one length in MindRecord files."""

    shards: Integer = identity("MindRecord files of one split.", "每个划分的 MindRecord 文件数。", ge=1, default=1)
    documents: Literal["separated"] = identity(
        "Documents of one row: each ends with the end token.", "同一行中的文档：以结束符分隔。", default="separated"
    )
    tail: Literal["drop"] = identity("Tokens that do not fill a row.", "不足一行的剩余部分。", default="drop")
    dialogues: Literal["one", "several"] = identity(
        "Dialogues of instruction data in one row of training; several fill it better, and see each other.",
        "训练集一行中的对话数：several 填充更满，但对话彼此可见。",
        default="one",
    )
