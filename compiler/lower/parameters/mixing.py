"""Parameters of filter, mix and split."""

from compiler.spec import Spec
from runtime.contracts import filter, mix, split


def filter_parameters(spec: Spec) -> filter.Filter:
    settings = spec.data.pretrain.filter
    topics = {
        name: filter.Topic(any=topic.any, patterns=topic.patterns, none=topic.none, min_hits=topic.min_hits)
        for name, topic in settings.topics.items()
    }
    labelled = settings.classifier
    return filter.Filter(
        languages=settings.languages,
        deny=settings.deny,
        allow=settings.allow,
        topics=topics,
        keep_topics=settings.keep_topics,
        drop_topics=settings.drop_topics,
        classifier=labelled
        and filter.Classifier(rows=labelled.rows, keep=labelled.keep, threshold=labelled.threshold, characters=labelled.characters),
    )


def mix_parameters(spec: Spec) -> mix.Mix:
    settings = spec.data.pretrain.mix
    return mix.Mix(
        sources=_sources(spec),
        budget_bytes=settings.budget_bytes,
        budget_tokens=settings.budget_tokens,
        epochs_max=settings.epochs_max,
        synthetic_max=settings.synthetic_max,
        exhausted=settings.exhausted,
        temperature=settings.temperature,
        bytes_per_token=settings.bytes_per_token,
        bytes_per_token_of=settings.bytes_per_token_of,
        seed=spec.seed,
    )


def _sources(spec: Spec) -> dict[str, mix.MixSource]:
    own = spec.data.pretrain.mix.sources
    return {
        name: mix.MixSource(
            weight=source.weight, synthetic=source.synthetic, **({} if name not in own else own[name].model_dump(include=_AMOUNTS))
        )
        for name, source in spec.data.pretrain.sources.items()
    }


_AMOUNTS = {"epochs", "bytes", "tokens"}


def split_parameters(spec: Spec) -> split.Split:
    settings = spec.data.pretrain.split
    overlap = settings.overlap
    return split.Split(
        validation=settings.validation,
        by=settings.by,
        seed=spec.seed,
        long_bytes=settings.long_bytes,
        overlap=split.Overlap(ngram=overlap.ngram, limit=overlap.limit, above=overlap.above),
    )
