"""Parameters of clean."""

from compiler.spec import Spec
from runtime.contracts import clean


def clean_parameters(spec: Spec) -> clean.Clean:
    settings = spec.data.pretrain.clean
    return clean.Clean(html=settings.html, normalization=settings.normalization, rules=dict(settings.rules))
