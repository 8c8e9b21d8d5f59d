"""Evaluation and comparison must have what they measure."""

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from compiler.diagnostics import Diagnostic
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.spec.delivery import Metric
from compiler.validate import suggest
from compiler.validate.rules.data import repeated
from compiler.validate.rules.files import missing_plain_file, missing_template
from compiler.validate.rules.registry import Rules

RULES = Rules()

_SUITE_OF = {"perplexity": "perplexity", "bits_per_byte": "perplexity", "exact_match": "core", "answer_loss": "core"}


@RULES.needing("evaluation")
def some_suite(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    suites = spec.evaluation.suites
    if suites.perplexity is None and suites.core is None:
        yield Diagnostic(
            "MS0382",
            "no suite is given",
            path=("evaluation", "suites"),
            reason="nothing would be scored",
            fix="add `perplexity: {split: validation}`",
        )


@RULES.needing("evaluation")
def metrics_have_their_suite(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for index, metric in enumerate(spec.evaluation.metrics):
        suite = _SUITE_OF[metric]
        if getattr(spec.evaluation.suites, suite) is None:
            yield Diagnostic(
                "MS0383",
                f"{metric} is measured by the suite {suite}, which is not given",
                path=("evaluation", "metrics", index),
                reason="the metric would be missing from every result",
                fix=f"add evaluation.suites.{suite}, or remove the metric",
            )
    yield from repeated(spec.evaluation.metrics, ("evaluation", "metrics"))


@RULES.needing("evaluation")
def case_files_exist(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    core = spec.evaluation.suites.core
    if core is not None:
        above = ("evaluation", "suites", "core")
        yield from missing_plain_file(tree, core.cases, (*above, "cases"), "MS0381", "there would be nothing to answer")
        yield from missing_template(tree, core.template, (*above, "template"))


@RULES.needing("evaluation", "data")
def one_template(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    core, trained = spec.evaluation.suites.core, spec.data.instruct.template
    if core is not None and core.template != trained:
        yield Diagnostic(
            "MS0388",
            f"evaluated with {core.template}, but trained with {trained}",
            path=("evaluation", "suites", "core", "template"),
            reason="the model would be asked in a form that it never saw, and the scores would be too low",
            fix=f"use {trained}",
            suggestion=trained,
        )


@RULES.needing("evaluation", "model")
def answers_fit_the_window(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    core, window = spec.evaluation.suites.core, spec.model.seq_length
    if core is not None and core.max_new_tokens >= window:
        yield Diagnostic(
            "MS0389",
            f"answers of {core.max_new_tokens} tokens leave no room for a question in {window}",
            path=("evaluation", "suites", "core", "max_new_tokens"),
            reason="every prompt would be cut away",
            fix=f"choose less than model.seq_length = {window}",
        )


@RULES.needing("compare", "evaluation")
def tolerances_have_a_metric(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for name, tolerance in spec.compare.tolerance.items():
        path = ("compare", "tolerance", name)
        if name not in spec.evaluation.metrics:
            known = get_args(Metric)
            meant = suggest.closest(name, known)
            hint = f"add {name} to evaluation.metrics" if name in known else f"did you mean {meant}?" if meant else ""
            yield Diagnostic(
                "MS0384",
                f"{name} is not a metric of this experiment",
                path=path,
                reason="the limit would guard nothing",
                fix=hint or f"known: {', '.join(known)}",
                suggestion=meant or "",
            )
        if tolerance.relative is None and tolerance.absolute is None:
            yield Diagnostic("MS0384", "no limit is given", path=path, fix="add `relative: 0.01` or `absolute: 0.0`")


@RULES.needing("compare")
def gate_has_a_baseline(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.compare.gate and spec.compare.baseline is None:
        yield Diagnostic(
            "MS0385",
            "the gate has nothing to compare with",
            path=("compare", "gate"),
            reason="it would pass whatever the scores are",
            fix="set compare.baseline, or gate: false",
        )


@RULES.needing("compare", "name")
def baseline_exists(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    name, root = spec.compare.baseline, Path(tree.root)
    if name is None:
        return
    experiments = {file.stem for file in (root / "specs" / "experiment").glob("*.yaml")}
    known = experiments | {file.stem for file in (root / "baselines").glob("*.json")}
    if name == spec.name or name not in known:
        meant = suggest.closest(name, known - {spec.name})
        yield Diagnostic(
            "MS0386",
            f"{name} is this experiment" if name == spec.name else f"no experiment and no file of baselines/ is named {name}",
            path=("compare", "baseline"),
            reason="there would be nothing to compare with",
            fix=f"did you mean {meant}?" if meant and name != spec.name else "make one with `mindspec baseline set`",
        )
