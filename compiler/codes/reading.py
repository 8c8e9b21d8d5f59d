"""Reading files, and the values and references in them."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0101": Code(
        said("file is not UTF-8", "文件不是 UTF-8"),
        said(
            """\
A file of specs/ holds bytes that are no UTF-8 text. Editors on Chinese Windows often save as GBK; the message gives the first \
byte that shows it.

Guessing the encoding would turn titles, deny lists and templates into other characters on one machine and not on another, and \
they reach the results.

  iconv -f GBK -t UTF-8 demo.yaml > demo.utf8.yaml

Save the file as UTF-8. A byte order mark at its beginning is read and ignored.""",
            """\
specs/ 中的文件含有不是 UTF-8 的字节。中文 Windows 上的编辑器常以 GBK 保存；消息给出了第一个不符的字节。

若去猜测编码，标题、过滤词和模板在不同机器上会变成不同的字符，并进入结果。

  iconv -f GBK -t UTF-8 demo.yaml > demo.utf8.yaml

请将文件另存为 UTF-8。文件开头的字节顺序标记（BOM）会被忽略，不影响结果。""",
        ),
    ),
    "MS0102": Code(
        said("YAML syntax", "YAML 语法错误"),
        said(
            """\
The file is no YAML, or holds no mapping. The place is where the reader gave up; the mistake is often in the line above: a quote \
or a bracket that is never closed, a tab in the indentation, a colon in a text without quotes.

  title: Llama: a small one      ->      title: "Llama: a small one"
  {experiment: ???}              ->      {experiment: '???'}

Until the file can be read as a whole, nothing of it is used, so its other faults show only afterwards.""",
            """\
文件不是合法的 YAML，或内容不是映射。所指位置是读取器停下的地方，错误往往在上一行：引号或括号没有闭合、用制表符缩进、 \
不带引号的文本中含有冒号。

  title: Llama: a small one      ->      title: "Llama: a small one"
  {experiment: ???}              ->      {experiment: '???'}

整个文件能读取之前，其中的内容都不会采用，因此文件中的其他错误要等改好之后才会报告。""",
        ),
    ),
    "MS0103": Code(
        said("key written twice", "键重复"),
        said(
            """\
One mapping holds the same key twice. Most YAML readers keep the last one without a word, some the first.

The usual cause is a block that was copied and changed in one place only: half of the file then has no effect.

  pretrain:
    steps: 1000
    ...
    steps: 2000        <- MS0103; the first one is shown too

Keep one of the two.""",
            """\
同一个映射中出现了两个相同的键。多数 YAML 读取器会悄悄采用最后一个，有的则采用第一个。

常见原因是复制了一段内容却只改了一处，结果文件的一半没有任何作用。

  pretrain:
    steps: 1000
    ...
    steps: 2000        <- MS0103，同时给出第一处的位置

请只保留其中一个。""",
        ),
    ),
    "MS0104": Code(
        said("scalar that readers understand differently", "不同读取器解读不同的标量"),
        said(
            """\
A value without quotes that YAML 1.1, YAML 1.2 and Hydra's command line read as different things: on, no, 0123, 12:30, 1_000, nan.

PyYAML makes 83 of 0123 and 750 of 12:30; a YAML 1.2 reader makes 123 and a text. The same spec would mean two things, depending \
on the program that reads it, and on whether the value stands in a file or on the command line.

  languages: [en, no]      Norwegian, or false?      ->      [en, "no"]
  seed: 0042               34, or 42?                ->      42

Put a text in quotes; write booleans as true and false and numbers in decimal. 3e-4 needs no dot: it is the same float everywhere \
in a spec, and is written so that every reader agrees.""",
            """\
不带引号的值在 YAML 1.1、YAML 1.2 与 Hydra 命令行中有不同的含义，例如 on、no、0123、12:30、1_000、nan。

PyYAML 把 0123 读作 83、把 12:30 读作 750；YAML 1.2 读取器则读作 123 和文本。同一份规格的含义会取决于由哪个程序读取，\
以及值是写在文件里还是命令行上。

  languages: [en, no]      挪威语，还是 false？      ->      [en, "no"]
  seed: 0042               34，还是 42？             ->      42

