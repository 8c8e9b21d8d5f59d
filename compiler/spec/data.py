"""From raw text to training rows."""

from typing import Annotated, Literal

from pydantic import Field

from compiler.spec.declare import Bytes, Integer, Items, Label, Limited, Named, Section, Text, identity, presentation, section

Share = Annotated[float, Field(gt=0, lt=1)]
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


class Clean(Section):
    """Markup, characters and quality rules."""

    html: Literal["main_content", "none"] = identity(
        "What is kept of a page: its main content, or all of its text.", "网页保留的内容：正文或全部文字。", default="main_content"
    )
    normalization: Literal["none", "cjk", "nfkc"] = identity(
        "Unicode folding; cjk folds full-width letters and digits and keeps Chinese punctuation.",
        "Unicode 归一化；cjk 折叠全角字母数字并保留中文标点。",
        default="none",
    )
    rules: Named[Literal["gopher", "chinese_basic", "none"]] = identity("Quality rules per language.", "各语言的质量规则。", default={})
    perplexity: float | None = identity(
        "Documents above this perplexity are dropped; null switches the sieve off.", "困惑度上限；null 表示不筛选。", default=None
    )


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


class Filter(Section):
    """Languages and topics."""

    languages: Items[Language] = identity("Languages kept; empty keeps all.", "保留的语言；空表示全部。", default=())
    deny: Items[Text] = identity("Regular expressions; a document that matches one is dropped.", "正则表达式；匹配则丢弃。", default=())
    allow: Items[Text] = identity(
        "Regular expressions; when given, a document must match one.", "正则表达式；给出时必须匹配其一。", default=()
    )


class Mix(Section):
    """Sources by weight."""

    budget_bytes: Bytes = identity("UTF-8 bytes of text in all.", "文本总量（UTF-8 字节）。", unit="bytes")
    epochs_max: Integer = identity("How often one source may be repeated.", "单个来源最多重复次数。", ge=1, default=1)
    synthetic_max: float = identity("Largest share of synthetic text.", "合成数据的最大比例。", ge=0, le=1, default=0.75)


class DocumentSplit(Section):
    """Held-out documents."""

    validation: Share = identity("Share of documents held out.", "验证集比例。", default=0.02)
    by: Literal["document"] = identity("What is never divided.", "不可拆分的单位。", default="document")


class PretrainCorpus(Section):
    """The corpus of pre-training."""

    sources: Named[Source] = section("Raw corpora by name.", "语料来源（按名称）。")
    ingest: Ingest = section("Decoding.", "读取与解码。", default=Ingest())
    clean: Clean = section("Cleaning.", "清洗。", default=Clean())
    dedup: Dedup = section("Deduplication.", "去重。", default=Dedup())
    filter: Filter = section("Filtering.", "过滤。", default=Filter())
    mix: Mix = section("Mixing.", "混合。")
    split: DocumentSplit = section("Validation set.", "验证集划分。", default=DocumentSplit())


class InstructSource(Section):
    """One set of instruction rows."""

    path: Text = identity("File or folder, relative to the project root.", "文件或文件夹，相对于项目根目录。")
    format: Literal["alpaca", "messages", "sharegpt"] = identity("Shape of a row.", "样本格式。")
    weight: float = identity("Share of the rows, relative to the other sources.", "权重（相对值）。", ge=0, default=1.0)
    licence: str = presentation("Licence of the text, for the record.", "文本的许可证（用于记录）。", default="")
    date: str = presentation("Version or date of the text, for the record.", "文本的版本或日期（用于记录）。", default="")


class RowSplit(Section):
    """Held-out rows."""

    validation: Share = identity("Share of rows held out.", "验证集比例。", default=0.05)
    by: Literal["row"] = identity("What is never divided.", "不可拆分的单位。", default="row")


class InstructRows(Section):
    """The rows of fine-tuning."""

    sources: Named[InstructSource] = section("Instruction data by name.", "指令数据来源（按名称）。")
    template: Label = identity("Chat template: a file of specs/template.", "对话模板（specs/template 下的文件）。")
    truncation: Literal["middle", "none"] = identity(
        "Rows that are too long: cut in the middle of the prompt, or dropped.", "过长样本：截去提示中段，或丢弃。", default="middle"
    )
    train_on: Literal["assistant"] = identity("Role whose tokens are trained.", "计算损失的角色。", default="assistant")
    split: RowSplit = section("Validation set.", "验证集划分。", default=RowSplit())


class Data(Section):
    """All text."""

    pretrain: PretrainCorpus = section("Corpus of pre-training.", "预训练语料。")
    instruct: InstructRows = section("Rows of fine-tuning.", "微调数据。")
