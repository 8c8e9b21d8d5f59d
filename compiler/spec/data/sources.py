"""Where text of pre-training comes from, and how it is decoded."""

from typing import Annotated, Literal

from pydantic import Field

from compiler.spec.declare import Bytes, Label, Section, Text, Weight, identity, presentation

Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z]+)*$")]


class Source(Section):
    """One raw corpus of text."""

    path: Text = identity(
        "File, folder or pattern such as `data/raw/**/*.txt`, relative to the project root.",
        "文件、文件夹或 `data/raw/**/*.txt` 之类的模式，相对于项目根目录。",
    )
    format: Literal["text", "html", "markdown", "jsonl", "json", "csv", "parquet"] = identity("How the files are read.", "文件格式。")
    text_field: Text | None = identity(
        "Field or column that holds the text; for formats with rows.", "存放正文的字段或列（用于按行存储的格式）。", default=None
    )
    delimiter: Annotated[str, Field(pattern=r"^[^\"\r\n]$")] | None = identity(
        "What separates the fields of csv; null: a tab for .tsv, or else a comma.",
        "csv 字段的分隔符；null：.tsv 用制表符，其余用逗号。",
        default=None,
    )
    language: Language | None = identity(
        "Language of all documents; null detects it per document.", "全部文档的语言；null 表示逐篇识别。", default=None
    )
    domain: Label = identity("Subject, for the report on the mix.", "领域，用于混合比例报告。", default="general")
    weight: Weight = identity("Share of the mix, relative to the other sources.", "混合权重（相对值）。", default=1.0)
    synthetic: bool = identity("Whether a model wrote the text.", "文本是否由模型生成。", default=False)
    licence: str = presentation("Licence of the text, for the record.", "文本的许可证（用于记录）。", default="")
    date: str = presentation("Version or date of the text, for the record.", "文本的版本或日期（用于记录）。", default="")


class Ingest(Section):
    """Decoding."""

    encodings: Literal["auto", "utf-8"] = identity("How encodings are found.", "编码识别方式。", default="auto")
    max_line_bytes: Bytes = identity(
        "What a longer line is in is dropped, or the line is split.",
        "含有更长行的文档会被丢弃，或将该行拆开。",
        unit="bytes",
        default=1_000_000,
    )
    long_lines: Literal["drop", "split"] = identity(
        "Whether lines that are too long are split at the end of a sentence, or what they are in is dropped; lines of pages are kept.",
        "过长的行是在句末拆开，还是丢弃其所在的文档；网页的行在拆分时保持原样。",
        default="drop",
    )
    max_document_bytes: Bytes = identity(
        "A longer text becomes several documents, cut between paragraphs; a longer page is dropped.",
        "更长的文本会在段落之间切成多篇文档；更长的网页会被丢弃。",
        unit="bytes",
        default=20_000_000,
    )
    bad_rows: Literal["quarantine", "refuse"] = identity(
        "Whether rows and files that cannot be read are listed in quarantine.jsonl and counted, or end the run.",
        "无法读取的行和文件是记入 quarantine.jsonl 并计数，还是终止运行。",
        default="quarantine",
    )
    bad_rows_max: float = identity(
        "Share of the rows of a source that may be unreadable before the run ends all the same.",
        "某来源中允许无法读取的行所占的比例；超过则仍然终止运行。",
        ge=0,
        le=1,
        default=0.01,
    )
    fix_mojibake: Literal["never", "suspected"] = identity("When text decoded twice is repaired.", "何时修复乱码。", default="suspected")
