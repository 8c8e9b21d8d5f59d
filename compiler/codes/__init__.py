"""Every code of a diagnostic, by area: one file for each, so that a code is declared in one place."""

from compiler.codes import composing, data, delivery, layout, model, precision, project, structure, training
from compiler.codes.code import Code

CODES: dict[str, Code] = {
    **project.CODES,
    **composing.CODES,
    **structure.CODES,
    **model.CODES,
    **precision.CODES,
    **data.CODES,
    **training.CODES,
    **layout.CODES,
    **delivery.CODES,
}

__all__ = ["CODES", "Code"]
