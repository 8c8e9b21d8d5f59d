"""A given tokenizer must be there, be what it is said to be, and hold the pieces that are asked of it."""

from collections.abc import Iterator
from pathlib import Path as FilePath

from compiler import tokenizer_file, tokenizer_library
from compiler.diagnostics import Diagnostic
from compiler.resolve.template import lacking
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.tokenizer_file import Numbering
from compiler.validate.rules.files import missing_plain_file
from compiler.validate.rules.registry import Rules
from compiler.wording import listed, said
from runtime.contracts.counting import counted
from runtime.contracts.tokenizer import PATTERNS
from runtime.contracts.vocabulary_file import NoVocabulary, Pieces, visible

RULES = Rules()

_PATH, _SPECIAL = ("tokenizer", "path"), ("tokenizer", "special_tokens")
_SHOWN = 12
_TRAINED = ("model_type", "character_coverage", "byte_fallback", "user_defined", "training_bytes")


@RULES.needing("tokenizer")
def file_is_there(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.tokenizer.path is not None:
        reason = said("text could not be cut into pieces", "无法把文本切分为词元")
        yield from missing_plain_file(tree, spec.tokenizer.path, _PATH, "MS0451", reason)


@RULES.needing("tokenizer")
def file_is_a_tokenizer(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    kind = spec.tokenizer.kind
    try:
        tokenizer_file.pieces(spec, FilePath(tree.root))
        why = tokenizer_library.refusal(spec.tokenizer, FilePath(tree.root))
        told = said(f"the library of {kind} does not read the file: {why}", f"{kind} 的库无法读取该文件：{why}") if why else None
    except NoVocabulary as error:
        told = said(f"no vocabulary of kind {kind}: {error}", f"不是 {kind} 类型的词表：{error.zh}")
    if told:
        yield Diagnostic(
            "MS0452",
            told,
            path=_PATH,
            reason=said("its library would refuse it when the stage starts", "阶段启动时相应的库会拒绝该文件"),
            fix=said(
                "sentencepiece is a .model, hf a tokenizer.json, tiktoken a list of base64 pieces and ranks",
                "sentencepiece 对应 .model，hf 对应 tokenizer.json，tiktoken 对应 base64 词元与序号的列表",
            ),
        )


@RULES.needing("tokenizer")
def pattern_is_an_expression(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    settings = spec.tokenizer
    asked = settings.kind == "tiktoken" and settings.path is not None and settings.pattern is not None
    if asked and (why := tokenizer_library.pattern_refusal(str(settings.pattern))):
        yield Diagnostic(
            "MS0459",
            said(f"tiktoken cannot split text by this pattern: {why}", f"tiktoken 无法按该模式切分文本：{why}"),
            path=("tokenizer", "pattern"),
            reason=said("the tokenizer stage would fail, after all cleaning", "分词器阶段会失败，而此时清洗已全部做完"),
            fix=said(
                f"write {', '.join(PATTERNS)}, or correct the regular expression",
                f"请写 {'、'.join(PATTERNS)}，或更正正则表达式",
            ),
        )


@RULES.needing("tokenizer")
def size_is_the_files(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    found = _pieces(spec, tree)
    if found is None or tokenizer_file.resolved(spec.tokenizer, found).taken:  # then the numbers that are told say it
        return
    numbers = _numbering(spec, tree, found)
    sizes = list(dict.fromkeys([numbers.now, numbers.size]))
    if spec.tokenizer.vocab_size not in sizes:
        more = len(sizes) > 1
        yield Diagnostic(
            "MS0453",
            said(
                f"{counted(spec.tokenizer.vocab_size, 'id')}, but the file has {numbers.now}",
                f"写的是 {spec.tokenizer.vocab_size} 个编号，文件中有 {numbers.now} 个",
            ),
            path=("tokenizer", "vocab_size"),
            reason=said(
                "ids run to the largest one, special pieces included; the embedding table would not match",
                "编号数由最大编号决定（含特殊符号）；词嵌入表会与之不符",
            ),
            fix=said(
                f"write {sizes[0]}" + (f", or {sizes[1]} where the pieces that the file has not get numbers" if more else ""),
                f"请写 {sizes[0]}" + (f"；若为文件中没有的符号编号，则写 {sizes[1]}" if more else ""),
            ),
            suggestion=str(sizes[0]),
        )


@RULES.needing("tokenizer")
def pieces_are_there(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    found = _pieces(spec, tree)
    if found is None:
        return
    missing, numbers = tokenizer_file.resolved(spec.tokenizer, found).missing, _numbering(spec, tree, found)
    special = spec.tokenizer.special_tokens
    named = [((*_SPECIAL, name), getattr(special, name)) for name in ("pad", "bos", "eos")]
    for path, text in [*named, *(((*_SPECIAL, "user", index), text) for index, text in enumerate(special.user))]:
        if text in missing:
            known = listed([visible(text) for text in found.special][:_SHOWN]) if found.special else said("none", "没有")
            more = len(found.special) - _SHOWN
            yield Diagnostic(
                "MS0454",
                said(f"{text} is no special piece of the file", f"文件中没有特殊符号 {text}"),
                path=path,
                reason=said(
                    f"it has {known}" + (f" and {more} more" if more > 0 else ""),
                    f"其中有 {known.zh}" + (f" 等，另有 {more} 个" if more > 0 else ""),
                ),
                fix=said(
                    f"use one of those, or number all that are new: {numbers.text}",
                    f"请改用其中之一，或为所有新符号编号：{numbers.text}",
                ),
            )


@RULES.needing("tokenizer")
def numbers_are_free(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    found = _pieces(spec, tree)
    for text, id in tokenizer_file.resolved(spec.tokenizer, found).taken if found else ():
        own = found.special.get(text) if found else None
        numbers = _numbering(spec, tree, found) if found else None
        yield Diagnostic(
            "MS0455",
            said(
                f"{text} cannot be {id}: another piece has that number, or the file gives it another",
                f"{text} 不能编号为 {id}：该编号已被占用，或文件中另有编号",
            ),
            path=(*_SPECIAL, "ids", text),
            reason=said("one id would have two meanings", "一个编号会有两种含义"),
            fix=said(f"take it out: in the file it is {own}", f"请删去：它在文件中的编号是 {own}")
            if own is not None
            else said(f"number all that are new: {numbers and numbers.text}", f"请为所有新符号编号：{numbers and numbers.text}"),
        )


@RULES.needing("tokenizer")
def given_settings_have_a_file(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    """The pattern is tiktoken's, and numbers are those of a file."""
    settings = spec.tokenizer
    tiktoken = settings.kind == "tiktoken"
    if settings.path is not None and tiktoken and settings.pattern is None:
        yield Diagnostic(
            "MS0456",
            said("tiktoken needs to be told how text is split", "tiktoken 需要指明文本的切分方式"),
            path=("tokenizer", "kind"),
            reason=said(
                "a .tiktoken file holds pieces alone; another pattern gives other ids", ".tiktoken 文件只含词元；模式不同则编号不同"
            ),
            fix=said(
                "add tokenizer.pattern: gpt2, cl100k, o200k, qwen, or a regular expression",
                "请添加 tokenizer.pattern：gpt2、cl100k、o200k、qwen 或正则表达式",
            ),
        )
    for field, needed in (("pattern", tiktoken), ("ids", settings.path is not None)):
        value = settings.pattern if field == "pattern" else settings.special_tokens.ids
        if value and not needed:
            yield Diagnostic(
                "MS0456",
                said(f"{field} has no meaning here", f"{field} 在此没有意义"),
                path=("tokenizer", "pattern") if field == "pattern" else (*_SPECIAL, "ids"),
                reason=said(
                    "a pattern is tiktoken's, and pieces are numbered only beside a given file",
                    "pattern 只用于 tiktoken；只有给定文件时才需要为符号编号",
                ),
                fix=said("remove it", "请删除"),
            )


@RULES.needing("tokenizer")
def nothing_is_trained(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    for field in _TRAINED if spec.tokenizer.path is not None else ():
        path = ("tokenizer", field)
        if path in tree.keys and not tree.place(path).file.startswith("specs/tokenizer/"):
            yield Diagnostic(
                "MS0457",
                said(f"{field} does nothing beside tokenizer.path", f"已给出 tokenizer.path，{field} 不起作用"),
                path=path,
                severity="warning",
                reason=said("it is a setting of training, and the tokenizer is given", "它是训练的设置，而分词器是给定的"),
                fix=said("remove it", "请删除"),
            )


@RULES.needing("pack")
def whole_documents_are_padded(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.pack.documents == "whole" and spec.pack.tail == "drop":
        yield Diagnostic(
            "MS0458",
            said("whole documents leave room in their rows, and nothing is dropped", "whole 不切断文档，行内会有空余，且不舍弃任何内容"),
            path=("pack", "tail"),
            reason=said("what a row has left is filled with padding, which no loss counts", "行内空余用填充符补满，且不计入损失"),
            fix=said("write tail: pad", "请写 tail: pad"),
            suggestion="pad",
        )


def _numbering(spec: Spec, tree: SourceTree, found: Pieces) -> Numbering:
    """With what the chat template needs beyond the pieces that the spec names, where that can be read."""
    rows = getattr(spec, "data", None)
    also = lacking(spec, FilePath(tree.root)) if rows is not None else ()
    return tokenizer_file.numbering(spec.tokenizer, found, also)


def _pieces(spec: Spec, tree: SourceTree) -> Pieces | None:
    try:
        return tokenizer_file.pieces(spec, FilePath(tree.root))
    except ValueError:
        return None
