"""Evaluation and comparison must have what they measure."""

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from compiler import suggest
from compiler.diagnostics import Diagnostic
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.spec.delivery import Metric
from compiler.validate.rules.data import repeated
from compiler.validate.rules.files import missing_plain_file, missing_template
from compiler.validate.rules.registry import Rules
from compiler.wording import listed, said

RULES = Rules()

_SUITE_OF = {"perplexity": "perplexity", "bits_per_byte": "perplexity", "exact_match": "core", "answer_loss": "core"}


@RULES.needing("evaluation")
def some_suite(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    suites = spec.evaluation.suites
    if suites.perplexity is None and suites.core is None:
        yield Diagnostic(
            "MS0382",
            said("no suite is given", "没有给出评测集"),
            path=("evaluation", "suites"),
            reason=said("nothing would be scored", "将不会有任何得分"),
            fix=said("add `perplexity: {split: validation}`", "请加上 `perplexity: {split: validation}`"),
        )


@RULES.needing("evaluation")
def metrics_have_their_suite(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for index, metric in enumerate(spec.evaluation.metrics):
        suite = _SUITE_OF[metric]
        if getattr(spec.evaluation.suites, suite) is None:
            yield Diagnostic(
                "MS0383",
                said(f"{metric} is measured by the suite {suite}, which is not given", f"{metric} 由评测集 {suite} 测量，但没有给出它"),
                path=("evaluation", "metrics", index),
                reason=said("the metric would be missing from every result", "任何结果中都不会有该指标"),
                fix=said(f"add evaluation.suites.{suite}, or remove the metric", f"请加上 evaluation.suites.{suite}，或删除该指标"),
            )
    yield from repeated(spec.evaluation.metrics, ("evaluation", "metrics"))


@RULES.needing("evaluation")
def case_files_exist(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    core = spec.evaluation.suites.core
    if core is not None:
        above = ("evaluation", "suites", "core")
        reason = said("there would be nothing to answer", "将没有题目可答")
        yield from missing_plain_file(tree, core.cases, (*above, "cases"), "MS0381", reason)
        yield from missing_template(tree, core.template, (*above, "template"))


@RULES.needing("evaluation", "data")
def one_template(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    core, trained = spec.evaluation.suites.core, spec.data.instruct.template
    path = ("evaluation", "suites", "core", "template")
    file, here = tree.place(path).file, f"evaluation: {{suites: {{core: {{template: {trained}}}}}}}"
    own = file.startswith(("specs/experiment/", "<"))
    if core is not None and core.template != trained:
        yield Diagnostic(
            "MS0388",
            said(f"evaluated with {core.template}, but trained with {trained}", f"评测用 {core.template}，训练却用 {trained}"),
            path=path,
            reason=said(
                "the model would be asked in a form that it never saw, and the scores would be too low",
                "提问的格式是模型从未见过的，得分会偏低",
            ),
            fix=said(f"use {trained}", f"请使用 {trained}")
            if own
            else said(f"write {here} in the experiment; others build on {file}", f"请在实验文件中写 {here}；其他实验也以 {file} 为基础"),
            suggestion=trained,
        )


@RULES.needing("evaluation", "model")
def answers_fit_the_window(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    core, window = spec.evaluation.suites.core, spec.model.seq_length
    if core is not None and core.max_new_tokens >= window:
        yield Diagnostic(
            "MS0389",
            said(
                f"answers of {core.max_new_tokens} tokens leave no room for a question in {window}",
                f"窗口为 {window}，{core.max_new_tokens} 个词元的回答没有给问题留下空间",
            ),
            path=("evaluation", "suites", "core", "max_new_tokens"),
            reason=said("every prompt would be cut away", "所有提示都会被截掉"),
            fix=said(f"choose less than model.seq_length = {window}", f"请取小于 model.seq_length = {window} 的值"),
        )


@RULES.needing("compare", "evaluation")
def tolerances_have_a_metric(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for name, tolerance in spec.compare.tolerance.items():
        path = ("compare", "tolerance", name)
        if name not in spec.evaluation.metrics:
            known = get_args(Metric)
            meant = suggest.closest(name, known)
            hint = said(f"known: {', '.join(known)}", f"可用的有：{listed(known).zh}")
            if name in known:
                hint = said(f"add {name} to evaluation.metrics", f"请把 {name} 加入 evaluation.metrics")
            elif meant:
                hint = suggest.did_you_mean(meant)
            yield Diagnostic(
                "MS0384",
                said(f"{name} is not a metric of this experiment", f"{name} 不是本实验的指标"),
                path=path,
                reason=said("the limit would guard nothing", "该容差不会起任何作用"),
                fix=hint,
                suggestion=meant or "",
            )
        if tolerance.relative is None and tolerance.absolute is None:
            fix = said("add `relative: 0.01` or `absolute: 0.0`", "请加上 `relative: 0.01` 或 `absolute: 0.0`")
            yield Diagnostic("MS0384", said("no limit is given", "没有给出容差"), path=path, fix=fix)


@RULES.needing("compare")
def gate_has_a_baseline(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.compare.gate and spec.compare.baseline is None:
        yield Diagnostic(
            "MS0385",
            said("the gate has nothing to compare with", "门禁没有可比较的对象"),
            path=("compare", "gate"),
            reason=said("it would pass whatever the scores are", "无论得分如何都会通过"),
            fix=said("set compare.baseline, or gate: false", "请设置 compare.baseline，或写 gate: false"),
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
            said(f"{name} is this experiment", f"{name} 就是本实验")
            if name == spec.name
            else said(f"no experiment and no file of baselines/ is named {name}", f"没有名为 {name} 的实验，baselines/ 中也没有该文件"),
            path=("compare", "baseline"),
            reason=said("there would be nothing to compare with", "将没有可比较的对象"),
            fix=suggest.did_you_mean(meant)
            if meant and name != spec.name
            else said("make one with `mindspec baseline set`", "请用 `mindspec baseline set` 建立一个"),
            suggestion=meant if meant and name != spec.name else "",
        )
