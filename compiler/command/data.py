"""`mindspec data`: what the data stages of an experiment did: the funnel, and examples of what was dropped and kept.

Everything is read from what the stages have written: `metrics/STAGE.json`, and the plain JSON lines of their result folders.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, cast

from compiler.cli import print_json, tell
from compiler.command import data_age, data_rows, data_tables
from compiler.command.metrics_table import console
from compiler.diagnostics import Diagnostic, Faults
from compiler.parse.experiments import names
from compiler.project import Project
from compiler.suggest import closest, did_you_mean
from compiler.wording import Said, in_language, listed, said
from runtime.contracts.base import Contract
from runtime.contracts.registry import BY_NAME, EVERY

JSON = dict[str, Any]
STAGES = tuple(contract.name for contract in EVERY if contract.program.startswith("runtime.data."))
DROPPED, SAMPLE, CLUSTERS = ("dropped.jsonl", "quarantine.jsonl", "contaminated.jsonl"), "sample.jsonl", "clusters.jsonl"
CONTAMINATED = "contaminated"
SHOWN = 10


@dataclass(frozen=True)
class Experiment:
    """A compiled experiment on disk."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    def has(self, stage: str) -> bool:
        """Whether it was compiled with the stage: some are optional."""
        return (self.folder / BY_NAME[stage].config).exists()

    def metrics(self, stage: str) -> JSON | None:
        """What the stage has counted; None where it has not run. Raises Faults for a file that is no JSON object."""
        path = self.folder / BY_NAME[stage].metrics_file
        if not path.exists():
            return None
        return self._object(path, path.read_bytes())

    def rows(self, stage: str, name: str) -> Iterator[JSON]:
        """The rows of one file of the result folder; none where there is no such file. Raises Faults for a line that is no JSON object."""
        path = self.folder / BY_NAME[stage].output / name
        if not path.exists():
            return
        with path.open("rb") as file:
            for line in file:
                yield self._object(path, line)

    def _object(self, path: Path, content: bytes) -> JSON:
        try:
            read: Any = json.loads(content)
        except (ValueError, RecursionError):
            raise Faults([_unreadable(self, path, said("is not JSON", "不是 JSON"))]) from None
        if not isinstance(read, dict):
            raise Faults([_unreadable(self, path, said("holds something else than JSON objects", "的内容不是 JSON 对象"))])
        return cast(JSON, read)


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """NAME, STAGE, and what to look at."""
    sub.add_argument("name", metavar="NAME", help=in_language(said("a compiled experiment", "已编译的实验名")))
    stage = said("a data stage; without one, the funnel over all of them", "数据阶段；省略时显示全部数据阶段的漏斗")
    sub.add_argument("stage", metavar="STAGE", nargs="?", choices=STAGES, help=in_language(stage))
    look = sub.add_mutually_exclusive_group()
    dropped = said("examples of what the stage dropped, all or those of one reason", "该阶段丢弃内容的示例，可只看某个原因")
    look.add_argument("--dropped", nargs="?", const="", metavar="REASON", help=in_language(dropped))
    sample = said(
        f"what the stage kept ({SHOWN} by default), rows with the mask of the loss",
        f"该阶段保留内容的示例（默认 {SHOWN} 个），行数据带损失掩码",
    )
    look.add_argument("--sample", nargs="?", const=str(SHOWN), type=_number, metavar="N", help=in_language(sample))
    clusters = said("groups of duplicates", "重复内容的分组")
    look.add_argument("--clusters", action="store_true", help=in_language(clusters))
    sub.add_argument("--source", metavar="SOURCE", help=in_language(said("of one source alone", "只看一个来源")))


def _number(written: str) -> int:
    if written and not (written.isascii() and written.isdigit() and int(written)):
        raise argparse.ArgumentTypeError(f"a number from 1 is needed, not {written!r}")
    return min(int(written or SHOWN), sys.maxsize)


