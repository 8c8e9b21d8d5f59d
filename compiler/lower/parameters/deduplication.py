"""Parameters of dedup."""

from compiler.spec import Spec
from runtime.contracts import dedup


def dedup_parameters(spec: Spec) -> dedup.Dedup:
    settings = spec.data.pretrain.dedup
    near = settings.documents.near
    return dedup.Dedup(
        lines=dedup.Lines(exact=settings.lines.exact, min_length=settings.lines.min_length),
        documents=dedup.Documents(
            exact=settings.documents.exact,
            near=near and dedup.Near(threshold=near.threshold, permutations=near.permutations, ngram=near.ngram),
        ),
        keep=settings.keep,
    )
