"""Deduplication and decontamination."""

from compiler.codes.code import Code
from compiler.wording import said

CODES = {
    "MS0421": Code(
        said("the priority of sources is half given", "来源优先级只写了一半"),
        said(
            """\
Which document of a cluster of duplicates stays is data.pretrain.dedup.keep: `longest`, `first`, or `priority`. With \
`priority`, the document of the source that stands first in data.pretrain.dedup.priority stays, and of that source the \
longest one. The two belong together: the policy needs the list, and the list is only read with the policy.

  keep: priority
  priority: [handbook, web]     a page of the web that copies the handbook goes

Sources that the list does not name come after those it does.""",
            """\
重复组中保留哪一篇由 data.pretrain.dedup.keep 决定：`longest`、`first` 或 `priority`。使用 `priority` 时，保留在 \
data.pretrain.dedup.priority 中排在最前的来源的文档；同一来源中保留最长的一篇。两者须同时给出：策略需要列表，而列表只在该策略下才被读取。

  keep: priority
  priority: [handbook, web]     网页中抄录手册的页面会被去除

未列出的来源排在列出的来源之后。""",
        ),
    ),
    "MS0422": Code(
        said("the priority names no source", "优先级中的名称不是来源"),
        said(
            """\
data.pretrain.dedup.priority holds names of data.pretrain.sources. A name that is none of them would be skipped without a \
word, and the order would not be the one that was meant.""",
            """\
data.pretrain.dedup.priority 中应是 data.pretrain.sources 里的名称。不存在的名称会被悄悄跳过，实际顺序也就不是想要的顺序。""",
        ),
    ),
    "MS0423": Code(
        said("nothing to decontaminate against", "没有用于排除的评测文本"),
        said(
            """\
data.pretrain.dedup.decontaminate removes text of evaluation sets from the corpus. The texts come from the core cases of the \
evaluation (`evaluation: true`, and evaluation.suites.core is given) and from the files in `paths`. Without either, the step \
would find nothing, which reads as if the corpus were clean.""",
            """\
data.pretrain.dedup.decontaminate 从语料中去除评测集的文本。这些文本来自评测的核心用例（`evaluation: true` 且给出了 \
evaluation.suites.core）以及 `paths` 中的文件。两者都没有时，这一步什么也找不到，看起来就像语料是干净的。""",
        ),
    ),
    "MS0424": Code(
        said("file of evaluation texts is missing", "评测文本的文件不存在"),
        said(
            """\
data.pretrain.dedup.decontaminate.paths names files that are compared with the corpus, relative to the project root. In a \
.jsonl, every string of a row is an evaluation text, and so are all of a row together; in any other file, every line is. The \
files are dependencies of the stage: when one changes, deduplication runs again.""",
            """\
data.pretrain.dedup.decontaminate.paths 列出要与语料比较的文件，路径相对于项目根目录。.jsonl 中每行的每个字符串、以及一行的\
全部字符串合在一起，都是评测文本；其他文件中每一行是一条。这些文件是该阶段的依赖：文件变化后，去重会重新运行。""",
        ),
    ),
}
