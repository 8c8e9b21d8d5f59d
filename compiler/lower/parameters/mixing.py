"""Parameters of filter, mix and split."""

from compiler.spec import Spec
from runtime.contracts import filter, mix, split


def filter_parameters(spec: Spec) -> filter.Filter:
    settings = spec.data.pretrain.filter
    return filter.Filter(languages=settings.languages, deny=settings.deny, allow=settings.allow)


def mix_parameters(spec: Spec) -> mix.Mix:
    corpus = spec.data.pretrain
    sources = {name: mix.MixSource(weight=source.weight, synthetic=source.synthetic) for name, source in corpus.sources.items()}
    settings = corpus.mix
    return mix.Mix(
        sources=sources,
        budget_bytes=settings.budget_bytes,
        epochs_max=settings.epochs_max,
        synthetic_max=settings.synthetic_max,
        seed=spec.seed,
    )


def split_parameters(spec: Spec) -> split.Split:
    settings = spec.data.pretrain.split
    return split.Split(validation=settings.validation, by=settings.by, seed=spec.seed)