def run(project: Project, options: argparse.Namespace) -> int:
    """Exit code 1 where a stage has not run. Raises Faults for a name, source or reason that there is not."""
    experiment = Experiment(_folder(project, options.name))
    looked_for = options.dropped is not None or options.sample is not None or options.clusters
    if options.stage is None:
        if looked_for:
            _refuse_without_stage(experiment)
        return _whole_funnel(experiment, options)
    metrics = _ran(experiment, BY_NAME[options.stage])
    sources = data_tables.sources(metrics)
    _known(options.source, sources, "source")
    _tell_age(experiment, [options.stage])
    if not looked_for:
        _show_stage(experiment, options, metrics)
        return 0
    if not (experiment.folder / BY_NAME[options.stage].output).exists():
        raise Faults([_without_result(experiment, options.stage)])
    rows = _chosen(experiment, options, metrics)
    if options.json:
        print_json(rows, indent=2)
    elif rows:
        _show_rows(options, rows)
    else:
        tell(_nothing(options))
    return 0


def _folder(project: Project, name: str) -> Path:
    """Raises Faults for an experiment that was not compiled."""
    folder = project.root / "experiments" / name
    if "/" not in name and name not in (".", "..") and (folder / "config").is_dir():
        return folder
    known = [path.name for path in (project.root / "experiments").glob("*") if (path / "config").is_dir()]
    meant = None if name in names(project.root) else closest(name, known)
    line = f"mindspec compile {name}"
    fix = did_you_mean(meant) if meant else said(f"compile it first: {line}", f"请先编译：{line}")
    message = said(f"experiments/{name} does not exist", f"experiments/{name} 不存在")
    raise Faults([Diagnostic("MS0001", message, fix=fix, suggestion=meant or "")])


def _whole_funnel(experiment: Experiment, options: argparse.Namespace) -> int:
    """Every data stage that has run; exit code 1 where none has."""
    stages = {stage: metrics for stage in STAGES if experiment.has(stage) and (metrics := experiment.metrics(stage)) is not None}
    if not stages:
        raise Faults([_not_run(experiment, BY_NAME["ingest"])])
    _known(options.source, [name for metrics in stages.values() for name in data_tables.sources(metrics)], "source")
    _tell_age(experiment, list(stages))
    if options.json:
        print_json(stages, indent=2)
    else:
        for table in data_tables.whole(stages, options.source):
            console().print(table)
    return 0


def _tell_age(experiment: Experiment, stages: Sequence[str]) -> None:
    if older := data_age.told(experiment.folder, stages):
        tell(older)


def _show_stage(experiment: Experiment, options: argparse.Namespace, metrics: JSON) -> None:
    if options.json:
        print_json(metrics, indent=2)
        return
    for table in data_tables.stage(options.stage, metrics, options.source):
        console().print(table)
    looks = [flag for flag, names in (("--dropped", DROPPED), ("--sample", (SAMPLE,)), ("--clusters", (CLUSTERS,))) if any(
        (experiment.folder / BY_NAME[options.stage].output / name).exists() for name in names
    )]  # fmt: skip
    if looks:
        line = f"mindspec data {experiment.name} {options.stage} {' | '.join(looks)}"
        tell(said(f"examples: {line}", f"查看示例：{line}"))


def _chosen(experiment: Experiment, options: argparse.Namespace, metrics: JSON) -> list[JSON]:
    """The rows that are asked for. Raises Faults for a reason that the stage does not give."""
    if options.clusters:
        clusters = experiment.rows(options.stage, CLUSTERS)
        return [one for one in clusters if options.source is None or any(of_source(row, options.source) for row in one.get("members", ()))]
    if options.sample is not None:
        rows = [row for row in experiment.rows(options.stage, SAMPLE) if of_source(row, options.source)]
        return list(islice(data_rows.in_turn(rows), options.sample))
    rows = _dropped(experiment, options.stage)
    if options.dropped:
        _known(options.dropped, dict.fromkeys([*(metrics.get("dropped") or {}), *(str(row.get("reason")) for row in rows)]), "reason")
    return [row for row in rows if options.dropped in ("", row.get("reason")) and of_source(row, options.source)]


def _dropped(experiment: Experiment, stage: str) -> list[JSON]:
    """What was dropped, once: of two files that tell of a reason, the one that says more, which is the place or the shared passage."""
    examples, quarantined, contaminated = (list(experiment.rows(stage, name)) for name in DROPPED)
    told = [*quarantined, *({"reason": CONTAMINATED, **row} for row in contaminated)]
    better = {_reason(row) for row in quarantined}
    return [*(row for row in examples if not (_reason(row) in better or (contaminated and row.get("reason") == CONTAMINATED))), *told]


