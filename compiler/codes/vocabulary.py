"""Vocabulary and rows."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0331": Code(
        said("tokenizer is not trained here", "不训练该分词器"),
        said(
            """\
The tokenizer stage trains SentencePiece models on the corpus of the experiment. Other kinds are not trained; they are taken from \
a file, as are SentencePiece models that exist already:

  tokenizer:
    kind: hf                       # or tiktoken, or sentencepiece
    path: data/tokenizers/tokenizer.json
    vocab_size: 50259""",
            """\
分词器阶段用实验的语料训练 SentencePiece 模型。其他类型不训练，而是取自文件；已有的 SentencePiece 模型也可以这样给定：

  tokenizer:
    kind: hf                       # 或 tiktoken、sentencepiece
    path: data/tokenizers/tokenizer.json
    vocab_size: 50259""",
        ),
        plannable=True,
    ),
    "MS0451": Code(
        said("tokenizer file does not exist", "分词器文件不存在"),
        said(
            """\
tokenizer.path names the file of a given tokenizer, relative to the project root. It is a dependency of the tokenizer stage: \
another content is another experiment.""",
            """\
tokenizer.path 指明给定分词器的文件，相对于项目根目录。它是分词器阶段的依赖：内容不同即为不同的实验。""",
        ),
    ),
    "MS0452": Code(
        said("not a tokenizer file", "不是分词器文件"),
        said(
            """\
The file of tokenizer.path is read when a spec is checked: a SentencePiece .model, a Hugging Face tokenizer.json, or a .tiktoken list \
of base64 pieces and ranks, by tokenizer.kind. This one is something else, or is damaged, or its library does not read it: a model or \
normalizer of a type that the installed release does not know, for example.""",
            """\
检查规格时会读取 tokenizer.path 的文件：按 tokenizer.kind，应为 SentencePiece 的 .model、Hugging Face 的 \
tokenizer.json，或由 base64 词元与序号组成的 .tiktoken 列表。该文件不是其中之一，或已损坏，\
或相应的库无法读取，例如其中的模型或归一化类型是所装版本不认识的。""",
        ),
    ),
    "MS0453": Code(
        said("vocabulary of another size", "词表大小不符"),
        said(
            """\
tokenizer.vocab_size must be the number of ids of a given tokenizer: its largest id and one more, with all special pieces, those of \
special_tokens.ids included. It decides how many rows the embedding table has; model.vocab_size may be larger, to round it up.""",
            """\
tokenizer.vocab_size 必须等于给定分词器的编号数：最大编号加一，包含全部特殊符号（也包含 special_tokens.ids 中的）。\
它决定词嵌入表的行数；如需取整，可把 model.vocab_size 设得更大。""",
        ),
    ),
    "MS0454": Code(
        said("special piece is not in the tokenizer", "分词器中没有该特殊符号"),
        said(
            """\
pad, bos, eos and the markers of the chat template must be special pieces of a given tokenizer. Ordinary pieces will not do: any \
text could write them.

Many published tokenizers have no pad or no begin piece. Take another special piece that they never use, or add new ones with \
numbers of their own, which makes the vocabulary larger:

  vocab_size: 50259
  special_tokens: {pad: <pad>, bos: <s>, eos: <|endoftext|>, ids: {<pad>: 50257, <s>: 50258}}""",
            """\
pad、bos、eos 与对话模板的标记必须是给定分词器的特殊符号。普通词元不行：任何文本都可能写出它们。

许多公开的分词器没有填充符或起始符。可以改用其中从不使用的其他特殊符号，或添加新符号并编号（词表随之变大）：

  vocab_size: 50259
  special_tokens: {pad: <pad>, bos: <s>, eos: <|endoftext|>, ids: {<pad>: 50257, <s>: 50258}}""",
        ),
    ),
    "MS0455": Code(
        said("number of a special piece is taken", "特殊符号的编号已被占用"),
        said(
            """\
