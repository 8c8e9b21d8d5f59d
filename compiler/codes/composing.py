"""Reading files and composing them with Hydra."""

from compiler.codes.code import Code

CODES = {
    "MS0101": Code("file is not UTF-8"),
    "MS0102": Code("YAML syntax"),
    "MS0103": Code("key written twice"),
    "MS0104": Code("scalar that readers understand differently"),
    "MS0105": Code("defaults list without _self_"),
    "MS0106": Code("unknown option of a group"),
    "MS0107": Code("override cannot be read"),
    "MS0108": Code("override needs quotes"),
    "MS0109": Code("comma in a single run"),
    "MS0110": Code("value is missing"),
    "MS0111": Code("reference to nothing"),
    "MS0112": Code("value that differs from run to run"),
    "MS0113": Code("composition failed"),
    "MS0114": Code("YAML feature outside a spec"),
    "MS0115": Code("unknown group"),
    "MS0116": Code("group chosen twice"),
    "MS0117": Code("defaults list cannot be read"),
    "MS0118": Code("prefix that does not fit"),
    "MS0119": Code("no such item of a list"),
    "MS0120": Code("setting outside a spec"),
    "MS0121": Code("files that build on each other in a circle"),
}
