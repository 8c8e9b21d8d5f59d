"""What is one and the same."""

from typing import Annotated, Literal

from pydantic import Field

from compiler.spec.declare import Integer, Items, Limited, Section, Text, identity, section


class Lines(Section):
    """Repeated lines."""

    exact: bool = identity("Whether repeated lines are removed.", "是否去除重复行。", default=True)
    min_length: Integer = identity("Shorter lines are never removed.", "更短的行不参与去重。", unit="characters", ge=1, default=20)
    unit: Literal["line", "sentence"] = identity(
        "What is compared and removed: whole lines, or the sentences of lines.", "比较和去除的单位：整行，或行内的句子。", default="line"
    )
    min_documents: Integer = identity(
        "Lines that fewer documents have are never removed; 1 also removes repeats inside of one document.",
        "出现于更少文档的行不会被去除；1 表示同一文档内的重复也会去除。",
        ge=1,
        default=1,
    )


class Near(Section):
    """Near duplicates by MinHash."""

    threshold: Annotated[float, Field(ge=0.1, le=1)] = identity(
        "Jaccard similarity from which two documents are one.", "判定为重复的 Jaccard 相似度。", default=0.8
    )
    permutations: Limited = identity("Length of a signature.", "签名长度。", ge=16, le=1024, default=128)
    ngram: Limited = identity("Words, or Han characters, of one shingle.", "片段的词数（或汉字数）。", ge=1, le=100, default=5)


class Documents(Section):
    """Repeated documents."""

    exact: bool = identity("Whether identical documents are removed.", "是否去除完全相同的文档。", default=True)
    near: Near | None = section("Near duplicates; null looks for exact copies only.", "近似重复；null 表示只去除完全重复。", default=Near())


class Decontaminate(Section):
    """Text of evaluation sets."""

    ngram: Limited = identity(
        "Words, or Han characters, in a row that a document must not share with an evaluation text; a shorter text counts as a whole.",
        "文档与评测文本不得有这么多连续的词（或汉字）相同；更短的评测文本按整体比较。",
        ge=5,
        le=100,
        default=13,
    )
    evaluation: bool = identity("Whether the core cases of the evaluation are looked for.", "是否查找评测的核心用例。", default=True)
    paths: Items[Text] = identity(
        "Further files, relative to the project root: every string of a .jsonl, every line of another file.",
        "其他文件，相对于项目根目录：.jsonl 中的每个字符串，其他文件中的每一行。",
        default=(),
    )
    action: Literal["drop", "cut"] = identity(
        "Whether the document is dropped, or loses the sentences.", "丢弃整篇文档，还是只删去有关句子。", default="drop"
    )


class Dedup(Section):
    """Deduplication, across all sources."""

    lines: Lines = section("Lines.", "行级去重。", default=Lines())
    documents: Documents = section("Documents.", "文档级去重。", default=Documents())
    keep: Literal["longest", "first", "priority"] = identity(
        "Which of a cluster of duplicates stays; of a source by priority, the longest.",
        "重复组中保留哪一篇；按来源优先级时，保留该来源中最长的一篇。",
        default="longest",
    )
    priority: Items[Text] = identity(
        "Sources, the most wanted first, for `keep: priority`; those that are not named come last.",
        "用于 `keep: priority` 的来源，最想保留的在前；未列出的排在最后。",
        default=(),
    )
    decontaminate: Decontaminate | None = section(
        "Text of evaluation sets in the corpus; null looks for none.", "语料中的评测文本；null 表示不查找。", default=None
    )
