"""Whether this machine can run what was compiled: versions, device. Asked before any work; MindSpore is never imported."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from compiler.diagnostics import Diagnostic, Faults
from compiler.parse import load
from compiler.project import Project
from compiler.source import Place
from compiler.spec import Spec
from compiler.wording import said
from runtime.contracts import installed, surroundings
from runtime.contracts.sieve import KENLM

# A device of each kind shows as one of these; MindSpore's plugin for it fails to load without.
DRIVERS = {"gpu": ("/dev/nvidiactl", "/dev/nvidia0"), "ascend": ("/dev/davinci_manager", "/dev/davinci0")}


def check_machine(project: Project, name: str, overrides: Sequence[str], spec: Spec, locked: Mapping[str, str]) -> None:
    """Raises Faults where several devices would be needed, an installed version is not the locked one, the device is not there,
    or the environment would falsify what is computed.
    """
    faults = [
        *_several(project, name, overrides, spec),
        *_versions(project, locked),
        *_device(project, name, overrides, spec),
        *_environment(os.environ),
        *_sieve(project, name, overrides, spec),
    ]
    if faults:
        raise Faults(faults)


def _several(project: Project, name: str, overrides: Sequence[str], spec: Spec) -> list[Diagnostic]:
    """The warning of MS0362 is an error where something is to run."""
    if spec.device.count == 1:
        return []
    path = ("device", "count")
    return [
        Diagnostic(
            "MS0362",
            said(
                f"{spec.device.count} devices need as many processes, and this version starts one a stage",
                f"{spec.device.count} 个设备需要同样多的进程，而本版本每个阶段只启动一个",
            ),
            load(Path(project.root), name, overrides).place(path),
            path,
            reason=said(
                "a single rank would wait for the others, or train on its part of each batch and save that",
                "单个进程会一直等待其他进程，或只用每批数据中自己的一份训练并保存",
            ),
            fix=said(
                "set device.count to 1 to run it here; `mindspec plan` needs no device",
                "把 device.count 设为 1 即可在此运行；`mindspec plan` 不需要设备",
            ),
        )
    ]


def _versions(project: Project, locked: Mapping[str, str]) -> list[Diagnostic]:
    wrong = [library for library in locked if installed.installed_version(library) != locked[library]]
    return [_version_fault(project, library, locked[library]) for library in wrong]


def _version_fault(project: Project, library: str, wanted: str) -> Diagnostic:
    place = Place(".python-version", 1, 1, wanted) if library == "python" else project.lock_place(library)
    have = installed.installed_version(library)
    return Diagnostic(
        "MS0024",
        said(
            f"{library} {wanted} is locked, but {have + ' is installed' if have else 'it is not installed'}",
            f"{library} 锁定为 {wanted}，但{'已安装的是 ' + have if have else '没有安装'}",
        ),
        place,
        reason=said("another version writes other bytes, or fails after hours", "版本不同，写出的字节就不同，或在数小时后失败"),
        fix=said(
            "make the locked environment (`make setup`) and activate it (`source .venv/bin/activate`)",
            "请建立锁定的环境（`make setup`）并激活它（`source .venv/bin/activate`）",
        ),
    )


def _device(project: Project, name: str, overrides: Sequence[str], spec: Spec) -> list[Diagnostic]:
    target = spec.device.target
    if target in DRIVERS and not any(os.path.exists(path) for path in DRIVERS[target]):
        place = load(Path(project.root), name, overrides).place(("device", "target"))
        return [
            Diagnostic(
                "MS0025",
                said(
                    f"no {target} device on this machine: none of {', '.join(DRIVERS[target])} exists",
                    f"本机没有 {target} 设备：{'、'.join(DRIVERS[target])} 均不存在",
                ),
                place,
                ("device", "target"),
                reason=said("training would stop when MindSpore opens the device", "训练会在 MindSpore 打开设备时停止"),
                fix=said(
                    "run it on a machine that has one, or choose another profile: device=cpu",
                    "请在有该设备的机器上运行，或选用其他配置：device=cpu",
                ),
            )
        ]
    return []


def _environment(environment: Mapping[str, str]) -> list[Diagnostic]:
    """What the stages that compute refuse too, told before the hours of the stages that go before them."""
    return [
        Diagnostic(
            "MS0029",
            said(f"the environment has {name}={environment[name]}", f"环境变量 {name}={environment[name]}"),
            reason=said(
                "under it MindSpore computes something else, or one of several processes does, and ends well",
                "在此设置下 MindSpore 计算的是别的东西，或本进程只是多个进程之一，而程序仍会正常结束",
            ),
            fix=said(f"unset {name}", f"取消设置：unset {name}"),
        )
        for name in [*surroundings.falsifying(environment), *surroundings.launched(environment)]
    ]


def _sieve(project: Project, name: str, overrides: Sequence[str], spec: Spec) -> list[Diagnostic]:
    """KenLM is optional, so no lock names it; its stage is one of the first to run, and the one that needs it comes later."""
    path = ("data", "pretrain", "clean", "perplexity")
    if spec.data.pretrain.clean.perplexity is None or installed.installed_version("kenlm") == KENLM:
        return []
    have = installed.installed_version("kenlm")
    return [
        Diagnostic(
            "MS0417",
            said(
                f"KenLM is {have}, not {KENLM}" if have else "KenLM is not installed",
                f"KenLM 的版本是 {have}，而不是 {KENLM}" if have else "没有安装 KenLM",
            ),
            load(Path(project.root), name, overrides).place(path),
            path,
            reason=said("the perplexity sieve could not train its models", "困惑度筛选无法训练模型"),
            fix=said("build it (`make kenlm`), or write perplexity: null", "请构建它（`make kenlm`），或写 perplexity: null"),
        )
    ]
