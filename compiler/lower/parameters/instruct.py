"""Parameters of format."""

from compiler.lower.parameters.synthetic import place_of
from compiler.spec import Spec
from runtime.contracts import format


def format_parameters(spec: Spec) -> format.Format:
    settings = spec.data.instruct
    sources = {
        name: format.InstructSource(
            path=path,
            format=source.format,
            weight=source.weight,
            made=made,
            fields=source.fields,
            roles=source.roles,
            synthetic=source.synthetic,
        )
        for name, source in settings.sources.items()
        for path, made in [place_of(source.path)]
    }
    return format.Format(
        sources=sources,
        truncation=settings.truncation,
        train_on=settings.train_on,
        validation=settings.split.validation,
        by=settings.split.by,
        seq_length=spec.model.seq_length,
        seed=spec.seed,
        bad_rows=settings.bad_rows,
        decontaminate=_decontaminate(spec),
        long_from=settings.long_from,
        synthetic_max=settings.synthetic_max,
    )


def _decontaminate(spec: Spec) -> format.Decontaminate | None:
    settings, core = spec.data.instruct.decontaminate, spec.evaluation.suites.core
    return format.Decontaminate(cases=core.cases, ngram=settings.ngram) if settings and core else None
