"""Looking at data."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0471": Code(
        said("a data stage has left nothing to look at", "数据阶段没有可查看的结果"),
        said(
            """\
`mindspec data` shows what a stage has written: its figures in experiments/NAME/metrics/, its texts in its result folder. The \
stage that is named has not run here, the experiment does not have it (some stages are there only where a spec asks for them), or \
the figures are committed and the texts are in the DVC cache of another machine.

  mindspec data demo clean --dropped
  error MS0471: experiments/demo/corpus/clean is not here
    fix: mindspec run demo, or only as far as this stage: dvc repro experiments/demo/dvc.yaml:clean

Run the stage; where a DVC remote holds its result, `dvc pull` brings it without running.""",
            """\
`mindspec data` 显示阶段已写出的内容：数字在 experiments/NAME/metrics/ 中，文本在结果文件夹中。所写的阶段还没有在此运行；或者该实验没有\
这个阶段（有些阶段只在规格需要时才存在）；或者数字已提交，而文本在另一台机器的 DVC 缓存中。

  mindspec data demo clean --dropped
  错误 MS0471: experiments/demo/corpus/clean 不在此处
    修复: mindspec run demo；或只运行到该阶段：dvc repro experiments/demo/dvc.yaml:clean

请运行该阶段；若 DVC 远端存有其结果，`dvc pull` 可直接取回而不必运行。""",
        ),
    ),
    "MS0472": Code(
        said("no such part of a data stage", "数据阶段没有该部分"),
        said(
            """\
`mindspec data` was asked for a source that the stage has not seen, for a reason for which it dropped nothing, or for examples \
without a stage: examples belong to one.

  mindspec data demo clean --dropped too_few_word
  error MS0472: there is no reason 'too_few_word'
    fix: did you mean too_few_words?

`mindspec data NAME STAGE` lists sources and reasons.""",
            """\
`mindspec data` 所要的来源没有经过该阶段，或该阶段没有因所写的原因丢弃内容，或要看示例却没有写阶段：示例总是属于某个阶段。

  mindspec data demo clean --dropped too_few_word
  错误 MS0472: 没有丢弃原因 'too_few_word'
    修复: 是否想写 too_few_words？

`mindspec data NAME STAGE` 会列出来源与原因。""",
        ),
    ),
    "MS0473": Code(
        said("a result of a data stage cannot be read", "数据阶段的结果无法读取"),
        said(
            """\
A file that a stage has written is no longer JSON: it was edited, or a full disk or an interrupted copy cut it short. Stages \
themselves write a file whole or not at all.

Delete it and run the stage again; what did not change is restored from DVC's cache.""",
            """\
阶段写出的文件不再是 JSON：可能被编辑过，或因磁盘已满、复制中断而不完整。阶段自身只会完整地写出文件，否则不写。

请删除该文件并重新运行该阶段；未变化的内容会从 DVC 缓存恢复。""",
        ),
    ),
}
