"""`mindspec diff`: what differs between two experiments in the spec and in the files, and which stages that runs again."""

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from compiler.cli import print_json, tell
from compiler.diagnostics import Faults
from compiler.difference import ChangedValue, Difference, Rerun, Side, difference, shown
from compiler.lower.graph import ROOT
from compiler.pipeline import Compiled, compile_experiment
from compiler.project import Project
from compiler.revision import NoRevision, at_revision, edited_since
from compiler.selection import FILE as SELECTION
from compiler.source import Place, dotted
from compiler.wording import in_language, said


@dataclass(frozen=True)
class Asked:
    """One side as it was asked for: NAME or NAME@REVISION, and overrides."""

    name: str
    revision: str = ""
    overrides: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join([f"{self.name}@{self.revision}" if self.revision else self.name, *self.overrides])


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """A [B] [overrides of B]."""
    first = said("experiment, or NAME@REVISION for the specs of a Git revision", "实验名，或 NAME@REVISION（取该 Git 版本的规格）")
    rest = said(
        "the other one, and Hydra overrides of it; without it A with the overrides, without both A as it was committed last",
        "另一个实验及其 Hydra 覆盖项；省略时为加上覆盖项的 A；两者都省略时与 A 最近一次提交比较",
    )
    sub.add_argument("first", metavar="A", help=in_language(first))
    sub.add_argument("rest", nargs="*", metavar="B key=value", help=in_language(rest))
    sub.add_argument(
        "--files", action="store_true", help=in_language(said("show the compiled files line by line", "逐行显示编译文件的差异"))
    )


def run(project: Project, options: argparse.Namespace) -> int:
    """Exit code 0 whether they differ or not, 2 for a revision that Git does not know. Raises Faults of either side."""
    before, after = asked(options.first, options.rest)
    if misnamed := next((one for one in [options.first, *options.rest[:1]] if "=" not in one and not _names_a_side(one)), None):
        english = f"{misnamed!r} is no NAME or NAME@REVISION, where REVISION is a branch, a tag or a commit"
        tell(said(english, f"{misnamed!r} 不是 NAME 或 NAME@REVISION（REVISION 为分支、标签或提交）"))
        return 2
    try:
        found = compared(project, before, after)
    except NoRevision as error:
        tell(said(f"no such revision: {error}", f"没有这个版本：{in_language(error.args[0], 'zh')}"))
        return 2
    if options.json:
        print_json(_as_dict(before, after, found), indent=2)
    else:
        print("\n".join(_text(before, after, found, files=options.files)))
    return 0


def asked(first: str, rest: Sequence[str]) -> tuple[Asked, Asked]:
    """The two sides: what is left out of the second is that of the first; alone, an experiment is compared with its last commit."""
    before = _one(first)
    if not rest and not before.revision:
        return Asked(before.name, "HEAD"), before
    named = bool(rest) and "=" not in rest[0] and not rest[0].startswith("~")  # `~key` takes a field away
    after = _one(rest[0]) if named else Asked(before.name)
    return before, Asked(after.name, after.revision, tuple(rest[named:]))


def _names_a_side(written: str) -> bool:
    name, at, revision = written.partition("@")
    return written.startswith("~") or bool(name and (revision or not at))


def _one(written: str) -> Asked:
    name, _, revision = written.partition("@")
    return Asked(name, revision)


def compared(project: Project, before: Asked, after: Asked) -> Difference:
    """Compile both and compare them. Raises Faults and NoRevision."""
    with ExitStack() as open_folders:
        sides: list[Side] = []
        for one in (before, after):
            there = open_folders.enter_context(at_revision(project, one.revision)) if one.revision else project
            sides.append(Side(_compiled(there, one), there.root))
        return difference(sides[0], sides[1], _edited(project, before, after, sides[1]), _root_stages(project, sides[1]))


def _compiled(project: Project, one: Asked) -> Compiled:
    """Says before the faults of a revision whose they are: their places name files of that revision."""
    try:
        return compile_experiment(project, one.name, one.overrides)
    except Faults:
        if one.revision:
            english = f"{one} does not compile; the places below are those of {one.revision}"
            tell(said(english, f"{one} 无法编译；以下位置均指 {one.revision} 中的文件"))
        raise


def _edited(project: Project, before: Asked, after: Asked, side: Side) -> frozenset[str]:
    """Raw files that differ. Git compares two revisions in their order, one of them with the work tree."""
    if before.revision == after.revision:
        return frozenset()
    revisions = [one.revision for one in (before, after) if one.revision]
    outside = {path.removeprefix(f"{ROOT}/") for node in side.stages.values() for path in node.dependencies if path.startswith(f"{ROOT}/")}
    return edited_since(project, revisions, sorted(path for path in outside if not path.startswith("runtime/")))


def _root_stages(project: Project, side: Side) -> tuple[str, ...]:
    """`compare`, and perhaps `gate`, where the selection of `params.yaml` holds the experiment."""
    spec = side.compiled.spec
    if not (project.root / SELECTION).is_file() or spec.name not in project.selection.experiments:
        return ()
    return ("compare", "gate") if project.selection.gate or spec.compare.gate else ("compare",)


def _text(before: Asked, after: Asked, found: Difference, *, files: bool) -> list[str]:
    if not (found.values or found.files or found.reruns):
        return [in_language(said(f"no difference: {before} and {after}", f"没有差异：{before} 与 {after}"))]
    lines = [f"{before} -> {after}", *_value_lines(found.values)]
    lines += [in_language(said("compiled files:", "编译文件："))] * bool(found.files) + [f"  {one.path}" for one in found.files]
    lines += [one.unified() for one in found.files if files]
    return lines + _rerun_lines(found.reruns)


def _value_lines(values: Sequence[ChangedValue]) -> list[str]:
    lines = [in_language(said("spec:", "规格："))] * bool(values)
    for one in values:
        places = " -> ".join(str(place) if place else _default() for place in dict.fromkeys([one.place_before, one.place_after]))
        lines.append(f"  {dotted(one.path)}: {shown(one.before)} -> {shown(one.after)}  [{one.field_class}]  ({places})")
    return lines


def _default() -> str:
    return in_language(said("default", "默认值"))


def _rerun_lines(reruns: Sequence[Rerun]) -> list[str]:
    if not reruns:
        return [in_language(said("no stage runs again", "没有阶段需要重新运行"))]
    lines = [
        in_language(
            said("stages that run again, unless their inputs come out identical:", "需要重新运行的阶段（若输入逐字节相同则不运行）：")
        )
    ]
    for one in reruns:
        lines.append(f"  {one.stage}")
        lines += [f"    {reason}" for reason in one.direct if reason not in {f"config/{stage}.yaml" for stage in one.through}]
        lines += [in_language(said(f"    follows {', '.join(one.through)}", f"    跟随 {'、'.join(one.through)}"))] * bool(one.through)
    return lines


def _as_dict(before: Asked, after: Asked, found: Difference) -> dict[str, Any]:
    return {
        "ok": True,
        "before": str(before),
        "after": str(after),
        "spec": [
            {
                "path": dotted(one.path),
                "before": one.before,
                "after": one.after,
                "class": one.field_class,
                "places": [_written(one.place_before), _written(one.place_after)],
            }
            for one in found.values
        ],
        "files": [{"path": one.path, "diff": one.unified()} for one in found.files],
        "reruns": [{"stage": one.stage, "direct": list(one.direct), "through": list(one.through)} for one in found.reruns],
    }


def _written(place: Place | None) -> str | None:
    return str(place) if place else None
