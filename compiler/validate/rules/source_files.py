"""The files of raw sources: that they are there, that a pattern matches some, and that no two sources read the same ones."""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path as FilePath
from pathlib import PurePosixPath

from compiler.diagnostics import Diagnostic
from compiler.source import Path, SourceTree
from compiler.spec import Spec
from compiler.spec.data.synthetic import recipe_of
from compiler.suggest import did_you_mean
from compiler.validate.rules.data import SOURCES, both
from compiler.validate.rules.files import missing_file
from compiler.validate.rules.registry import Rules
from compiler.wording import Said, said
from runtime.contracts.counting import counted
from runtime.contracts.ingest import COMPRESSED, ROW_ENDINGS, endings_of
from runtime.contracts.patterns import below_fixed, files_below, fixed_folder, is_pattern

RULES = Rules()
_LOOKED_AT = 10_000  # files of a folder whose extensions are told


@RULES.needing("data")
def source_exists(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    for path, sources in both(spec):
        for name, source in sources.items():
            if recipe_of(source.path) is None:
                text, place = path == SOURCES[0], (*path, name, "path")
                pattern = text and is_pattern(source.path)
                faults = list(_missing(tree, fixed_folder(source.path) if pattern else source.path, place))
                endings = endings_of(source.format) if text else ROW_ENDINGS
                yield from faults or (
                    _unmatched(tree, source.path, place) if pattern else _without_files(tree, source.path, endings, place)
                )


@RULES.needing("data")
def source_named_once(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    for path, sources in both(spec):
        seen: dict[str, str] = {}
        for name, source in sources.items():
            other = next((other for other, read in seen.items() if _overlap(tree, source.path, read)), None)
            if other is not None:
                yield _read_twice(other, seen[other], source.path, (*path, name, "path"))
            seen[name] = source.path


@RULES.needing("data")
def delimiter_fits_the_format(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for name, source in spec.data.pretrain.sources.items():
        if source.delimiter is not None and source.format != "csv":
            yield Diagnostic(
                "MS0402",
                said(f"{source.format} has no delimiter", f"{source.format} 没有分隔符"),
                path=(*SOURCES[0], name, "delimiter"),
                reason=said("nothing would read it", "不会有任何代码读取它"),
                fix=said("remove delimiter, or set `format: csv`", "请删除 delimiter，或设置 `format: csv`"),
            )


@RULES.needing("data")
def lines_fit_into_documents(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    ingest = spec.data.pretrain.ingest
    if ingest.max_document_bytes < ingest.max_line_bytes:
        yield Diagnostic(
            "MS0403",
            said(
                f"a document of {counted(ingest.max_document_bytes, 'byte')} is shorter than a line of {ingest.max_line_bytes}",
                f"文档上限 {ingest.max_document_bytes} 字节小于行上限 {ingest.max_line_bytes} 字节",
            ),
            path=("data", "pretrain", "ingest", "max_document_bytes"),
            reason=said("one line that is allowed would be a document that is not", "一行合法的文本就会成为超限的文档"),
            fix=said("raise max_document_bytes, or lower max_line_bytes", "请增大 max_document_bytes，或减小 max_line_bytes"),
        )


@RULES.needing("data")
def files_can_be_divided(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    """Where all files are there: rows of a recipe are not yet."""
    corpus = spec.data.pretrain
    asked = [source.path for name, source in corpus.sources.items() if source.weight or name in corpus.mix.sources]
    if corpus.split.by != "file" or any(recipe_of(path) is not None for path in asked):
        return
    read = list(islice((file for path in asked for file in _read(tree, path)), 2))
    if len(read) == 1:
        yield Diagnostic(
            "MS0435",
            said(f"the corpus is one file, {read[0]}", f"语料只有一个文件：{read[0]}"),
            path=("data", "pretrain", "split", "by"),
            reason=said(
                "a file is on one side only, so either training or validation would be empty",
                "一个文件只属于一侧，因此训练集或验证集会为空",
            ),
            fix=said("write `by: document`, or give the text in several files", "请写 `by: document`，或把文本分成多个文件"),
            suggestion="document",
        )


def _read(tree: SourceTree, path: str) -> Iterator[str]:
    """The files that a source reads, relative to the root of the project."""
    folder = fixed_folder(path)
    if (FilePath(tree.root) / folder).is_file():
        yield folder
        return
    reads = _reads(path)
    yield from (file for file in (f"{folder}/{name}" for name in _names(FilePath(tree.root) / folder)) if reads(file))


def _missing(tree: SourceTree, written: str, path: Path) -> Iterator[Diagnostic]:
    name = path[-2]
    reason = said(f"source {name} would be missing from the mix", f"混合语料中将缺少来源 {name}")
    return missing_file(tree, written, path, "MS0322", reason)


def _unmatched(tree: SourceTree, written: str, path: Path) -> Iterator[Diagnostic]:
    """A fault where no file matches a pattern; what it was meant for is looked for among the files that are there."""
    folder = FilePath(tree.root) / fixed_folder(written)
    pattern = below_fixed(written)
    if any(pattern.fullmatch(name) for name in _names(folder)):
        return
    meant = _meant(folder, written)
    yield Diagnostic(
        "MS0401",
        said(f"{written} matches no file", f"{written} 没有匹配任何文件"),
        path=path,
        reason=said(f"source {path[-2]} would be missing from the mix", f"混合语料中将缺少来源 {path[-2]}"),
        fix=did_you_mean(meant) if meant else _how(written),
        suggestion=meant or "",
    )


def _without_files(tree: SourceTree, written: str, endings: tuple[str, ...], path: Path) -> Iterator[Diagnostic]:
    """A fault where a folder holds no file that would be read."""
    folder = FilePath(tree.root) / written
    if not folder.is_dir() or any(name.lower().endswith(endings) for name in _names(folder)):
        return
    there = sorted({FilePath(name).suffix.lower() for name in islice(_names(folder), _LOOKED_AT)} - {""})
    told, told_zh = (f"; it has {', '.join(there)}", f"；其中有 {'、'.join(there)}") if there else ("", "")
    plain = [ending for ending in endings if not ending.endswith(COMPRESSED)]
    form, form_zh = (
        ("", "") if endings == ROW_ENDINGS else ("set the format that the files have, or ", "请把 format 设为这些文件的格式，或")
    )
    yield Diagnostic(
        "MS0401",
        said(f"{written} has no file that ends in {', '.join(plain)}", f"{written} 中没有以 {'、'.join(plain)} 结尾的文件"),
        path=path,
        reason=said(f"source {path[-2]} would be missing from the mix", f"混合语料中将缺少来源 {path[-2]}"),
        fix=said(
            f"{form}put such files there (`dvc pull`, if they are tracked){told}",
            f"{form_zh}放入此类文件（若由 DVC 跟踪，请运行 `dvc pull`）{told_zh}",
        ),
    )


def _how(written: str) -> Said:
    folder = fixed_folder(written)
    return said(
        f"`*` stays within one folder, `**` stands for any number of them; see what lies in {folder}",
        f"`*` 只匹配一层文件夹之内的名称，`**` 匹配任意层；请查看 {folder} 中有哪些文件",
    )


def _meant(folder: FilePath, written: str) -> str | None:
    """The pattern with the names' own case, or with `**` in front of its last name, where that matches."""
    last = PurePosixPath(written).name
    deeper = str(PurePosixPath(written).parent / "**" / last)
    if any(below_fixed(deeper).fullmatch(name) for name in _names(folder)):
        return deeper
    folded = below_fixed(written, re.IGNORECASE)
    found = min((name for name in _names(folder) if folded.fullmatch(name)), default=None)
    if found is None:
        return None
    suffix = PurePosixPath(found).suffix
    cased = str(PurePosixPath(written).with_suffix(suffix)) if suffix.lower() == PurePosixPath(written).suffix.lower() else ""
    matches = cased != "" and any(below_fixed(cased).fullmatch(name) for name in _names(folder))
    return cased if matches else str(PurePosixPath(fixed_folder(written)) / found)


def _names(folder: FilePath) -> Iterator[str]:
    """The files below a folder as POSIX paths relative to it; what cannot be looked into is the stage's to tell."""
    try:
        yield from (file.relative_to(folder).as_posix() for file in files_below(folder))
    except OSError:
        return


def _overlap(tree: SourceTree, one: str, other: str) -> bool:
    """Whether two paths name the same files. Patterns do where a file matches both; folders do where one is in the other."""
    first, second = PurePosixPath(fixed_folder(one)), PurePosixPath(fixed_folder(other))
    if not (first.is_relative_to(second) or second.is_relative_to(first)):
        return False
    if PurePosixPath(one) == PurePosixPath(other) or not (is_pattern(one) or is_pattern(other)):
        return True
    deeper = max(first, second, key=lambda path: len(path.parts))
    root = FilePath(tree.root)
    files = [str(deeper)] if (root / deeper).is_file() else (f"{deeper}/{name}" for name in _names(root / deeper))
    reads = _reads(one), _reads(other)
    return any(reads[0](file) and reads[1](file) for file in files)


def _reads(path: str) -> Callable[[str], bool]:
    fixed = fixed_folder(path)
    if not is_pattern(path):
        return lambda file: PurePosixPath(file).is_relative_to(fixed)
    pattern = below_fixed(path)
    return lambda file: PurePosixPath(file).is_relative_to(fixed) and pattern.fullmatch(file[len(fixed) + 1 :]) is not None


def _read_twice(other: str, theirs: str, own: str, path: Path) -> Diagnostic:
    return Diagnostic(
        "MS0330",
        said(f"source {other} reads {own} too", f"来源 {other} 也读取 {own}")
        if PurePosixPath(theirs) == PurePosixPath(own)
        else said(f"source {other} reads {theirs}, which overlaps", f"来源 {other} 读取 {theirs}，二者重叠"),
        path=path,
        reason=said(
            "deduplication would leave one of the two empty, and the weights would mean nothing",
            "去重后其中一个来源会变空，权重也失去意义",
        ),
        fix=said("remove one of the two sources, or give each a folder of its own", "请删除其中一个来源，或让二者各用一个文件夹"),
    )
