"""Devices and how work is divided over them."""

from compiler.codes.code import Code

CODES = {
    "MS0361": Code("layout does not match the devices"),
    "MS0362": Code("layout is not built"),
    "MS0363": Code("pipeline does not fit"),
    "MS0364": Code("tensor parallelism does not fit"),
    "MS0365": Code("device list does not match the count"),
}
