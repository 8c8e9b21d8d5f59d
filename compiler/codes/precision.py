"""Numeric types, loss scale and accumulation."""

from compiler.codes.code import Code

CODES = {
    "MS0305": Code("numeric type the device cannot compute"),
    "MS0350": Code("loss scale does not fit"),
    "MS0352": Code("accumulation is not built"),
    "MS0353": Code("loss scale is not built"),
}