def _reason(row: JSON) -> tuple[Any, Any]:
    return row.get("source"), row.get("reason")


def of_source(row: Mapping[str, Any], source: str | None) -> bool:
    """Whether a row is of a source; a packed row may hold several."""
    held = row.get("source")
    return source is None or held == source or (isinstance(held, list) and source in held)


def _show_rows(options: argparse.Namespace, rows: Sequence[JSON]) -> None:
    out = console()
    show = data_rows.clusters if options.clusters else data_rows.sample if options.sample is not None else data_rows.dropped
    for line in show(rows, colour=out.is_terminal and not out.no_color and out.color_system is not None):
        out.print(line, soft_wrap=True, highlight=False, markup=False)


def _ran(experiment: Experiment, contract: Contract) -> JSON:
    """The metrics of a stage. Raises Faults where it has not run."""
    metrics = experiment.metrics(contract.name) if experiment.has(contract.name) else None
    if metrics is None:
        raise Faults([_not_run(experiment, contract)])
    return metrics


def _known(name: str | None, known: Sequence[str] | Mapping[str, Any], what: str) -> None:
    if not name or name in known or not known:
        return
    meant = closest(name, list(dict.fromkeys(known)))
    named = said("source", "来源") if what == "source" else said("reason", "丢弃原因")
    fix = did_you_mean(meant) if meant else said(f"there are: {listed(dict.fromkeys(known))}", f"现有：{listed(dict.fromkeys(known)).zh}")
    message = said(f"there is no {named} {name!r}", f"没有{named.zh} {name!r}")
    raise Faults([Diagnostic("MS0472", message, fix=fix, suggestion=meant or "")])


def _not_run(experiment: Experiment, contract: Contract) -> Diagnostic:
    name, stage = experiment.name, contract.name
    if not experiment.has(stage):
        has = listed(one for one in STAGES if experiment.has(one))
        message = said(f"{name} has no stage {stage}", f"{name} 没有阶段 {stage}")
        return Diagnostic("MS0471", message, fix=said(f"its data stages: {has}", f"它的数据阶段：{has.zh}"))
    message = said(f"the stage {stage} of {name} has not run", f"{name} 的阶段 {stage} 还没有运行")
    return Diagnostic("MS0471", message, fix=_how_to_run(experiment, stage))


def _how_to_run(experiment: Experiment, stage: str) -> Said:
    whole, part = f"mindspec run {experiment.name}", f"dvc repro experiments/{experiment.name}/dvc.yaml:{stage}"
    return said(f"{whole}, or only as far as this stage: {part}", f"{whole}；或只运行到该阶段：{part}")


def _without_result(experiment: Experiment, stage: str) -> Diagnostic:
    path = f"experiments/{experiment.name}/{BY_NAME[stage].output}"
    message = said(f"{path} is not here", f"{path} 不在此处")
    reason = said("the figures of a stage are committed, its texts are in DVC's cache", "阶段的数字随仓库提交，文本则在 DVC 缓存中")
    return Diagnostic("MS0471", message, reason=reason, fix=_how_to_run(experiment, stage))


def _unreadable(experiment: Experiment, path: Path, what: Said) -> Diagnostic:
    shown = path.relative_to(experiment.folder.parents[1])
    message = said(f"{shown} {what}", f"{shown} {what.zh}")
    return Diagnostic("MS0473", message, fix=said("delete it and run the stage again", "请删除该文件并重新运行该阶段"))


def _refuse_without_stage(experiment: Experiment) -> None:
    has = listed(one for one in STAGES if experiment.has(one))
    message = said("which stage? examples are those of one", "要看哪个阶段？示例属于单个阶段")
    raise Faults([Diagnostic("MS0472", message, fix=said(f"name one of: {has}", f"请写出其中之一：{has.zh}"))])


def _nothing(options: argparse.Namespace) -> Said:
    if options.clusters:
        return said(f"{options.stage} has told of no duplicates", f"{options.stage} 没有记录重复内容")
    if options.sample is not None:
        return said(f"{options.stage} has left no sample", f"{options.stage} 没有留下示例")
    return said(f"{options.stage} has dropped nothing of the kind", f"{options.stage} 没有这样的丢弃内容")
