"""There must be text, and it must survive to the end."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from compiler.diagnostics import Diagnostic
from compiler.source import Path, SourceTree
from compiler.spec import Spec
from compiler.validate.rules.files import missing_file, missing_template
from compiler.validate.rules.registry import Rules

RULES = Rules()

_SOURCES: tuple[Path, Path] = (("data", "pretrain", "sources"), ("data", "instruct", "sources"))


def _both(spec: Spec) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    yield _SOURCES[0], spec.data.pretrain.sources
    yield _SOURCES[1], spec.data.instruct.sources


@RULES.needing("data")
def some_source(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for path, sources in _both(spec):
        if not sources:
            yield Diagnostic("MS0321", "no source is given", path=path, reason="there would be nothing to train on", fix="add a source")


@RULES.needing("data")
def some_weight(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for path, sources in _both(spec):
        if sources and not any(source.weight for source in sources.values()):
            yield Diagnostic(
                "MS0323",
                "all weights are 0",
                path=path,
                reason="the mix would be empty",
                fix="give at least one source a positive weight",
            )


@RULES.needing("data")
def source_exists(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    for path, sources in _both(spec):
        for name, source in sources.items():
            reason = f"source {name} would be missing from the mix"
            yield from missing_file(tree, source.path, (*path, name, "path"), "MS0322", reason)


@RULES.needing("data")
def source_named_once(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for path, sources in _both(spec):
        seen: dict[str, PurePosixPath] = {}
        for name, source in sources.items():
            own = PurePosixPath(source.path)
            other = next((other for other, read in seen.items() if own.is_relative_to(read) or read.is_relative_to(own)), None)
            seen[name] = own
            if other is not None:
                yield Diagnostic(
                    "MS0330",
                    f"source {other} reads {source.path} too"
                    if seen[other] == own
                    else f"source {other} reads {seen[other]}, which overlaps",
                    path=(*path, name, "path"),
                    reason="deduplication would leave one of the two empty, and the weights would mean nothing",
                    fix="remove one of the two sources, or give each a folder of its own",
                )


@RULES.needing("data")
def text_field_fits_the_format(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for name, source in spec.data.pretrain.sources.items():
        rows = source.format in ("jsonl", "json")
        if rows != (source.text_field is not None):
            wanted = f"{source.format} needs a text_field" if rows else f"{source.format} has no fields"
            yield Diagnostic(
                "MS0324",
                wanted,
                path=(*_SOURCES[0], name, "text_field"),
                reason="it decides which field of a row is the text; nothing else reads it",
                fix="add `text_field: text`" if rows else "remove text_field",
            )


@RULES.needing("data")
def source_survives_the_filter(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    kept = spec.data.pretrain.filter.languages
    for name, source in spec.data.pretrain.sources.items():
        if kept and source.language and source.language not in kept:
            yield Diagnostic(
                "MS0333",
                f"the filter keeps {', '.join(kept)}, but the source is in {source.language}",
                path=(*_SOURCES[0], name, "language"),
                reason="every document of the source would be dropped",
                fix=f"add {source.language} to data.pretrain.filter.languages, or remove the source",
            )


@RULES.needing("data")
def synthetic_share(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    sources = spec.data.pretrain.sources.values()
    total = sum(source.weight for source in sources)
    share = sum(source.weight for source in sources if source.synthetic) / total if total else 0.0
    limit = spec.data.pretrain.mix.synthetic_max
    if share > limit:
        yield Diagnostic(
            "MS0332",
            f"the weights ask for {share:.0%} synthetic text, but at most {limit:.0%} is allowed",
            path=("data", "pretrain", "mix", "synthetic_max"),
            reason="a model trained mostly on the output of models loses variety",
            fix="lower the weights of synthetic sources",
        )


@RULES.needing("data")
def rules_have_a_language(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for language in spec.data.pretrain.clean.rules:
        if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z]+)*", language):
            yield Diagnostic(
                "MS0206",
                f"{language} is no language tag",
                path=("data", "pretrain", "clean", "rules", language),
                reason="no document has this language, so the rules would apply to none",
                fix="write a language tag such as en or zh",
            )


@RULES.needing("data")
def source_names_are_plain(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for path, sources in _both(spec):
        for name in sources:
            if not name.isprintable() or re.search(r"^$|[\s./\\\[\]]", name):
                yield Diagnostic(
                    "MS0206",
                    f"{name!r} is no name for a source",
                    path=(*path, name),
                    reason="the name is part of paths of keys, in metrics and in overrides",
                    fix="write a name without blanks, dots, slashes and brackets",
                )


@RULES.needing("data")
def perplexity_is_not_built(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.data.pretrain.clean.perplexity is not None:
        yield Diagnostic(
            "MS0325",
            "the perplexity sieve is not built in this version",
            path=("data", "pretrain", "clean", "perplexity"),
            reason="no language model is there to score documents; the limit would be ignored",
            fix="write null; the quality rules of data.pretrain.clean.rules stay in force",
            suggestion="null",
        )


@RULES.needing("data")
def expressions_compile(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    filters = spec.data.pretrain.filter
    for field, expressions in (("deny", filters.deny), ("allow", filters.allow)):
        for index, expression in enumerate(expressions):
            try:
                re.compile(expression)
            except re.error as error:
                yield Diagnostic(
                    "MS0326",
                    f"{expression!r}: {error}",
                    path=("data", "pretrain", "filter", field, index),
                    reason="the filter stage would fail on its first document",
                    fix="correct the regular expression; a literal ( . [ needs a backslash",
                )


@RULES.needing("data")
def values_written_once(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    filters = spec.data.pretrain.filter
    for field, values in (("languages", filters.languages), ("deny", filters.deny), ("allow", filters.allow)):
        yield from repeated(values, ("data", "pretrain", "filter", field))


@RULES.needing("data")
def template_exists(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    yield from missing_template(tree, spec.data.instruct.template, ("data", "instruct", "template"))


def repeated(values: Sequence[object], path: Path) -> Iterator[Diagnostic]:
    """A fault for each value of a list that was there before."""
    for index, value in enumerate(values):
        if value in values[:index]:
            yield Diagnostic(
                "MS0330",
                f"{value} is written twice",
                path=(*path, index),
                reason="the second one changes nothing but the key of the stage",
                fix="remove it",
            )
