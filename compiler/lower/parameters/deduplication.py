"""Parameters of dedup."""

from compiler.spec import Spec
from runtime.contracts import dedup


def dedup_parameters(spec: Spec) -> dedup.Dedup:
    settings = spec.data.pretrain.dedup
    near, lines = settings.documents.near, settings.lines
    return dedup.Dedup(
        lines=dedup.Lines(exact=lines.exact, min_length=lines.min_length, unit=lines.unit, min_documents=lines.min_documents),
        documents=dedup.Documents(
            exact=settings.documents.exact,
            near=near and dedup.Near(threshold=near.threshold, permutations=near.permutations, ngram=near.ngram),
        ),
        keep=settings.keep,
        priority=tuple(settings.priority),
        decontaminate=_decontamination(spec),
    )


def _decontamination(spec: Spec) -> dedup.Decontamination | None:
    settings = spec.data.pretrain.dedup.decontaminate
    return settings and dedup.Decontamination(
        ngram=settings.ngram, files=tuple(settings.paths), cases=evaluation_cases(spec), action=settings.action
    )


def evaluation_cases(spec: Spec) -> str | None:
    """The file of core cases that deduplication looks for."""
    settings, core = spec.data.pretrain.dedup.decontaminate, spec.evaluation.suites.core
    return core.cases if core and settings and settings.evaluation else None


def evaluation_files(spec: Spec) -> list[str]:
    """All files of evaluation texts that deduplication reads."""
    settings, cases = spec.data.pretrain.dedup.decontaminate, evaluation_cases(spec)
    return [*(settings.paths if settings else ()), *([cases] if cases else ())]
