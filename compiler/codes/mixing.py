"""Mixing."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0326": Code(
        said("regular expression is malformed", "正则表达式有误"),
        said(
            """\
An expression of data.pretrain.filter (deny, allow, or the patterns of a topic) does not compile in Python's `re`. The \
filter stage would stop before its first document, after ingestion, cleaning and deduplication.

  deny: ["(ad"]             missing ), unterminated subpattern
  deny: ["\\\\(ad"]           the two characters (a, then d

In YAML single quotes keep a backslash as it is; in double quotes it is doubled.""",
            """\
data.pretrain.filter（deny、allow 或主题的 patterns）中的表达式不能被 Python 的 `re` 编译。过滤阶段会在\
第一篇文档之前停止，而在此之前摄取、清洗和去重都已运行。

  deny: ["(ad"]             缺少右括号
  deny: ["\\\\(ad"]           匹配普通字符 (ad

YAML 的单引号会原样保留反斜杠，双引号中则要写两个。""",
        ),
    ),
    "MS0332": Code(
        said("too much synthetic text", "合成文本过多"),
        said(
            """\
The weights of sources that are marked `synthetic: true` add up to more than data.pretrain.mix.synthetic_max allows; or those of \
instruction data, where recipes count too, to more than data.instruct.synthetic_max.

A model that is trained mostly on the output of models loses variety from one generation to the next: rare words and ways of \
writing go first.

Lower the weights of those sources, or raise the limit knowingly.""",
            """\
标为 `synthetic: true` 的来源，其权重之和超过了 data.pretrain.mix.synthetic_max 的上限；或指令数据中（配方也计入）超过了 \
data.instruct.synthetic_max 的上限。

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
    "MS0431": Code(
        said("mix without one budget", "混合没有唯一的总量"),
        said(
            """\
The size of the mix is stated once: data.pretrain.mix.budget_bytes counts UTF-8 bytes, budget_tokens counts tokens as \
bytes_per_token and bytes_per_token_of estimate them. Shares and amounts are then of that unit.

  mix: {budget_bytes: 8MB}
  mix: {budget_tokens: 2000000, bytes_per_token: 4.2, bytes_per_token_of: {zh: 3.1}}

The tokenizer is trained after the mix, so tokens are estimated here; what they really are stands in metrics/pack-pretrain.json.""",
            """\
混合后的语料大小只写一次：data.pretrain.mix.budget_bytes 按 UTF-8 字节计，budget_tokens 按 bytes_per_token 和 \
bytes_per_token_of 估计的词元计。比例与各来源用量也按同一单位计算。

  mix: {budget_bytes: 8MB}
  mix: {budget_tokens: 2000000, bytes_per_token: 4.2, bytes_per_token_of: {zh: 3.1}}

分词器在混合之后才训练，因此这里的词元数是估计值；真实数目见 metrics/pack-pretrain.json。""",
        ),
    ),
    "MS0432": Code(
        said("amount of an unknown source", "未知来源的用量"),
        said(
            """\
data.pretrain.mix.sources gives the amount of a source that data.pretrain.sources does not have.

  sources: {poems: {...}}
  mix: {sources: {poem: {epochs: 2}}}     -> poems""",
            """\
data.pretrain.mix.sources 给出了 data.pretrain.sources 中没有的来源的用量。

  sources: {poems: {...}}
  mix: {sources: {poem: {epochs: 2}}}     -> poems""",
        ),
    ),
    "MS0433": Code(
        said("contradictory amounts of a mix", "混合用量自相矛盾"),
        said(
            """\
A source in data.pretrain.mix.sources gives exactly one amount in the place of its weight: epochs (times the whole source), bytes \
or tokens. It cannot have weight 0, it cannot be repeated more often than epochs_max, and all amounts together fit into the budget; \
the other sources share what is left of it by weight.

  mix: {budget_bytes: 10MB, epochs_max: 2, sources: {poems: {epochs: 2}, manual: {bytes: 3MB}}}""",
            """\
data.pretrain.mix.sources 中的来源用一个用量代替权重：epochs（整个来源的倍数）、bytes 或 tokens，只能给一个。它的权重不能为 0，\
重复次数不能超过 epochs_max，所有用量之和不能超过总量；其余来源按权重分配剩下的部分。

  mix: {budget_bytes: 10MB, epochs_max: 2, sources: {poems: {epochs: 2}, manual: {bytes: 3MB}}}""",
        ),
    ),
    "MS0434": Code(
        said("topic that cannot be used", "无法使用的主题"),
        said(
            """\
A topic of data.pretrain.filter.topics is told by keywords (any), regular expressions (patterns) and keywords that rule it out (none). \
keep_topics and drop_topics name topics that are declared there, each in one of the two lists.

  filter:
    topics:
      finance: {any: [bank, share price, 股票], none: [river bank], min_hits: 2}
    keep_topics: [finance]""",
            """\
data.pretrain.filter.topics 中的主题由关键词（any）、正则表达式（patterns）以及排除词（none）判定。keep_topics 和 drop_topics 中写的\
必须是已声明的主题，且每个主题只能出现在其中一个列表里。

  filter:
    topics:
      finance: {any: [bank, share price, 股票], none: [河岸], min_hits: 2}
    keep_topics: [finance]""",
        ),
    ),
    "MS0435": Code(
        said("one file cannot be divided", "单个文件无法划分"),
        said(
            """\
With data.pretrain.split.by: file, all documents of one raw file go to one side, so that pages of one book are not learned from and \
scored on. A corpus of a single file has nothing for the other side, and the split would stop after all text was cleaned and mixed. \
Only sources with a weight above 0 or an amount of their own count.

  split: {by: document}     the documents in the file are divided""",
            """\
设置 data.pretrain.split.by: file 时，同一原始文件的全部文档归入同一侧，避免同一本书的内容既用于学习又用于评测。语料只有一个文件时，\
另一侧将没有内容，划分阶段会在全部清洗与混合完成之后停止。只计入权重大于 0 或有自己用量的来源。

  split: {by: document}     划分文件中的文档""",
        ),
    ),
}
