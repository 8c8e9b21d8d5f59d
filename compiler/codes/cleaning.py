"""Cleaning."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0411": Code(
        said("unknown quality rule", "未知的质量规则"),
        said(
            """\
data.pretrain.clean.limits names a rule that the rules of its language do not have. A limit replaces the one that the set has for \
a rule, and null switches the rule off.

  rules: {en: gopher}
  limits: {en: {too_few_words: 30, symbols_per_word: null}}

The message lists the rules of the set, or the one that was probably meant.""",
            """\
data.pretrain.clean.limits 中的规则不在该语言所用的规则集里。限值用于替换规则集中的默认限值，null 表示关闭该规则。

  rules: {en: gopher}
  limits: {en: {too_few_words: 30, symbols_per_word: null}}

错误信息会列出规则集中的全部规则，或最可能想写的那一条。""",
        ),
    ),
    "MS0412": Code(
        said("limits without rules", "有限值而没有规则"),
        said(
            """\
data.pretrain.clean.limits has an entry for a language, or for `code`, that data.pretrain.clean.rules has none for, or `none`. \
There is no rule whose limit it could replace.""",
            """\
data.pretrain.clean.limits 为某种语言（或 code）写了限值，但 data.pretrain.clean.rules 中没有该语言的规则，或写的是 \
none，因此没有规则可以使用它。""",
        ),
    ),
    "MS0413": Code(
        said("rules for other languages", "规则不适用于该语言"),
        said(
            """\
The rules gopher, c4 and gopher_c4 count words that stand between blanks. Chinese and Japanese have none: one document is one word, and \
nearly everything would be dropped. chinese_basic and chinese_web want Han characters.

  rules: {en: gopher, zh: chinese_basic}

It is a warning. A rule that drops over 90 % of the documents of a language stops the run.""",
            """\
gopher、c4 和 gopher_c4 统计由空格分开的词。中文和日文没有这样的空格：整篇文档会被当作一个词，几乎全部被丢弃。chinese_basic 和 \
chinese_web 要求文本含有汉字。

  rules: {en: gopher, zh: chinese_basic}

这是一条警告。若某条规则丢弃了一种语言 90 % 以上的文档，运行会停止。""",
        ),
    ),
    "MS0414": Code(
        said("unknown kind of personal data", "未知的个人信息类别"),
        said(
            """\
data.pretrain.clean.pii.placeholders gives a text for a kind of personal data that is not looked for. The kinds are email, phone, id, \
card and ip_address.

  pii: {placeholders: {email: "[email]"}}""",
            """\
data.pretrain.clean.pii.placeholders 为一个并不识别的类别指定了替换文本。类别有 email、phone、id、card 和 ip_address。

  pii: {placeholders: {email: "[email]"}}""",
        ),
    ),
    "MS0415": Code(
        said("the sieve's reference is missing", "筛选的参考文本不存在"),
        said(
            """\
data.pretrain.clean.perplexity.reference names clean text from which a language model is trained: a file, or a folder of UTF-8 text, \
pages or JSON lines. Documents that the model finds strange are dropped.

The path is relative to the project root.""",
            """\
data.pretrain.clean.perplexity.reference 指定用来训练语言模型的干净文本：一个文件，或存放 UTF-8 文本、网页或 JSON 行的文件夹。模型认为\
异常的文档会被丢弃。

路径相对于项目根目录。""",
        ),
    ),
    "MS0416": Code(
        said("a sieve that drops nothing", "筛选不会丢弃任何文档"),
        said(
            """\
data.pretrain.clean.perplexity has neither a percentile nor a limit. A percentile drops what lies above a share of the perplexities of \
its language; a limit drops what lies above one perplexity in all languages. With both, the lower one decides.""",
            """\
data.pretrain.clean.perplexity 既没有 percentile，也没有 limit。percentile 丢弃高于本语言困惑度某一分位数的文档，limit 丢弃高于某一\
困惑度的文档，与语言无关。两者都给出时，以较低者为准。""",
        ),
    ),
    "MS0417": Code(
        said("KenLM is not installed", "没有安装 KenLM"),
        said(
            """\
data.pretrain.clean.perplexity trains and asks a language model of KenLM. It is optional, since the package index has only its source: \
one command builds it into .venv in about a minute.

  make kenlm

It names what the system lacks for that: a C++ compiler, cmake and boost.""",
            """\
data.pretrain.clean.perplexity 用 KenLM 训练并查询语言模型。软件包索引中只有它的源码，因此它是可选的：一条命令即可编译到 .venv 中，\
约需一分钟。

  make kenlm

若系统缺少 C++ 编译器、cmake 或 boost，该命令会指出。""",
        ),
        plannable=True,
    ),
    "MS0418": Code(
        said("limit that the rule cannot have", "规则不能有的限值"),
        said(
            """\
A limit in data.pretrain.clean.limits is none that its rule can have: every text would be beyond it, or none, or two limits of one \
measure leave no text between them.

  limits:
    en: {too_few_words: 30, bullet_lines: 0.9}   words are counted; lines that are bullets are a share of all lines, 0 to 1
    zh: {short_lines: 67}                        67 % is 0.67
    de: {short_words: 4, long_words: 3}          no mean is both

What is counted (words, characters, sentences, finds) has a whole number, a share lies between 0 and 1, a mean length may have a \
fraction. null switches a rule off.""",
            """\
data.pretrain.clean.limits 中的限值不是其规则可有的：任何文本都会超出它，或没有文本会超出它，或同一度量的两个限值之间不剩任何文本。

  limits:
    en: {too_few_words: 30, bullet_lines: 0.9}   词按个数计；项目符号行是占全部行的比例，0 到 1
    zh: {short_lines: 67}                        67 % 应写 0.67
    de: {short_words: 4, long_words: 3}          没有平均值能同时满足

计数（词、字符、句子、出现次数）取整数，比例在 0 与 1 之间，平均长度可以带小数。null 表示关闭规则。""",
        ),
    ),
}
