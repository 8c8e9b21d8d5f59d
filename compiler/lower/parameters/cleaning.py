"""Parameters of clean and sieve."""

from compiler.spec import Spec
from compiler.spec.data.cleaning import Perplexity, PersonalData
from runtime.contracts import clean, sieve
from runtime.contracts.personal import KINDS, placeholder


def clean_parameters(spec: Spec) -> clean.Clean:
    settings = spec.data.pretrain.clean
    return clean.Clean(
        html=settings.html,
        normalization=settings.normalization,
        rules=dict(settings.rules),
        limits={language: dict(limits) for language, limits in settings.limits.items()},
        boilerplate=settings.boilerplate,
        pii=_placeholders(settings.pii) if settings.pii else {},
        perplexity=_perplexity(settings.perplexity) if settings.perplexity else None,
    )


def sieve_parameters(spec: Spec) -> sieve.Sieve:
    settings = spec.data.pretrain.clean.perplexity
    assert settings, "the stage is there only where the sieve is asked for"
    return sieve.Sieve(reference=settings.reference, order=settings.order)


def _placeholders(settings: PersonalData) -> dict[str, str]:
    asked = settings.model_dump()
    return {kind: settings.placeholders.get(kind, placeholder(kind)) for kind, field in KINDS.items() if asked[field]}


def _perplexity(settings: Perplexity) -> clean.Perplexity:
    return clean.Perplexity(percentile=settings.percentile, limit=settings.limit)
