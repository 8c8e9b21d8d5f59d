"""The rows of fine-tuning."""

from typing import Annotated, Literal

from pydantic import Field

from compiler.spec.declare import Label, Named, Section, Text, identity, presentation, section

Share = Annotated[float, Field(gt=0, lt=1)]


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
