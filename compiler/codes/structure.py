"""The structure that the schema describes."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0201": Code(
        said("unknown key", "未知的键"),
        said(
            """\
A key that no field of the spec has: misspelt, written with a hyphen, named as another tool names it, or standing at the wrong \
level.

A key that nothing reads would leave the default in force, and the loss curve would be the first sign of it, hours later.

  pretrain:
    warmup-steps: 10
  error MS0201: pretrain.warmup-steps: unknown key
    fix: did you mean pretrain.schedule.warmup_steps?

The suggestion is a whole path, since many keys exist but one level up or down. docs/fields.md lists all of them.""",
            """\
规格中没有这个字段：可能拼错、写成了连字符、用了其他工具的名称，或写错了层级。

没有任何程序读取的键会让默认值继续生效，直到数小时后才能从损失曲线上看出来。

  pretrain:
    warmup-steps: 10
  错误 MS0201: pretrain.warmup-steps: 未知的键
    修复: 是否想写 pretrain.schedule.warmup_steps？

建议给出的是完整路径，因为很多键其实存在，只是高了或低了一层。全部字段见 docs/fields.md。""",
        ),
    ),
    "MS0202": Code(
        said("key is missing", "缺少键"),
        said(
            """\
A field without a default is not given, neither by the experiment nor by a group that it is built from.

What has no sensible default must be decided by a person: how many steps, which data, which vocabulary size. The fix tells what \
the field is.

  error MS0202: pretrain.steps: must be given
    fix: add `steps:` (Updates of the weights)

Often a whole group was taken away (`~model`, `override /model: null`): then choose another option of it.""",
            """\
没有默认值的字段未给出，实验及其所用的配置组中都没有。

没有合理默认值的内容必须由人来决定：训练多少步、用哪些数据、词表多大。修复建议会说明该字段的含义。

  错误 MS0202: pretrain.steps: 必须给出
    修复: 请加上 `steps:`（参数更新步数）

常见原因是整个配置组被去掉了（`~model`、`override /model: null`），此时请选用它的另一个选项。""",
        ),
    ),
    "MS0203": Code(
        said("wrong type", "类型错误"),
        said(
            """\
A value is of another type than its field: a mapping where a number belongs, a text where a list does. Nothing is converted \
silently, since a conversion that guesses wrong shows only in the result.

  finetune.lora.targets: q_proj          ->      [q_proj]
  export: true                           ->      export: {format: mindir}

A list of one item keeps its brackets, and a mapping its braces or its indentation.""",
            """\
值的类型与字段不符：该写数值的地方写了映射，该写列表的地方写了文本。不做任何隐式转换，因为猜错的转换只会在结果中暴露。

  finetune.lora.targets: q_proj          ->      [q_proj]
  export: true                           ->      export: {format: mindir}

只有一项的列表也要写方括号，映射要写花括号或缩进。""",
        ),
    ),
    "MS0204": Code(
        said("value is not one of the allowed", "取值不在允许范围内"),
        said(
            """\
The field takes one of a few words, and this is none of them. The message lists them and says which one is near.

  model.family: lama
  error MS0204: model.family: "lama" is not allowed
    fix: did you mean llama? allowed: llama, ...

Words are written as they stand, in lower case. Some values that other tools accept are missing because a stage would ignore \
them.""",
            """\
该字段只接受几个固定的词，所写的不在其中。消息会列出可用的词，并指出最接近的一个。

  model.family: lama
  错误 MS0204: model.family: 不允许的取值 "lama"
    修复: 是否想写 llama？可取：llama、...

请按原样小写书写。其他工具接受的某些值在这里没有，是因为各阶段会忽略它们。""",
        ),
    ),
    "MS0205": Code(
        said("value out of range", "值超出范围"),
        said(
            """\
A number is too large or too small, a list too long or too short, a text empty, or a number is not finite.

The limits are those of what computes with the value: MindSpore counts steps and sizes in 32 bits, a decay rate of 1 never \
forgets, NaN passes every comparison and ends in weights that are NaN.

  pretrain.steps: 0                      at least 1
  pretrain.optimizer.betas: [0.9]        two values""",
            """\
数值过大或过小、列表过长或过短、文本为空，或数值不是有限的。

这些界限来自使用该值的程序：MindSpore 用 32 位整数计步数与大小，衰减率为 1 则永不遗忘，NaN 能通过任何比较，最后使权重变成 NaN。

  pretrain.steps: 0                      至少为 1
  pretrain.optimizer.betas: [0.9]        需要两个值""",
        ),
    ),
    "MS0206": Code(
        said("malformed value", "格式错误的值"),
        said(
            """\
A text has a form that its field does not take: a size without a unit that is known, a name with capital letters, a language \
that is no language tag, a path or marker with a line end in it.

  budget_bytes: 8 megabytes      ->      8MB (8,000,000 bytes) or 8MiB (8,388,608 bytes)
  languages: [English]           ->      [en]

Such values become parts of file names, keys and patterns, where the wrong form is found late or never.""",
            """\
文本的格式不符合字段要求：大小的单位无法识别、名称含有大写字母、语言不是语言标签、路径或标记中带有换行符。

  budget_bytes: 8 megabytes      ->      8MB（8,000,000 字节）或 8MiB（8,388,608 字节）
  languages: [English]           ->      [en]

这些值会成为文件名、键和模式的一部分，格式错误往往很晚才会发现，甚至不会发现。""",
        ),
    ),
    "MS0207": Code(
        said("quoted number", "带引号的数值"),
        said(
            """\
A number stands in quotes, or a reference gives a text where a number belongs. To every reader that is a text: it does not \
compare, does not compute, and some libraries fail far from the place where it was written.

  steps: "1000"                          ->      steps: 1000
  workers: ${oc.env:WORKERS}             ->      workers: "${oc.decode:${oc.env:WORKERS}}"

A variable of the environment is always a text; oc.decode reads it as a number.""",
            """\
数值写在了引号里，或引用在需要数值的地方给出了文本。对任何读取器来说它都是文本：不能比较、不能计算，有些库会在离书写处很远的\
地方失败。

  steps: "1000"                          ->      steps: 1000
  workers: ${oc.env:WORKERS}             ->      workers: "${oc.decode:${oc.env:WORKERS}}"

环境变量总是文本；oc.decode 会把它按数值读取。""",
        ),
    ),
    "MS0208": Code(
        said("text without quotes", "文本缺少引号"),
        said(
            """\
The field takes a text, and what stands there without quotes is read as a number or a boolean. Its characters are lost: a commit \
12e5 becomes 1200000.0, and a title true becomes a boolean.

  compare: {baseline: 12e5}      ->      compare: {baseline: "12e5"}
  title: 2024                    ->      title: "2024"

On the command line the quotes are Hydra's, inside those of the shell: 'title="2024"'.""",
            """\
该字段应为文本，而不带引号的内容被读成了数值或布尔值，原来的字符就丢失了：提交号 12e5 变成 1200000.0，标题 true 变成布尔值。

  compare: {baseline: 12e5}      ->      compare: {baseline: "12e5"}
  title: 2024                    ->      title: "2024"

在命令行上，引号属于 Hydra，要写在 shell 的引号之内：'title="2024"'。""",
        ),
    ),
}
