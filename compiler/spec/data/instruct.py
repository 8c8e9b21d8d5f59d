"""The rows of fine-tuning."""

from typing import Annotated, Literal

from pydantic import Field

from compiler.spec.declare import Index, Label, Limited, Named, Section, Text, Weight, identity, presentation, section

Share = Annotated[float, Field(gt=0, lt=1)]
Role = Literal["system", "user", "assistant", "tool", "function_call"]


class InstructSource(Section):
    """One set of instruction rows."""

    path: Text = identity(
        "File or folder, relative to the project root: .jsonl or .json (an array of rows), also with .gz or .zst behind it.",
        "文件或文件夹，相对于项目根目录：.jsonl 或 .json（由样本组成的数组），也可再加 .gz 或 .zst。",
    )
    format: Literal["alpaca", "messages", "sharegpt"] = identity("Shape of a row.", "样本格式。")
    fields: Named[Text] = identity(
        "Fields that the rows name otherwise: name in the format -> name in the rows.",
        "样本中名称不同的字段：格式中的名称 -> 样本中的名称。",
        default={},
    )
    roles: Named[Role] = identity(
        "Tags of turns that the format does not know: tag in the rows -> role; a turn of function_call is an answer that calls tools.",
        "格式不认识的对话标签：样本中的标签 -> 角色；function_call 表示调用工具的回答。",
        default={},
    )
    weight: Weight | None = identity(
        "Share of the training rows, relative to the other sources; where none has one, every row is used once. 0 leaves a source out.",
        "训练样本的份额（与其他来源相比）；所有来源都不写时，每个样本用一次。0 表示不使用该来源。",
        default=None,
    )
    synthetic: bool = identity(
        "Whether a model wrote the rows; those of a recipe are counted so in any case.",
        "样本是否由模型生成；配方生成的样本总是计入。",
        default=False,
    )
    licence: str = presentation("Licence of the text, for the record.", "文本的许可证（用于记录）。", default="")
    date: str = presentation("Version or date of the text, for the record.", "文本的版本或日期（用于记录）。", default="")


class RowSplit(Section):
    """Held-out rows."""

    validation: Share = identity("Share of rows held out.", "验证集比例。", default=0.05)
    by: Literal["row"] = identity("What is never divided.", "不可拆分的单位。", default="row")


class Decontaminate(Section):
    """Rows that hold text of the core cases are dropped."""

    ngram: Limited = identity(
        "Tokens of a passage that counts as text of a case: words, or characters of scripts without blanks.",
        "算作用例原文的片段长度（词数；无空格文字按字符数）。",
        unit="tokens",
        ge=5,
        le=100,
        default=13,
    )


class InstructRows(Section):
    """The rows of fine-tuning."""

    sources: Named[InstructSource] = section(
        "Instruction data by name; null takes an inherited one out.", "指令数据来源（按名称）；null 表示去掉继承的来源。"
    )
    template: Label = identity("Chat template: a file of specs/template.", "对话模板（specs/template 下的文件）。")
    truncation: Literal["middle", "oldest", "none"] = identity(
        "Rows that are too long: cut in the middle of the prompt, or first rid of their oldest exchanges, or dropped.",
        "过长样本：截去提示中段，或先去掉最早的几轮对话，或丢弃。",
        default="middle",
    )
    train_on: Literal["assistant", "last"] = identity(
        "What is trained: all answers of a row, or its last one.", "计算损失的部分：样本的全部回答，或仅最后一个回答。", default="assistant"
    )
    bad_rows: Literal["refuse", "quarantine"] = identity(
        "Whether rows that cannot be used end the run, or are listed in quarantine.jsonl and counted.",
        "无法使用的样本是终止运行，还是列入 quarantine.jsonl 并计数。",
        default="refuse",
    )
    decontaminate: Decontaminate | None = section(
        "Rows that hold text of the core cases are dropped; null keeps them.", "丢弃含有核心用例原文的样本；null 表示不检查。", default=None
    )
    synthetic_max: float = identity(
        "Largest share of training rows from synthetic sources; more are left out.",
        "训练样本中合成来源的最大比例；超出的样本不使用。",
        ge=0,
        le=1,
        default=0.75,
    )
    long_from: Index = identity(
        "Rows of so many tokens and more are also counted apart; 0: half of a row.",
        "达到该长度的样本另行统计；0 表示半行。",
        unit="tokens",
        default=0,
    )
    split: RowSplit = section("Validation set.", "验证集划分。", default=RowSplit())
