"""Vocabulary."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0331": Code(
        said("tokenizer is not built", "不支持该分词器"),
        said(
            """\
This version trains SentencePiece tokenizers on the corpus of the experiment. It does not take over an existing tokenizer, and \
does not train other kinds.

The tokenizer is part of the identity of everything after it: packing, training, templates and scores by token.

Use kind: sentencepiece, with byte_fallback so that no text is lost.""",
            """\
本版本用实验的语料训练 SentencePiece 分词器，不沿用已有的分词器，也不训练其他种类。

分词器是其后一切内容的身份的一部分：打包、训练、模板以及按词元计算的得分。

请使用 kind: sentencepiece，并打开 byte_fallback，以免丢失文本。""",
        ),
        plannable=True,
    ),
}
