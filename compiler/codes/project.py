"""The project's files, experiments and this machine."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0001": Code(
        said("unknown experiment", "未知的实验"),
        said(
            """\
A command names an experiment that no file of specs/experiment/ declares. The name is what stands behind `name:` in the \
file; a file may be called otherwise.

Points of a sweep, such as demo--finetune-lora-rank-4, are results and have no file of their own: they are compiled again \
with the overrides that made them.

  mindspec check dmeo
  error MS0001: no experiment is named dmeo
    fix: did you mean demo?

Use a name that exists, or add specs/experiment/NAME.yaml.""",
            """\
命令中的实验名没有在 specs/experiment/ 的任何文件中声明。实验名取自文件里的 `name:`，与文件名可以不同。

扫描产生的点（如 demo--finetune-lora-rank-4）是结果，没有自己的规格文件；要重新编译它，请给出当初的覆盖项。

  mindspec check dmeo
  错误 MS0001: 没有名为 dmeo 的实验
    修复: 是否想写 demo？

请使用已有的实验名，或新增 specs/experiment/NAME.yaml。""",
        ),
    ),
    "MS0002": Code(
        said("name used by two experiments", "两个实验同名"),
        said(
            """\
Two files of specs/experiment/ declare the same name, or an override gives one experiment the name of another one.

An experiment lives in experiments/NAME/. With one name for two, each compilation would write over the other one's stages, \
and DVC would run everything again each time, or worse, report the scores of one as those of the other.

  # specs/experiment/large.yaml, copied from demo.yaml
  name: demo            <- still the old name

Give one of the two its own name.""",
            """\
specs/experiment/ 中有两个文件声明了同一名称，或者覆盖项把一个实验改成了另一个实验的名称。

实验的全部内容位于 experiments/NAME/。两个实验同名时，每次编译都会覆盖对方的阶段，DVC 会反复重跑；更糟的是，一个实验的得分会被当成另一个的。

  # specs/experiment/large.yaml，复制自 demo.yaml
  name: demo            <- 忘了改名

请给其中一个换名。""",
        ),
    ),
    "MS0003": Code(
        said("experiment without a proper name", "实验缺少合法的名称"),
        said(
            """\
The file of an experiment has no `name:`, or one that cannot be the name of a folder on every system: lower-case letters, \
digits and hyphens are allowed, a letter or digit first.

The name is also part of DVC targets, of Git paths and of the names of sweep points, where blanks, dots, slashes and capital \
letters change meaning from one system to the next. A name is never taken over from another experiment that the file builds on.

  name: My Run 1.2      ->      name: my-run-1-2""",
            """\
实验文件没有 `name:`，或名称不能在所有系统上用作文件夹名。名称只允许小写字母、数字和连字符，并以字母或数字开头。

名称还会出现在 DVC 目标、Git 路径和扫描点的名称里；空格、点、斜杠和大写字母在不同系统上的含义不同。以另一个实验为基础时，名称不会随之继承。

  name: My Run 1.2      ->      name: my-run-1-2""",
        ),
    ),
    "MS0004": Code(
        said("no specs folder", "找不到 specs 文件夹"),
        said(
            """\
A command was started outside a project: neither the current folder nor one above it holds specs/mindspec.yaml, the file \
that every experiment starts from.

  cd ~ && mindspec check demo
  error MS0004: no specs/mindspec.yaml in /home/me or above it

Change into the project. In a fresh clone, check that the files of specs/ are there.""",
            """\
命令不是在项目内启动的：当前文件夹及其上级都没有 specs/mindspec.yaml，而它是所有实验的起点。

  cd ~ && mindspec check demo
  错误 MS0004: /home/me 及其上级中没有 specs/mindspec.yaml

请先进入项目文件夹。若是刚克隆的仓库，请确认 specs/ 中的文件齐全。""",
        ),
    ),
    "MS0021": Code(
        said("no lock file", "缺少锁定文件"),
        said(
            """\
requirements.lock or .python-version is not there, or cannot be read. The locked versions are part of what a result depends \
on: they are written into config/environment.yaml of each experiment, so that another release of a library makes another result.

Without them nothing could be compiled that is found again in the cache, on this machine or another one.

Take the files from Git, or make the lock again with `make lock`; .python-version holds one line, such as 3.11.""",
            """\
缺少 requirements.lock 或 .python-version，或者文件无法读取。锁定的版本是结果的一部分：\
它们会写入每个实验的 config/environment.yaml，库的版本不同，结果就不同。

没有它们，编译出的内容在本机或其他机器上都无法再从缓存中命中。

请从 Git 取回文件，或用 `make lock` 重新生成；.python-version 只有一行，例如 3.11。""",
        ),
    ),
    "MS0022": Code(
        said("selection cannot be read", "params.yaml 中的选择有误"),
        said(
            """\
