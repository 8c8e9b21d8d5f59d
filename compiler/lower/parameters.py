"""Plan -> the parameter record of each stage that has one. What is not in a record cannot reach a stage."""

from collections.abc import Callable
from typing import Any

from compiler.spec import Spec
from runtime.contracts import clean, dedup, evaluate, export, filter, format, ingest, merge, mix, pack, report, split, tokenizer


def _ingest(spec: Spec) -> ingest.Ingest:
    corpus = spec.data.pretrain
    sources = {
        name: ingest.Source(
            path=source.path, format=source.format, text_field=source.text_field, language=source.language, domain=source.domain
        )
        for name, source in corpus.sources.items()
    }
    settings = corpus.ingest
    return ingest.Ingest(
        sources=sources, encodings=settings.encodings, max_line_bytes=settings.max_line_bytes, fix_mojibake=settings.fix_mojibake
    )


def _clean(spec: Spec) -> clean.Clean:
    settings = spec.data.pretrain.clean
    return clean.Clean(html=settings.html, normalization=settings.normalization, rules=dict(settings.rules))


def _dedup(spec: Spec) -> dedup.Dedup:
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


def _filter(spec: Spec) -> filter.Filter:
    settings = spec.data.pretrain.filter
    return filter.Filter(languages=settings.languages, deny=settings.deny, allow=settings.allow)


def _mix(spec: Spec) -> mix.Mix:
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


def _split(spec: Spec) -> split.Split:
    settings = spec.data.pretrain.split
    return split.Split(validation=settings.validation, by=settings.by, seed=spec.seed)


def _tokenizer(spec: Spec) -> tokenizer.Tokenizer:
    settings, special = spec.tokenizer, spec.tokenizer.special_tokens
    return tokenizer.Tokenizer(
        kind=settings.kind,
        model_type=settings.model_type,
        vocab_size=settings.vocab_size,
        character_coverage=settings.character_coverage,
        byte_fallback=settings.byte_fallback,
        special_tokens=tokenizer.SpecialTokens(pad=special.pad, bos=special.bos, eos=special.eos, user=special.user),
    )


def _pack(spec: Spec) -> pack.Pack:
    settings = spec.pack
    return pack.Pack(seq_length=spec.model.seq_length, shards=settings.shards, documents=settings.documents, tail=settings.tail)


def _format(spec: Spec) -> format.Format:
    settings = spec.data.instruct
    sources = {
        name: format.InstructSource(path=source.path, format=source.format, weight=source.weight)
        for name, source in settings.sources.items()
    }
    return format.Format(
        sources=sources,
        truncation=settings.truncation,
        train_on=settings.train_on,
        validation=settings.split.validation,
        by=settings.split.by,
        seq_length=spec.model.seq_length,
        seed=spec.seed,
    )


def _merge(spec: Spec) -> merge.Merge:
    assert spec.finetune.lora is not None, "validation lets only LoRA pass"
    return merge.Merge(rank=spec.finetune.lora.rank, alpha=spec.finetune.lora.alpha, dtype="float32")


def _export(spec: Spec) -> export.Export:
    return export.Export(format=spec.export.format, shape=spec.export.shape, dtype=spec.export.dtype, device=spec.device.target)


def _evaluate(spec: Spec) -> evaluate.Evaluate:
    suites = spec.evaluation.suites
    return evaluate.Evaluate(
        perplexity=suites.perplexity and evaluate.Perplexity(split=suites.perplexity.split),
        core=suites.core and evaluate.Core(cases=suites.core.cases, max_new_tokens=suites.core.max_new_tokens),
        metrics=tuple(spec.evaluation.metrics),
        dtype=spec.model.dtype.compute,
        device=spec.device.target,
        seed=spec.seed,
    )


def _report(spec: Spec) -> report.Report:
    return report.Report(experiment=spec.name)


BUILDERS: dict[str, Callable[[Spec], Any]] = {
    "ingest": _ingest,
    "clean": _clean,
    "dedup": _dedup,
    "filter": _filter,
    "mix": _mix,
    "split": _split,
    "tokenizer": _tokenizer,
    "pack-pretrain": _pack,
    "format": _format,
    "pack-instruct": _pack,
    "merge": _merge,
    "export": _export,
    "evaluate": _evaluate,
    "report": _report,
}
