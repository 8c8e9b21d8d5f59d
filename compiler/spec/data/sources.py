"""Where text of pre-training comes from, and how it is decoded."""

from typing import Annotated, Literal

from pydantic import Field

from compiler.spec.declare import Bytes, Label, Section, Text, identity, presentation

Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z]+)*$")]


class Source(Section):
    """One raw corpus of text."""

    path: Text = identity("File or folder, relative to the project root.", "文件或文件夹，相对于项目根目录。")
    format: Literal["text", "html", "markdown", "jsonl", "json"] = identity("How the files are read.", "文件格式。")
    text_field: Text | None = identity(
        "Field that holds the text; for jsonl and json.", "存放正文的字段（用于 jsonl 和 json）。", default=None
    )
    language: Language | None = identity(
        "Language of all documents; null detects it per document.", "全部文档的语言；null 表示逐篇识别。", default=None
    )
    domain: Label = identity("Subject, for the report on the mix.", "领域，用于混合比例报告。", default="general")
    weight: float = identity("Share of the mix, relative to the other sources.", "混合权重（相对值）。", ge=0, default=1.0)
    synthetic: bool = identity("Whether a model wrote the text.", "文本是否由模型生成。", default=False)
    licence: str = presentation("Licence of the text, for the record.", "文本的许可证（用于记录）。", default="")
    date: str = presentation("Version or date of the text, for the record.", "文本的版本或日期（用于记录）。", default="")


class Ingest(Section):
    """Decoding."""

    encodings: Literal["auto", "utf-8"] = identity("How encodings are found.", "编码识别方式。", default="auto")
    max_line_bytes: Bytes = identity("A file with a longer line is dropped.", "含有更长行的文件会被丢弃。", unit="bytes", default=1_000_000)
    fix_mojibake: Literal["never", "suspected"] = identity("When text decoded twice is repaired.", "何时修复乱码。", default="suspected")