params.yaml says which experiments `mindspec compile`, `mindspec run` and `dvc repro` at the root take, which baseline they \
are compared with, and whether a regression fails the run. It holds something else than that.

  experiments: demo     ->      experiments: [demo]
  gate: "yes"           ->      gate: true

A gate without anything to compare with would pass whatever the scores are, so that is refused too.""",
            """\
params.yaml 指定 `mindspec compile`、`mindspec run` 和根目录下的 `dvc repro` 处理哪些实验、与哪个基线比较、\
指标退化时是否判定失败。文件内容与此不符。

  experiments: demo     ->      experiments: [demo]
  gate: "yes"           ->      gate: true

没有可比对象的门禁无论得分如何都会通过，因此同样会被拒绝。""",
        ),
    ),
    "MS0023": Code(
        said("mindspore and mindformers do not match", "mindspore 与 mindformers 版本不配套"),
        said(
            """\
The lock file holds a pair of releases that were not published for each other. MindFormers reaches deep into MindSpore, and \
each of its releases names the one MindSpore release that it was made for.

Another pair fails on import, in the middle of graph compilation, or does not fail at all and trains and exports other numbers.

  mindformers 1.9.0 + mindspore 2.9.0       fits
  mindformers 1.9.0 + mindspore 2.7.0       MS0023

Lock one of the pairs that the message lists, then make the environment again.""",
            """\
锁定文件中的两个版本不是配套发布的。MindFormers 深度依赖 MindSpore 的内部接口，每个版本都对应一个特定的 MindSpore 版本。

版本不配套时，可能导入即失败，可能在图编译中途失败，也可能不报错，却训练并导出不同的数值。

  mindformers 1.9.0 + mindspore 2.9.0       配套
  mindformers 1.9.0 + mindspore 2.7.0       MS0023

请锁定消息中列出的任一组合，然后重建环境。""",
        ),
    ),
    "MS0024": Code(
        said("installed version is not the locked one", "已安装的版本与锁定的不一致"),
        said(
            """\
`mindspec run` compares what is installed with what is locked before any work. A library that writes bytes of a result has \
another version, or is missing.

The stages would check it too and stop; without that, results of one version would be cached under the name of another, and \
nobody could make them again.

  source .venv/bin/activate     the environment of the project was not active
  make setup                    it is active, but older than the lock file

A new version goes into the lock file first (`make lock`).""",
            """\
`mindspec run` 在开工前会比较已安装的版本与锁定的版本。某个会影响结果字节的库版本不同，或者没有安装。

各阶段自身也会检查并停止；若不检查，一个版本的结果会以另一个版本的名义进入缓存，再也无法复现。

  source .venv/bin/activate     没有激活项目环境
  make setup                    环境已激活，但比锁定文件旧

要换新版本，请先更新锁定文件（`make lock`）。""",
        ),
    ),
    "MS0025": Code(
        said("device is not usable here", "本机没有该设备"),
        said(
            """\
The experiment is compiled for a GPU or an Ascend NPU, and this machine shows none: the files through which a driver is \
reached are not there.

Everything up to training would run for hours; then MindSpore would stop where it opens the device.

  mindspec run demo device=gpu      on a laptop: MS0025
  mindspec run demo device=cpu      runs

Run it on a machine that has the device. In a container, check that the device was passed into it.""",
            """\
实验是为 GPU 或昇腾 NPU 编译的，但本机没有这种设备：访问驱动所需的设备文件不存在。

训练之前的阶段会先跑上几个小时，随后 MindSpore 在打开设备时才会停止。

  mindspec run demo device=gpu      在普通笔记本上：MS0025
  mindspec run demo device=cpu      可以运行

请在有该设备的机器上运行；若在容器中，请确认设备已映射进容器。""",
        ),
    ),
    "MS0026": Code(
        said("library is not locked", "库没有锁定版本"),
        said(
            """\
A library that writes bytes of a result has no version in requirements.lock, so two machines could install two releases of \
it, and the same spec would give two results under one name.

Add the library to pyproject.toml, then run `make lock` and `make setup`.""",
            """\
某个会影响结果字节的库在 requirements.lock 中没有版本，两台机器可能装上不同的版本，同一份规格就会以同一名称产生两种结果。

请把该库加入 pyproject.toml，再执行 `make lock` 和 `make setup`。""",
        ),
    ),
    "MS0027": Code(
        said("template cannot be used", "对话模板不可用"),
        said(
            """\
The chat template that data.instruct.template names contradicts itself or the tokenizer: a marker that is no special piece, \
a role that follows one that does not exist, no role that is trained.

The template is first used by the stage `format`, which comes after pre-training, so the mistake would show after hours. A \
marker that is no special piece is worse: any text could forge it, and the model would see turns that nobody wrote.

  roles:
    user: {open: <|user|>, ...}       <- missing in tokenizer.special_tokens.user

Add the marker to tokenizer.special_tokens.user, or use one that is there. specs/template/chatml.yaml shows every key. The templates \
that come with the project are shared by all experiments: for other markers copy one to specs/template/NAME.yaml and change that.""",
            """\
