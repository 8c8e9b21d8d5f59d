"""Cleaning."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0325": Code(
        said("perplexity is not built", "不支持困惑度筛选"),
        said(
            """\
data.pretrain.clean.perplexity asks for documents to be scored by a language model. This version has none that could do so, and \
the limit would be ignored.

Write null. The quality rules of data.pretrain.clean.rules and the filters stay in force; both count what they drop, by reason.""",
            """\
data.pretrain.clean.perplexity 要求用语言模型给文档打分。本版本没有这样的模型，该上限会被忽略。

请写 null。data.pretrain.clean.rules 的质量规则和过滤器仍然有效，二者都会按原因统计丢弃的数量。""",
        ),
        plannable=True,
    ),
}
