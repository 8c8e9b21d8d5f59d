"""Spec -> Experiment: bring in the lock file and the template, and check that they fit."""

from collections.abc import Sequence

from compiler.diagnostics import Diagnostic, Faults
from compiler.experiment import Experiment
from compiler.lower.present import present
from compiler.project import Project
from compiler.resolve.template import template
from compiler.resolve.tokenizer import special_ids
from compiler.spec import Spec
from compiler.wording import listed, said

# Releases that were published for each other, by the release notes of MindSpore Transformers.
MATCHING = {"1.9.0": ("2.9.0",)}


def resolve(spec: Spec, project: Project) -> Experiment:
    """Raises Faults where versions that the stages need are not locked, or are locked in a pair that does not match."""
    needed = sorted({library for contract in present(spec) for library in contract.environment})
    faults = [*_unlocked(project, needed), *_mismatch(project)]
    if faults:
        raise Faults(faults)
    locked = {library: _locked(project, library) for library in needed}
    return Experiment(spec, template(spec, project.root), special_ids(spec, project.root), locked)


def _locked(project: Project, library: str) -> str:
    return project.python if library == "python" else project.locked[library]


def _unlocked(project: Project, needed: Sequence[str]) -> list[Diagnostic]:
    return [
        Diagnostic(
            "MS0026",
            said(f"{library} is not locked", f"{library} 没有锁定版本"),
            project.lock_place(library),
            reason=said(
                "two machines could install two releases, and one spec would have two results",
                "两台机器可能装上不同版本，同一份规格会有两种结果",
            ),
            fix=said("add it to pyproject.toml and run `make lock`", "请将它加入 pyproject.toml，再执行 `make lock`"),
        )
        for library in needed
        if library != "python" and library not in project.locked
    ]


def _mismatch(project: Project) -> list[Diagnostic]:
    mindformers, mindspore = project.locked.get("mindformers", ""), project.locked.get("mindspore", "")
    if not mindformers or not mindspore or mindspore in MATCHING.get(mindformers, ()):
        return []
    pairs = listed(f"mindformers {one} + mindspore {other}" for one, others in MATCHING.items() for other in others)
    known = MATCHING.get(mindformers, ())
    wanted = said(" or ".join(known), " 或 ".join(known)) if known else said("unknown to this version of mindspec", "（本版本未知）")
    return [
        Diagnostic(
            "MS0023",
            said(
                f"mindformers {mindformers} goes with mindspore {wanted}, but mindspore {mindspore} is locked",
                f"mindformers {mindformers} 应与 mindspore {wanted.zh} 配套，但锁定的是 mindspore {mindspore}",
            ),
            project.lock_place("mindspore"),
            reason=said(
                "pairs that were not released together fail on import, or train and export other numbers",
                "未配套发布的版本会在导入时失败，或训练并导出不同的数值",
            ),
            fix=said(f"lock one of these pairs: {pairs}", f"请锁定以下组合之一：{pairs.zh}"),
        )
    ]
