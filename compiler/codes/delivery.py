"""Evaluation and comparison."""

from compiler.codes.code import Code

CODES = {
    "MS0381": Code("evaluation file does not exist"),
    "MS0382": Code("no evaluation suite"),
    "MS0383": Code("metric without its suite"),
    "MS0384": Code("tolerance of an unknown metric"),
    "MS0385": Code("gate without a baseline"),
    "MS0386": Code("baseline does not exist"),
    "MS0387": Code("path outside the project"),
    "MS0388": Code("evaluated with another template"),
    "MS0389": Code("answers do not fit the window"),
    "MS0390": Code("path that holds no data"),
}