文本请加引号；布尔值请写 true 或 false，数值请用十进制。3e-4 不需要小数点：它在规格中处处都是同一个浮点数，\
写出时也保证所有读取器一致。""",
        ),
    ),
    "MS0110": Code(
        said("value is missing", "缺少值"),
        said(
            """\
`???` marks a value that a file leaves to whoever builds on it, and nobody has given one.

  # specs/finetune/lora.yaml          # specs/experiment/demo.yaml
  lora: {rank: '???'}                 finetune: {lora: {rank: 8}}

Set it in the experiment, or for one run as an override.""",
            """\
`???` 表示该值留给以此为基础的文件来填，但没有人填写。

  # specs/finetune/lora.yaml          # specs/experiment/demo.yaml
  lora: {rank: '???'}                 finetune: {lora: {rank: 8}}

请在实验中设置；若只用于一次运行，可用覆盖项给出。""",
        ),
    ),
    "MS0111": Code(
        said("reference to nothing", "引用的内容不存在"),
        said(
            """\
${a.b} takes over the value that stands at the path a.b of the composed spec. Here nothing stands there, the reference leads in a \
circle, or it cannot be read.

  finetune:
    steps: ${pretrain.stpes}
    fix: did you mean ${pretrain.steps}?

Paths start at the top of the spec, not at the file. A default that no file mentions is no value to refer to: write it out.""",
            """\
${a.b} 取用组合后规格中路径 a.b 处的值。该处没有值、引用成环，或引用无法读取。

  finetune:
    steps: ${pretrain.stpes}
    修复: 是否想写 ${pretrain.steps}？

路径从规格的顶层算起，而不是从本文件算起。没有任何文件写过的默认值不能引用，请直接写出。""",
        ),
    ),
    "MS0112": Code(
        said("value that differs from run to run", "每次运行都不同的值"),
        said(
            """\
A reference calls a function of the time, of chance, of the machine or of Hydra's launcher: ${now:...}, ${oc.env:...}, \
${hydra:job.name}.

The result of an experiment is a function of its spec. With such a value the same spec would have a new identity at each start: \
nothing would be found in the cache, and no result could be made again.

  title: run of ${now:%H%M}              MS0112
  launch: {workers: "${oc.decode:${oc.env:WORKERS}}"}      allowed

Write the value itself. The environment may be read by fields of placement alone, such as launch.workers, since they change no \
result.""",
            """\
引用调用了与时间、随机数、机器或 Hydra 启动方式有关的函数：${now:...}、${oc.env:...}、${hydra:job.name}。

实验的结果是其规格的函数。含有这样的值，同一份规格每次启动都会有新的身份：缓存永远无法命中，结果也无法复现。

  title: run of ${now:%H%M}              MS0112
  launch: {workers: "${oc.decode:${oc.env:WORKERS}}"}      允许

请直接写出值。只有放置类字段（如 launch.workers）可以读取环境变量，因为它们不改变结果。""",
        ),
    ),
    "MS0114": Code(
        said("YAML feature outside a spec", "规格不支持的 YAML 特性"),
        said(
            """\
The file uses anchors and aliases (&a, *a), merge keys (<<), tags (!!python/...) or keys that are no text. A spec is plain data.

Aliases would give one value two places, so that no message could point at the right one; tags can run code when a file is read; \
readers disagree on merge keys.

  finetune:
    schedule: *warm            ->      schedule: ${pretrain.schedule}

Write the value out, or refer to it by its path.""",
            """\
文件使用了锚点与别名（&a、*a）、合并键（<<）、标签（!!python/...）或非文本的键。规格是普通数据。

别名会让一个值有两处来源，消息无法指向正确的位置；标签可能在读取文件时执行代码；各读取器对合并键的处理也不一致。

  finetune:
    schedule: *warm            ->      schedule: ${pretrain.schedule}

请直接写出值，或用路径引用。""",
        ),
    ),
}