special_tokens.ids gives numbers to special pieces that the file of a tokenizer does not hold. A number that is an ordinary piece's, \
or another special piece's, would give one id two meanings; and a piece that the file holds keeps the number it has there.

A .tiktoken file holds no special pieces: those without a number here are counted on behind its last rank, in the order pad, bos, \
eos, user. Write the published numbers where weights or data of others were made with them.""",
            """\
special_tokens.ids 为分词器文件中没有的特殊符号编号。若编号属于普通词元或另一个特殊符号，\
一个编号就有了两种含义；文件中已有的符号沿用原编号。

.tiktoken 文件不含特殊符号：未在此编号的符号按 pad、bos、eos、user 的顺序接在最后一个序号之后。\
若要与他人的权重或数据一致，请写公开的编号。""",
        ),
    ),
    "MS0456": Code(
        said("setting of another kind of tokenizer", "其他类型分词器的设置"),
        said(
            """\
tokenizer.pattern says how tiktoken splits text before pieces are merged. A .tiktoken file does not hold it, so it must be written: \
gpt2, cl100k (GPT-4), o200k (GPT-4o), qwen (Qwen to Qwen 2.5), or a regular expression. Other kinds have theirs in the file.

tokenizer.special_tokens.ids numbers special pieces of a given tokenizer. Those of a trained one have fixed numbers.""",
            """\
tokenizer.pattern 指明 tiktoken 在合并词元之前如何切分文本。.tiktoken 文件不含该信息，因此必须写明：gpt2、cl100k（GPT-4）、\
o200k（GPT-4o）、qwen（Qwen 至 Qwen 2.5），或正则表达式。其他类型的文件中已包含。

tokenizer.special_tokens.ids 为给定分词器的特殊符号编号；训练所得分词器的编号是固定的。""",
        ),
    ),
    "MS0457": Code(
        said("training setting of a given tokenizer", "给定分词器的训练设置"),
        said(
            """\
tokenizer.path takes a tokenizer over as it is. model_type, character_coverage, byte_fallback, user_defined and training_bytes are \
settings of training, and change nothing then.""",
            """\
tokenizer.path 表示原样沿用已有的分词器。model_type、character_coverage、byte_fallback、user_defined 与 training_bytes \
是训练的设置，此时不起作用。""",
        ),
    ),
    "MS0458": Code(
        said("whole documents and a dropped tail", "整篇文档与舍弃尾部"),
        said(
            """\
pack.documents: whole never cuts a document that a row can hold, so rows are not full: what is left of a row is padding, which no \
loss counts. Nothing is dropped, the last row included; pack.tail: pad says so.""",
            """\
pack.documents: whole 不切断一行容得下的文档，因此行不会填满：空余部分用填充符补满且不计入损失。包括最后一行在内，不舍弃任何内容；\
pack.tail: pad 即表明这一点。""",
        ),
    ),
    "MS0459": Code(
        said("pattern that tiktoken cannot read", "tiktoken 无法读取的模式"),
        said(
            """\
tokenizer.pattern says how tiktoken splits a text before pieces are merged: gpt2, cl100k, o200k or qwen, or a regular expression of \
its own. The expression is compiled when a spec is checked, by tiktoken itself, whose grammar is that of Rust's fancy-regex.

  pattern: '\\p{L}+|\\p{N}|\\s+|.'      classes of Unicode, in single quotes, in which YAML leaves a backslash alone""",
            """\
tokenizer.pattern 指明 tiktoken 在合并词元之前如何切分文本：gpt2、cl100k、o200k、qwen，或自己写的正则表达式。检查规格时由 tiktoken \
本身编译该表达式，其语法为 Rust 的 fancy-regex。

  pattern: '\\p{L}+|\\p{N}|\\s+|.'      使用 Unicode 类别；放在单引号中，YAML 不会改动反斜杠""",
        ),
    ),
}
