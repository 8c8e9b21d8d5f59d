"""What is chosen: languages, topics, sources by weight, held-out documents."""

from typing import Annotated, Literal

from pydantic import Field

from compiler.spec.data.sources import Language
from compiler.spec.declare import Bytes, Integer, Items, Section, Text, identity

Share = Annotated[float, Field(gt=0, lt=1)]


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
