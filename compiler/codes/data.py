"""Data and tokenizer."""

from compiler.codes.code import Code

CODES = {
    "MS0321": Code("no source"),
    "MS0322": Code("source path does not exist"),
    "MS0323": Code("weights are all zero"),
    "MS0324": Code("jsonl without a text field"),
    "MS0325": Code("perplexity is not built", plannable=True),
    "MS0326": Code("regular expression is malformed"),
    "MS0327": Code("vocabulary is too small"),
    "MS0328": Code("special token written twice"),
    "MS0329": Code("template does not exist"),
    "MS0330": Code("value written twice"),
    "MS0331": Code("tokenizer is not built", plannable=True),
    "MS0332": Code("too much synthetic text"),
    "MS0333": Code("source that the filter drops"),
}
