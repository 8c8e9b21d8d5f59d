"""Composing files and overrides with Hydra."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0105": Code(
        said("defaults list without _self_", "defaults 列表缺少 _self_"),
        said(
            """\
A defaults list names files to compose and does not say where the file's own values stand among them.

Whether `num_layers: 5` in the file wins over `model: small` in its list would then depend on the release of Hydra, which has \
changed it once.

  defaults: [_self_, {override /model: small}]      the group wins
  defaults: [{override /model: small}, _self_]      the file wins

Add `_self_` first or last.""",
            """\
defaults 列表列出了要组合的文件，却没有说明本文件的值处于什么次序。

此时文件中的 `num_layers: 5` 能否覆盖列表中的 `model: small`，取决于 Hydra 的版本，而 Hydra 曾经改过这一点。

  defaults: [_self_, {override /model: small}]      以配置组为准
  defaults: [{override /model: small}, _self_]      以本文件为准

请把 `_self_` 放在最前或最后。""",
        ),
    ),
    "MS0106": Code(
        said("unknown option of a group", "配置组中没有该选项"),
        said(
            """\
A group is a folder of specs/, and its options are the files in it. What was chosen, on the command line or in a defaults list, \
is none of them.

  mindspec check demo model=lama-tiny
  error MS0106: model has no option lama-tiny
    fix: did you mean llama-tiny? known: llama-tiny, ...

Choose one that is there, or add specs/GROUP/OPTION.yaml.""",
            """\
配置组是 specs/ 下的文件夹，其中的文件就是选项。命令行或 defaults 列表所选的不在其中。

  mindspec check demo model=lama-tiny
  错误 MS0106: 配置组 model 没有选项 lama-tiny
    修复: 是否想写 llama-tiny？可用的有：llama-tiny、...

请选用已有的选项，或新增 specs/GROUP/OPTION.yaml。""",
        ),
    ),
    "MS0107": Code(
        said("override cannot be read", "覆盖项无法读取"),
        said(
            """\
An override follows Hydra's grammar: key=value, where a value with `=`, brackets, quotes, ; & ! # or blanks at its ends needs \
quotes. The shell takes one level of quotes away before Hydra sees the text, so a text needs two.

  title=a=b                       MS0107
  title="a=b"                     MS0107 still: the shell has removed the quotes
  'title="a=b"'                   the text a=b
  'data.pretrain.filter.languages=[en,zh]'      a list

The message points at the character where reading ends, and gives the whole override as it would be right. In files none of this \
is needed: they are YAML.""",
            """\
覆盖项遵循 Hydra 的语法：key=value；若值中含有 `=`、括号、引号、; & ! # 或首尾空格，就要加引号。shell 会先去掉一层引号，\
因此文本需要两层。

  title=a=b                       MS0107
  title="a=b"                     仍是 MS0107：引号已被 shell 去掉
  'title="a=b"'                   文本 a=b
  'data.pretrain.filter.languages=[en,zh]'      列表

消息会指出无法继续读取的那个字符，并给出正确的整个覆盖项。规格文件是 YAML，不需要这样做。""",
        ),
    ),
    "MS0108": Code(
        said("override needs quotes", "覆盖项需要加引号"),
        said(
            """\
Hydra's grammar for the command line knows ASCII letters only. Chinese text, accents and emoji need quotes of Hydra's own, inside \
those of the shell.

  title=语料                MS0108
  'title="语料"'            the text

The message gives the override with its quotes, ready to be copied. Values in files need none.""",
            """\
Hydra 的命令行语法只认识 ASCII 字母。中文、带重音的字母和表情符号需要 Hydra 自己的引号，写在 shell 的引号之内。

  title=语料                MS0108
  'title="语料"'            文本

消息中给出了加好引号的覆盖项，可以直接复制。规格文件中的值不需要这样做。""",
        ),
    ),
    "MS0109": Code(
        said("comma in a single run", "单次运行中出现逗号"),
        said(
            """\
To Hydra a comma outside brackets and quotes, or choice(...) and range(...), means several values to try: a sweep. A single run \
can take only one.

  data.pretrain.filter.languages=en,zh          MS0109
  'data.pretrain.filter.languages=[en,zh]'      one list
  'title="first, second"'                       one text
  python -m compiler -m experiment=demo finetune.lora.rank=4,8      two runs

