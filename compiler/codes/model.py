"""The network and its numeric types."""

from compiler.codes.code import Code

CODES = {
    "MS0301": Code("heads do not divide the width"),
    "MS0302": Code("heads do not share key/value heads evenly"),
    "MS0303": Code("odd head dimension"),
    "MS0304": Code("model family is not built"),
}
