"""Every code of a diagnostic, by area: one file for each, so that a code is declared in one place."""

from collections.abc import Mapping

from compiler.codes import (
    cleaning,
    composing,
    data,
    deduplication,
    delivery,
    ingesting,
    instruct,
    layout,
    looking,
    mixing,
    model,
    precision,
    project,
    reading,
    structure,
    synthetic,
    training,
    vocabulary,
)
from compiler.codes.code import Code
from compiler.wording import Said, said

AREAS: tuple[tuple[Said, Mapping[str, Code]], ...] = (
    (said("project and machine", "项目与本机"), project.CODES),
    (said("reading files", "读取文件"), reading.CODES),
    (said("composing with Hydra", "用 Hydra 组合"), composing.CODES),
    (said("structure", "结构"), structure.CODES),
    (said("model", "模型"), model.CODES),
    (said("numeric precision", "数值精度"), precision.CODES),
    (
        said("data and tokenizer", "数据与分词器"),
        {
            **data.CODES,
            **ingesting.CODES,
            **cleaning.CODES,
            **deduplication.CODES,
            **mixing.CODES,
            **vocabulary.CODES,
            **synthetic.CODES,
            **looking.CODES,
            **instruct.CODES,
        },
    ),
    (said("training", "训练"), training.CODES),
    (said("devices and parallel layout", "设备与并行布局"), layout.CODES),
    (said("evaluation and comparison", "评测与比较"), delivery.CODES),
)
CODES: dict[str, Code] = {code: known for _, codes in AREAS for code, known in codes.items()}

__all__ = ["AREAS", "CODES", "Code"]
