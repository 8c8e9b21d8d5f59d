"""What must be settled before MindSpore is imported, and whether the device can be used."""

import os
from pathlib import Path

from runtime.contracts import surroundings
from runtime.faults import EnvironmentFault


def check_environment() -> None:
    """Refuse to compute under a switch that falsifies it, or as one of several processes. Raises EnvironmentFault."""
    for name in surroundings.falsifying(os.environ):
        raise EnvironmentFault(
            f"{name} is {os.environ[name]}", where="environment", reason=surroundings.SWITCHES[name], fix=f"unset {name}"
        )
    for name in surroundings.launched(os.environ):
        raise EnvironmentFault(
            f"{name} is {os.environ[name]}: this process is one of several",
            where="environment",
            reason="a stage is one process; each of them would train a model of its own, and the last one would overwrite the others",
            fix=f"start the stage without msrun, mpirun or srun, or unset {name}",
        )


def prepare(work: Path, threads: int) -> None:
    """Set the process up for MindSpore, before it is imported: its logs and caches go below `work`.

    `threads` changes the speed alone: kernels divide the work without changing the order of a sum.
    Raises EnvironmentFault as `check_environment` does.
    """
    check_environment()
    work.mkdir(parents=True, exist_ok=True)
    folder = str(work.resolve())
    os.environ["LOCAL_DEFAULT_PATH"] = folder
    os.environ["LOG_MF_PATH"] = f"{folder}/log"
    os.environ["GLOG_logtostderr"] = "1"  # noqa: SIM112 (glog reads it in this spelling)
    os.environ.setdefault("GLOG_v", "2")
    os.environ["OMP_NUM_THREADS"] = str(threads)


def check_device(target: str) -> None:
    """Raise EnvironmentFault where MindSpore cannot compute on `target` (CPU | GPU | Ascend)."""
    import mindspore as ms

    try:
        ms.set_context(device_target=target)
        if target != "CPU":
            ms.runtime.synchronize()
    except (RuntimeError, ValueError, TypeError) as error:
        raise EnvironmentFault(
            f"the device {target} cannot be used: {str(error).strip().splitlines()[0]}",
            where="device.target",
            reason="results are claimed for one class of device, so another one is not taken instead",
            fix=f"run where a {target} and its driver are installed, or set device.target to cpu",
        ) from None
