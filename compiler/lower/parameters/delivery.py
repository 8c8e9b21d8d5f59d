"""Parameters of what follows training."""

from compiler.lower import present
from compiler.spec import Spec
from runtime.contracts import evaluate, export, merge, report


def merge_parameters(spec: Spec) -> merge.Merge:
    assert spec.finetune.lora is not None, "validation lets only LoRA pass"
    return merge.Merge(rank=spec.finetune.lora.rank, alpha=spec.finetune.lora.alpha, dtype="float32")


def export_parameters(spec: Spec) -> export.Export:
    return export.Export(format=spec.export.format, shape=spec.export.shape, dtype=spec.export.dtype, device=spec.device.target)


def evaluate_parameters(spec: Spec) -> evaluate.Evaluate:
    suites = spec.evaluation.suites
    return evaluate.Evaluate(
        perplexity=suites.perplexity and evaluate.Perplexity(split=suites.perplexity.split),
        core=suites.core and evaluate.Core(cases=suites.core.cases, max_new_tokens=suites.core.max_new_tokens),
        metrics=tuple(spec.evaluation.metrics),
        dtype=spec.model.dtype.compute,
        device=spec.device.target,
        seed=spec.seed,
    )


def report_parameters(spec: Spec) -> report.Report:
    optional = tuple(contract.name for contract in present.present(spec) if contract.optional)
    return report.Report(experiment=spec.name, optional=optional)
