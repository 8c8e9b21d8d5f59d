"""The project's files, experiments and this machine."""

from compiler.codes.code import Code

CODES = {
    "MS0001": Code("unknown experiment"),
    "MS0002": Code("name used by two experiments"),
    "MS0003": Code("experiment without a proper name"),
    "MS0004": Code("no specs folder"),
    "MS0021": Code("no lock file"),
    "MS0022": Code("selection cannot be read"),
    "MS0023": Code("mindspore and mindformers do not match"),
    "MS0024": Code("installed version is not the locked one"),
    "MS0025": Code("device is not usable here"),
    "MS0026": Code("library is not locked"),
    "MS0027": Code("template cannot be used"),
    "MS0028": Code("file cannot be read"),
    "MS0031": Code("no such record"),
    "MS0032": Code("no such revision"),
    "MS0033": Code("improper name"),
}