Say which of the three was meant.""",
            """\
对 Hydra 来说，括号和引号之外的逗号，以及 choice(...)、range(...)，表示要依次尝试多个值，即一次扫描。单次运行只能取一个值。

  data.pretrain.filter.languages=en,zh          MS0109
  'data.pretrain.filter.languages=[en,zh]'      一个列表
  'title="first, second"'                       一个文本
  python -m compiler -m experiment=demo finetune.lora.rank=4,8      两次运行

请写明是三者中的哪一种。""",
        ),
    ),
    "MS0113": Code(
        said("composition failed", "组合失败"),
        said(
            """\
Hydra or OmegaConf refused to compose the spec for a reason that has no code of its own; the message holds their own words.

  defaults:
    - _self_
    - /model: ${size}        the defaults list is read before any value is known

If the message does not help, take entries out of the defaults list, or overrides off the command line, until it composes.""",
            """\
Hydra 或 OmegaConf 拒绝组合规格，原因没有专门的诊断码；消息中是它们的原话。

  defaults:
    - _self_
    - /model: ${size}        读取 defaults 列表时还没有任何值

如果消息没有帮助，请逐项去掉 defaults 列表中的条目或命令行上的覆盖项，直到可以组合。""",
        ),
    ),
    "MS0115": Code(
        said("unknown group", "未知的配置组"),
        said(
            """\
A defaults list names a group that is no folder of specs/, or overrides one that no list has chosen.

In an experiment a group needs a slash before it: without one Hydra looks below the folder of the file, that is in \
specs/experiment/.

  defaults:
    - override model: llama-tiny        MS0115
    - override /model: llama-tiny       specs/model/llama-tiny.yaml""",
            """\
defaults 列表中的配置组不是 specs/ 下的文件夹，或者覆盖了没有任何列表选用的配置组。

在实验文件中，配置组前要加斜杠：不加斜杠时，Hydra 会在本文件所在的文件夹（即 specs/experiment/）之下查找。

  defaults:
    - override model: llama-tiny        MS0115
    - override /model: llama-tiny       specs/model/llama-tiny.yaml""",
        ),
    ),
    "MS0116": Code(
        said("group chosen twice", "配置组重复选用"),
        said(
            """\
Two entries choose a file of the same group. Hydra would merge both files, or keep one of them without a word.

specs/mindspec.yaml already chooses a file of each group, so an experiment replaces the choice instead of adding one:

  defaults:
    - /model: llama3-8b                 MS0116
    - override /model: llama3-8b        replaces it""",
            """\
有两个条目选用了同一配置组中的文件。Hydra 会合并两个文件，或悄悄只保留其中一个。

specs/mindspec.yaml 已为每个配置组选定了文件，因此实验应替换该选择，而不是再加一个：

  defaults:
    - /model: llama3-8b                 MS0116
    - override /model: llama3-8b        替换原来的选择""",
        ),
    ),
    "MS0117": Code(
        said("defaults list cannot be read", "defaults 列表无法读取"),
        said(
            """\
`defaults` is a list. Each entry is the name of a file, `_self_`, or one group with its option.

  defaults:
    - _self_
    - smoke                             another experiment, as a base
    - override /device: gpu             another option of a group

Anything else, such as a mapping with two groups or a second `_self_`, has no place in the order of the layers.""",
            """\
`defaults` 是列表。每一项是文件名、`_self_`，或一个配置组及其选项。

  defaults:
    - _self_
    - smoke                             以另一个实验为基础
    - override /device: gpu             选用配置组的另一个选项

其他写法（如一项中有两个配置组，或第二个 `_self_`）在层次次序中没有位置。""",
        ),
    ),
    "MS0118": Code(
        said("prefix that does not fit", "前缀不合适"),
        said(
            """\
`+` before an override adds what is not there, and `~` takes away what is. Here it is the other way round, or ~key=value names \
another value than the one in force.

  +seed=3          seed is there: write seed=3
  ~titel           there is no titel
  ~seed=3          seed is 42: write ~seed

A plain key=value sets a field whether a file mentions it or not, so that the prefixes are seldom needed.""",
            """\
