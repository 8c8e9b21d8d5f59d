"""The structure that the schema describes."""

from compiler.codes.code import Code

CODES = {
    "MS0201": Code("unknown key"),
    "MS0202": Code("key is missing"),
    "MS0203": Code("wrong type"),
    "MS0204": Code("value is not one of the allowed"),
    "MS0205": Code("value out of range"),
    "MS0206": Code("malformed value"),
    "MS0207": Code("quoted number"),
    "MS0208": Code("text without quotes"),
}
