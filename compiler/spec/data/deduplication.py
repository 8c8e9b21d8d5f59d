"""What is one and the same."""

from typing import Annotated, Literal

from pydantic import Field

from compiler.spec.declare import Integer, Limited, Section, identity, section


class Lines(Section):
    """Repeated lines."""

    exact: bool = identity("Whether repeated lines are removed.", "是否去除重复行。", default=True)
    min_length: Integer = identity("Shorter lines are never removed.", "更短的行不参与去重。", unit="characters", ge=1, default=20)


class Near(Section):
    """Near duplicates by MinHash."""

    threshold: Annotated[float, Field(gt=0, le=1)] = identity(
        "Jaccard similarity from which two documents are one.", "判定为重复的 Jaccard 相似度。", default=0.8
    )
    permutations: Limited = identity("Length of a signature.", "签名长度。", ge=16, le=1024, default=128)
    ngram: Integer = identity("Words, or Han characters, of one shingle.", "片段的词数（或汉字数）。", ge=1, default=5)


class Documents(Section):
    """Repeated documents."""

    exact: bool = identity("Whether identical documents are removed.", "是否去除完全相同的文档。", default=True)
    near: Near | None = section("Near duplicates; null looks for exact copies only.", "近似重复；null 表示只去除完全重复。", default=Near())


class Dedup(Section):
    """Deduplication, across all sources."""

    lines: Lines = section("Lines.", "行级去重。", default=Lines())
    documents: Documents = section("Documents.", "文档级去重。", default=Documents())
    keep: Literal["longest", "first"] = identity("Which of a cluster of duplicates stays.", "重复组中保留哪一篇。", default="longest")