覆盖项前的 `+` 用于添加尚不存在的项，`~` 用于删除已有的项。此处正好相反，或者 ~key=value 中的值与当前的值不同。

  +seed=3          seed 已存在：请写 seed=3
  ~titel           没有 titel
  ~seed=3          seed 是 42：请写 ~seed

普通的 key=value 无论文件是否写过该字段都能设置，因此很少需要前缀。""",
        ),
    ),
    "MS0119": Code(
        said("no such item of a list", "列表中没有该项"),
        said(
            """\
An override names an item of a list by its index, and the list is shorter, or the index is no number.

  finetune.lora.targets.1=k_proj                replaces the second item
  finetune.lora.targets.7=k_proj                MS0119
  'finetune.lora.targets=[q_proj,k_proj]'       the whole list

Layers of a spec replace lists as a whole as well; what several files add to, such as data.pretrain.sources, is a mapping with \
names for that reason.""",
            """\
覆盖项用下标指定列表中的一项，但列表没有这么长，或下标不是数字。

  finetune.lora.targets.1=k_proj                替换第二项
  finetune.lora.targets.7=k_proj                MS0119
  'finetune.lora.targets=[q_proj,k_proj]'       整个列表

规格的各层同样会整体替换列表；因此需要多个文件共同补充的内容（如 data.pretrain.sources）是带名称的映射。""",
        ),
    ),
    "MS0120": Code(
        said("setting outside a spec", "不属于规格的设置"),
        said(
            """\
An experiment or an override sets something of Hydra itself (hydra.run.dir, hydra.verbose), or chooses the experiment, which \
is done by the name behind the command.

Such settings belong to the program, not to what is computed: the same spec would behave differently depending on where it is \
composed.

  mindspec check experiment=demo        MS0120
  mindspec check demo

Leave it out. In a multirun (`python -m compiler -m ...`) Hydra's own settings are allowed on the command line.""",
            """\
实验或覆盖项设置了 Hydra 自身的选项（hydra.run.dir、hydra.verbose），或选择了实验，而实验应由命令之后的名称选定。

这些设置属于程序，而不属于要计算的内容：同一份规格的行为会取决于在哪里组合。

  mindspec check experiment=demo        MS0120
  mindspec check demo

请去掉。在多次运行（`python -m compiler -m ...`）中，命令行上可以使用 Hydra 自身的设置。""",
        ),
    ),
    "MS0121": Code(
        said("files that build on each other in a circle", "文件循环依赖"),
        said(
            """\
The defaults list of a file leads, through other files, back to the file itself. There is no first layer to start from.

  # a.yaml                       # b.yaml
  defaults: [b, _self_]          defaults: [a, _self_]

Move what both need into a third file, and let both build on that.""",
            """\
某个文件的 defaults 列表经由其他文件又回到了它自己，没有可以最先读取的一层。

  # a.yaml                       # b.yaml
  defaults: [b, _self_]          defaults: [a, _self_]

请把双方都需要的内容移到第三个文件，并让二者都以它为基础。""",
        ),
    ),
    "MS0122": Code(
        said("override that a small twin does not take", "小型试运行不采用的覆盖项"),
        said(
            """\
With smoke=true an experiment is shrunk to its small twin. What else stands on the command line holds as it is written, at any size:

  mindspec run demo smoke=true model.seq_length=512 pretrain.steps=100

What makes the twin one that runs anywhere does not change: one device, no division of work, and float32 where the device does not \
compute bfloat16. An override that says otherwise has no effect, and this warning says so. The name gets --smoke behind it in any case.

  mindspec run demo smoke=true device.count=8        MS0122""",
            """\
smoke=true 会把实验缩小为小型试运行。命令行上的其他覆盖项均按所写生效，不论大小：

  mindspec run demo smoke=true model.seq_length=512 pretrain.steps=100

使试运行能在任何机器上运行的部分不会改变：一个设备、不做并行切分，且在设备不支持 bfloat16 时使用 float32。与此不符的覆盖项\
不起作用，本警告会予以说明。名称之后总会加上 --smoke。

  mindspec run demo smoke=true device.count=8        MS0122""",
        ),
    ),
}
