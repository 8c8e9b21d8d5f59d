"""Mixing."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0326": Code(
        said("regular expression is malformed", "正则表达式有误"),
        said(
            """\
An expression of data.pretrain.filter.deny or allow does not compile in Python's `re`. The filter stage would stop at its first \
document, after ingestion, cleaning and deduplication.

  deny: ["(ad"]             missing ), unterminated subpattern
  deny: ["\\\\(ad"]           the two characters (a, then d

In YAML single quotes keep a backslash as it is; in double quotes it is doubled.""",
            """\
data.pretrain.filter.deny 或 allow 中的表达式不能被 Python 的 `re` 编译。过滤阶段会在第一篇文档上停止，而在此之前摄取、清洗和\
去重都已运行。

  deny: ["(ad"]             缺少右括号
  deny: ["\\\\(ad"]           匹配普通字符 (ad

YAML 的单引号会原样保留反斜杠，双引号中则要写两个。""",
        ),
    ),
    "MS0332": Code(
        said("too much synthetic text", "合成文本过多"),
        said(
            """\
The weights of sources that are marked `synthetic: true` add up to more than data.pretrain.mix.synthetic_max allows.

A model that is trained mostly on the output of models loses variety from one generation to the next: rare words and ways of \
writing go first.

Lower the weights of those sources, or raise the limit knowingly.""",
            """\
标为 `synthetic: true` 的来源，其权重之和超过了 data.pretrain.mix.synthetic_max 的上限。

主要用模型产出的文本训练，模型会一代一代地丧失多样性：最先消失的是少见的词语和写法。

请降低这些来源的权重，或在清楚后果的前提下提高上限。""",
        ),
    ),
    "MS0333": Code(
        said("source that the filter drops", "来源会被过滤器全部丢弃"),
        said(
            """\
A source declares a language that data.pretrain.filter.languages does not keep. All of its documents would be read, cleaned, \
deduplicated, and then dropped.

  sources: {tales: {..., language: de}}
  filter: {languages: [en, zh]}

Add the language to the filter, or remove the source.""",
            """\
来源声明的语言不在 data.pretrain.filter.languages 之中。它的文档会被读取、清洗、去重，然后全部丢弃。

  sources: {tales: {..., language: de}}
  filter: {languages: [en, zh]}

请把该语言加入过滤器，或删除该来源。""",
        ),
    ),
}