data.instruct.template 所指的对话模板自相矛盾，或与分词器不符：某个标记不是特殊词元、某个角色排在不存在的角色之后，\
或没有任何参与训练的角色。

模板最早由 `format` 阶段使用，而该阶段在预训练之后，因此错误要过几个小时才会暴露。标记不是特殊词元的后果更严重：\
任何文本都能伪造它，模型会看到没有人写过的对话轮次。

  roles:
    user: {open: <|user|>, ...}       <- tokenizer.special_tokens.user 中没有它

请把该标记加入 tokenizer.special_tokens.user，或改用已有的标记。全部字段见 specs/template/chatml.yaml。随项目提供的模板由所有\
实验共用：若要使用其他标记，请把模板复制到 specs/template/名称.yaml 再修改。""",
        ),
        plannable=True,
    ),
    "MS0028": Code(
        said("file cannot be read", "文件无法读取"),
        said(
            """\
A file of specs/ is there, but the system does not let it be read: no permission, a link that leads in a circle, a folder \
with the name of a file.

Its experiment might be the one that was asked for, so it is not passed over. Put a readable file there, or remove it.""",
            """\
specs/ 中的文件存在，但系统不允许读取：没有权限、符号链接成环，或者同名的其实是文件夹。

它可能正是所要的实验，因此不会被跳过。请换成可读的文件，或将其删除。""",
        ),
    ),
    "MS0029": Code(
        said("environment that falsifies results", "会使结果失真的环境变量"),
        said(
            """\
A few variables of the environment change what a MindSpore program computes and let it end well all the same. \
MS_SIMULATION_LEVEL simulates: the loss is 0.0, and weights are saved that were never trained. MS_KERNEL_LAUNCH_SKIP leaves \
kernels out, MS_DEV_PRECOMPILE_ONLY all of them, MS_JIT=0 the compiled graph. MS_WORKER_NUM, RANK_SIZE and their like say that \
a launcher started several processes: each would train a model of its own.

  MS_SIMULATION_LEVEL=1 mindspec run demo      MS0029

Unset the variable; start `mindspec run` without msrun, mpirun or srun.""",
            """\
有几个环境变量会改变 MindSpore 程序的计算内容，而程序仍会正常结束。MS_SIMULATION_LEVEL 只做仿真：损失为 0.0，保存的是从未训练过的权重。\
MS_KERNEL_LAUNCH_SKIP 跳过部分算子，MS_DEV_PRECOMPILE_ONLY 跳过全部，MS_JIT=0 跳过编译好的计算图。\
MS_WORKER_NUM、RANK_SIZE 等表示启动器启动了多个进程：每个进程会各自训练一个模型。

  MS_SIMULATION_LEVEL=1 mindspec run demo      MS0029

请取消设置该变量；不要用 msrun、mpirun 或 srun 启动 `mindspec run`。""",
        ),
    ),
    "MS0031": Code(
        said("no such record", "没有该实验的记录"),
        said(
            """\
A baseline is made from the record and the scores that an experiment leaves when it has run. Here there are none, the Git \
revision that was named holds none, or the file is damaged.

  mindspec run demo
  mindspec baseline set release-1 --from demo

For an earlier state name a revision in which the experiment had been run: --from demo@v1.0.""",
            """\
基线取自实验运行后留下的记录与得分。这里还没有记录，或所指的 Git 版本中没有，或文件已损坏。

  mindspec run demo
  mindspec baseline set release-1 --from demo

要取较早的状态，请指定一个实验已运行过的版本：--from demo@v1.0。""",
        ),
    ),
    "MS0032": Code(
        said("no such revision", "没有该 Git 版本"),
        said(
            """\
What stands behind the @ is no branch, tag or commit of this repository. A shallow clone does not have older commits either: \
`git fetch --unshallow` brings them.""",
            """\
@ 之后的内容不是本仓库的分支、标签或提交。浅克隆中也没有较早的提交，可用 `git fetch --unshallow` 取回。""",
        ),
    ),
    "MS0033": Code(
        said("improper name", "名称不合法"),
        said(
            """\
The name of a baseline is the name of a file below baselines/, and may hold the letters a-z, digits and hyphens. Behind \
--from stands an experiment, alone or with a Git revision: demo, demo@v1.0.""",
            """\
基线名即 baselines/ 下的文件名，只允许字母 a-z、数字和连字符。--from 之后是实验名，可带 Git 版本：demo、demo@v1.0。""",
        ),
    ),
    "MS0034": Code(
        said("unknown code", "未知的诊断码"),
        said(
            """\
`mindspec explain` was asked for a code that no diagnostic has. Codes look like MS0303; without an argument the command \
lists them all.""",
            """\
`mindspec explain` 收到的诊断码不存在。诊断码形如 MS0303；不带参数时该命令会列出全部诊断码。""",
        ),
    ),
}
