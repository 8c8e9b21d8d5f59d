"""Evaluation and comparison."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0381": Code(
        said("evaluation file does not exist", "评测文件不存在"),
        said(
            """\
The file of questions that evaluation.suites.core.cases names is not there. Evaluation is the last stage but one; it would fail \
after all training.

The path is relative to the root of the project and names one file, not a folder.""",
            """\
evaluation.suites.core.cases 所指的题目文件不存在。评测是倒数第二个阶段，要到全部训练结束之后才会失败。

路径相对于项目根目录，必须是一个文件，而不是文件夹。""",
        ),
    ),
    "MS0382": Code(
        said("no evaluation suite", "没有评测集"),
        said(
            """\
evaluation.suites is empty, so that nothing would be scored: no metric, nothing to compare, a gate that guards nothing.

  evaluation:
    suites: {perplexity: {split: validation}}
    metrics: [perplexity, bits_per_byte]""",
            """\
evaluation.suites 为空，将没有任何得分：没有指标，没有可比较的内容，门禁也不起作用。

  evaluation:
    suites: {perplexity: {split: validation}}
    metrics: [perplexity, bits_per_byte]""",
        ),
    ),
    "MS0383": Code(
        said("metric without its suite", "指标缺少对应的评测集"),
        said(
            """\
A metric is listed whose suite is not given. perplexity and bits_per_byte come from the suite perplexity, exact_match and \
answer_loss from the suite core.

The metric would be missing from metrics/evaluate.json, from the report and from every comparison.

Add the suite, or take the metric out of the list.""",
            """\
列出的指标没有对应的评测集。perplexity 与 bits_per_byte 来自评测集 perplexity，exact_match 与 answer_loss 来自评测集 core。

该指标不会出现在 metrics/evaluate.json、报告和任何比较中。

请补上评测集，或从列表中去掉该指标。""",
        ),
    ),
    "MS0384": Code(
        said("tolerance of an unknown metric", "容差对应的指标不存在"),
        said(
            """\
compare.tolerance gives a limit for something that this experiment does not measure, or an entry without any limit. It would \
guard nothing, and a regression would pass.

  tolerance: {exactmatch: {absolute: 0.0}}          did you mean exact_match?
  tolerance: {exact_match: {}}                      add absolute or relative""",
            """\
compare.tolerance 为本实验不测量的内容设了容差，或某一项没有给出任何容差。它不起作用，指标退化也会通过。

  tolerance: {exactmatch: {absolute: 0.0}}          是否想写 exact_match？
  tolerance: {exact_match: {}}                      请加上 absolute 或 relative""",
        ),
    ),
    "MS0385": Code(
        said("gate without a baseline", "门禁没有基线"),
        said(
            """\
compare.gate is true and compare.baseline is null. The gate compares with nothing, so it would pass whatever the scores are.

Name an experiment or a file of baselines/ in compare.baseline, or set gate: false.""",
            """\
compare.gate 为 true 而 compare.baseline 为 null。门禁没有比较对象，无论得分如何都会通过。

请在 compare.baseline 中指定一个实验或 baselines/ 中的文件，或设 gate: false。""",
        ),
    ),
    "MS0386": Code(
        said("baseline does not exist", "基线不存在"),
        said(
            """\
compare.baseline names neither another experiment nor a file of baselines/, or it names the experiment itself.

The comparison is the last step; it would fail after everything else has run.

  mindspec run demo
  mindspec baseline set release-1 --from demo""",
            """\
compare.baseline 既不是另一个实验，也不是 baselines/ 中的文件，或者就是本实验自己。

比较是最后一步，要到其他内容全部运行之后才会失败。

  mindspec run demo
  mindspec baseline set release-1 --from demo""",
        ),
    ),
    "MS0387": Code(
        said("path outside the project", "路径超出项目范围"),
        said(
            """\
A path is absolute, climbs out with .., or uses backslashes. On another machine it would name something else, or nothing, and \
the same spec would have another result.

Put the data below the project, or a symbolic link to it, and write the path from the root of the project with slashes.""",
            """\
路径是绝对路径、用 .. 越出项目，或使用了反斜杠。在另一台机器上它会指向别的内容，或什么也没有，同一份规格就会有不同的结果。

请把数据或指向它的符号链接放在项目内，并用斜杠写出从项目根目录开始的路径。""",
        ),
    ),
    "MS0388": Code(
        said("evaluated with another template", "评测与训练的模板不同"),
        said(
            """\
The questions would be asked with another chat template than the one the model was fine-tuned with. The model would see markers \
and headers that it never saw, and its scores would be too low for no reason of its own.

Use the same template in data.instruct.template and evaluation.suites.core.template.""",
            """\
提问所用的对话模板与微调时不同。模型会看到从未见过的标记和开头，得分偏低，却与模型本身无关。

请在 data.instruct.template 与 evaluation.suites.core.template 中使用同一模板。""",
        ),
    ),
    "MS0389": Code(
        said("answers do not fit the window", "窗口容不下回答"),
        said(
            """\
evaluation.suites.core.max_new_tokens is as large as model.seq_length or larger. Question and answer share the window, so the \
whole question would be cut away to make room.

Choose a number of new tokens well below model.seq_length: what is left is the room for the question.""",
            """\
evaluation.suites.core.max_new_tokens 不小于 model.seq_length。问题与回答共用一个窗口，整个问题都会被截掉。

请让 max_new_tokens 明显小于 model.seq_length：剩下的部分才是问题的空间。""",
        ),
    ),
    "MS0390": Code(
        said("path that holds no data", "路径不能作为数据"),
        said(
            """\
A source or a file of questions lies where the project keeps results, caches or histories (experiments/, .dvc/, .git/), is the \
whole project, or has a name in which DVC would see a variable.

What lies there changes while stages run: a result would become part of the data it was made from, and no key would ever be the \
same twice.

Put the data below data/, under a plain name.""",
            """\
数据来源或题目文件位于项目存放结果、缓存或历史的地方（experiments/、.dvc/、.git/），就是整个项目，或名称中含有 DVC 会当作变量的内容。

那里的内容在阶段运行时会变化：结果会混入产生它的数据，键也永远不会重复。

请把数据放在 data/ 下，并使用普通的名称。""",
        ),
    ),
}
