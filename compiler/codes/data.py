"""Data and tokenizer."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0321": Code(
        said("no source", "没有数据来源"),
        said(
            """\
data.pretrain.sources or data.instruct.sources is empty. The stages of data would run and hand on nothing, and training would \
stop at its first row.

  data:
    pretrain:
      sources:
        handbook: {path: data/raw/handbook, format: text}

Sources are a mapping with names, so that several files of a spec can add to it.""",
            """\
data.pretrain.sources 或 data.instruct.sources 为空。数据阶段会照常运行却没有任何产出，训练则在第一行就停止。

  data:
    pretrain:
      sources:
        handbook: {path: data/raw/handbook, format: text}

来源是带名称的映射，因此规格的多个文件可以共同补充。""",
        ),
    ),
    "MS0322": Code(
        said("source path does not exist", "来源路径不存在"),
        said(
            """\
The path of a source names nothing. Paths are relative to the root of the project, wherever the command was started.

  path: raw/handbok
    fix: did you mean data/raw/handbook?

Data that DVC tracks must be fetched first: `dvc pull`. Data that lies elsewhere can be linked to from below data/.""",
            """\
来源的路径不存在。路径总是相对于项目根目录，与命令从哪里启动无关。

  path: raw/handbok
    修复: 是否想写 data/raw/handbook？

由 DVC 管理的数据要先取回：`dvc pull`。位于别处的数据可以在 data/ 下建立链接。""",
        ),
    ),
    "MS0323": Code(
        said("weights are all zero", "权重全为零"),
        said(
            """\
Every source has the weight 0, so none would be drawn into the mix, and there would be no text.

A source with weight 0 is a way to leave it out for a while; at least one must have a positive weight. Weights are relative: \
1 and 3 are a quarter and three quarters.""",
            """\
所有来源的权重都是 0，混合时一个也不会被抽取，结果没有任何文本。

把权重设为 0 是暂时排除某个来源的办法，但至少要有一个来源的权重为正。权重是相对的：1 和 3 表示四分之一和四分之三。""",
        ),
    ),
    "MS0324": Code(
        said("rows without a text field", "按行存储的数据缺少正文字段"),
        said(
            """\
A source of rows (jsonl, json, csv, parquet) does not say which field of a row is the text, or a source of plain text names \
a field that it does not have.

  poems: {path: data/raw/poems.jsonl, format: jsonl}                       MS0324
  poems: {path: data/raw/poems.jsonl, format: jsonl, text_field: text}

Guessing the field would train on titles or addresses as soon as a file names its fields otherwise.""",
            """\
按行存储的来源（jsonl、json、csv、parquet）没有指定哪个字段是正文，或者纯文本来源写了它没有的字段。

  poems: {path: data/raw/poems.jsonl, format: jsonl}                       MS0324
  poems: {path: data/raw/poems.jsonl, format: jsonl, text_field: text}

若去猜测字段，一旦文件的字段名不同，就会拿标题或网址来训练。""",
        ),
    ),
    "MS0327": Code(
        said("vocabulary is too small", "词表过小"),
        said(
            """\
tokenizer.vocab_size counts all pieces: the special ones, the unknown piece, the 256 bytes of byte fallback, and what is learned \
from text. Here nothing would be left for text.

SentencePiece would refuse to train, after all data stages. A little above the reserved number it would train a vocabulary of \
single letters and rows several times as long.

A few thousand pieces suit a tiny model of one or two languages; 32,000 and more are usual.""",
            """\
tokenizer.vocab_size 计算全部词元：特殊词元、未知词元、字节回退的 256 个字节，以及从文本学到的词元。此处没有留给文本的余地。

SentencePiece 会拒绝训练，而那时所有数据阶段都已运行。若只比保留数略大，词表几乎都是单个字符，每行会长出数倍。

一两种语言的小模型用几千个词元即可；通常为 32,000 个以上。""",
        ),
    ),
    "MS0328": Code(
        said("special token written twice", "特殊词元重复"),
        said(
            """\
Two special tokens have the same text, or one has that of the unknown piece. One id would have two meanings.

The classic case is an end token that is also the padding: padding is left out of the loss, so the model never learns to stop.

  special_tokens: {pad: <|end|>, eos: <|end|>}      MS0328
  special_tokens: {pad: <|pad|>, eos: <|end|>}""",
            """\
两个特殊词元的文本相同，或与未知词元相同，一个编号就有了两种含义。

典型情形是结束词元兼作填充：填充不计入损失，模型就永远学不会停止。

  special_tokens: {pad: <|end|>, eos: <|end|>}      MS0328
  special_tokens: {pad: <|pad|>, eos: <|end|>}""",
        ),
    ),
    "MS0329": Code(
        said("template does not exist", "对话模板不存在"),
        said(
            """\
data.instruct.template or the template of an evaluation names no file of specs/template/. Rows of instructions could not be \
formatted, which would show only after pre-training.

Use one that is there, such as chatml, or add specs/template/NAME.yaml.""",
            """\
data.instruct.template 或评测所用的模板在 specs/template/ 中没有对应的文件。指令样本将无法格式化，而这要到预训练之后才会暴露。

请使用已有的模板（如 chatml），或新增 specs/template/NAME.yaml。""",
        ),
    ),
    "MS0330": Code(
        said("value written twice", "值重复"),
        said(
            """\
A list holds the same value twice, two names of one layer stand in finetune.lora.targets, or two sources read the same files.

A repeated value changes nothing but the key of its stage, so that a result is not found in the cache. Two sources of the same \
files are worse: deduplication leaves one of them empty, and its weight means nothing.

Remove one of the two.""",
            """\
列表中同一个值出现了两次，finetune.lora.targets 中同一层写了两个名称，或两个来源读取同样的文件。

重复的值除了改变阶段的键、使缓存无法命中之外没有任何作用。两个来源读取同样的文件更糟：去重会让其中一个变空，它的权重也失去意义。

请删除其中一个。""",
        ),
    ),
}
