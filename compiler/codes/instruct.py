"""Instruction data."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0441": Code(
        said("field or tag that the format has not", "格式中没有的字段或标签"),
        said(
            """\
`fields` of a source says how its rows name the fields of the format, and `roles` which tags of its turns mean which role:

  reviews: {path: data/raw/reviews.jsonl, format: alpaca, fields: {instruction: question, output: answer}}
  chats:   {path: data/raw/chats.jsonl, format: sharegpt, fields: {from: speaker}, roles: {用户: user, 助手: assistant}}

Left of each colon in `fields` stands a name of the format: alpaca has instruction, input, output, system, history and tools; \
messages has messages, role, content, tool_calls, weight, text (of a part), tools and system; \
sharegpt has conversations, from, value, system and tools. \
`roles` needs a format with turns, which alpaca is not.""",
            """\
来源的 `fields` 说明样本如何命名格式中的字段，`roles` 说明对话的标签对应哪个角色：

  reviews: {path: data/raw/reviews.jsonl, format: alpaca, fields: {instruction: question, output: answer}}
  chats:   {path: data/raw/chats.jsonl, format: sharegpt, fields: {from: speaker}, roles: {用户: user, 助手: assistant}}

`fields` 中冒号左边是格式的字段名：alpaca 有 instruction、input、output、system、history 和 tools；messages 有 messages、role、\
content、tool_calls、weight、text（片段的文本）、tools 和 \
system；sharegpt 有 conversations、from、value、system 和 tools。`roles` 只用于带有多轮对话的格式，\
alpaca 不是。""",
        ),
    ),
    "MS0442": Code(
        said("dialogues that share a row see each other", "同一行中的对话彼此可见"),
        said(
            """\
With pack.dialogues: several, short dialogues share a row of training, and less of it is padding. The loss never crosses from one \
dialogue to the next: the first token of each has no label. Attention does: the mindformers backends that this version compiles for \
build one causal mask for a row and take no other from the data, so a dialogue sees those before it in its row, and its positions \
count on from them. Rows of validation always hold one dialogue, so scores mean the same either way.

  pack: {dialogues: one}       every dialogue on its own, as it is asked later
  pack: {dialogues: several}   fewer rows and steps; compare both on your data

This is a warning: many models were trained in this way.""",
            """\
设置 pack.dialogues: several 时，短对话共用一行训练数据，填充更少。损失不会跨越对话：每个对话的第一个词元没有标签。但注意力会跨越：\
本版本所编译的 mindformers 后端为每行构造一个因果掩码，且不接受数据中的其他掩码，因此一个对话能看到同一行中在它之前的对话，位置编号也接着\
计数。验证集的每一行始终只有一个对话，因此两种设置下得分含义相同。

  pack: {dialogues: one}       每个对话独占一行，与之后提问时一致
  pack: {dialogues: several}   行数与步数更少；请在自己的数据上比较

这是一条警告：许多模型就是这样训练的。""",
        ),
    ),
    "MS0443": Code(
        said("no cases to keep out of the rows", "没有可用于去污染的用例"),
        said(
            """\
data.instruct.decontaminate drops rows that hold text of the core cases, and evaluation.suites.core names no cases. The setting would \
do nothing, and a report that shows it would promise what was not done.

  evaluation:
    suites:
      core: {cases: data/evaluation/core.jsonl, template: chatml}""",
            """\
data.instruct.decontaminate 会丢弃含有核心用例原文的样本，但 evaluation.suites.core 没有指定用例。该设置不会起任何作用，而展示它的报告\
会给出并未兑现的承诺。

  evaluation:
    suites:
      core: {cases: data/evaluation/core.jsonl, template: chatml}""",
        ),
    ),
    "MS0444": Code(
        said("rows with tools and a template without", "样本带有工具，而模板无法表达"),
        said(
            """\
Rows that offer tools, call them or hold their results need a chat template that says how these are written: `tools`, `calls` and a \
role `tool`. chatml, llama2 and plain have none of them; qwen and llama3 have all. That a source has such rows is read from its \
`roles` and `fields`, and from its first rows.

  data: {instruct: {template: qwen}}
  evaluation: {suites: {core: {template: qwen}}}
  tokenizer: {special_tokens: {user: [<|im_start|>, <|im_end|>, <tool_call>, </tool_call>]}}

With bad_rows: quarantine this is a warning: the other rows are used.""",
            """\
提供工具、调用工具或含有工具结果的样本，需要能表达这些内容的对话模板：`tools`、`calls` 和角色 `tool`。chatml、llama2 与 plain \
都没有；qwen 与 llama3 都有。来源是否含有这样的样本，依据其 `roles`、`fields` 以及前若干个样本判断。

  data: {instruct: {template: qwen}}
  evaluation: {suites: {core: {template: qwen}}}
  tokenizer: {special_tokens: {user: [<|im_start|>, <|im_end|>, <tool_call>, </tool_call>]}}

设置 bad_rows: quarantine 时，这只是一条警告：其他样本照常使用。""",
        ),
    ),
    "MS0445": Code(
        said("rows that may not fit a small twin", "小型试运行可能放不下的样本"),
        said(
            """\
A small twin (smoke=true) has rows of 96 tokens. The first instruction rows of each source are looked at when a spec is checked, and \
more than half of this source seem to be longer without their questions, of which the middle can be cut. Answers, calls, tools and \
system texts are never cut: such rows are dropped as answer_too_long, and a source without any row left ends the stage `format`, \
after pre-training.

  mindspec run NAME smoke=true model.seq_length=512

The length is estimated from bytes, so this is a warning.""",
            """\
小型试运行（smoke=true）每行有 96 个词元。检查规格时会查看每个来源的前若干个样本；该来源有一半以上的样本，即使不计可以截去中段的\
提问，也可能超过这一长度。回答、调用、工具与系统文本从不截断：这样的样本会以 answer_too_long 为由丢弃；若某个来源一个样本都不剩，\
预训练之后的 `format` 阶段就会终止。

  mindspec run NAME smoke=true model.seq_length=512

长度是按字节估算的，因此这只是一条警告。""",
        ),
    ),
}
