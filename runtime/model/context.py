"""What must be settled before MindSpore is imported, and whether the device can be used."""

import os
from pathlib import Path

from runtime.faults import EnvironmentFault

# Switches of MindSpore under which a program computes something else than its network, or nothing, and ends well all the same.
_SWITCHES = {
    "MS_SIMULATION_LEVEL": "a simulated run computes nothing, reports a loss of 0.0 and saves weights that were never trained",
    "MS_KERNEL_LAUNCH_SKIP": "kernels that are not launched leave zeros behind: a loss of 0.0, weights that never change",
    "MS_DEV_PRECOMPILE_ONLY": "graphs would be compiled and never run",
    "MS_JIT": "networks would run operator by operator in place of the compiled graph, with other roundings",
}
_OFF = {"MS_DEV_PRECOMPILE_ONLY": "0", "MS_JIT": "1"}  # 0 is a level of simulation too
# How many processes a launcher started, as msrun, MindSpore's older scripts, mpirun and srun tell each of them.
_PROCESSES = ("MS_WORKER_NUM", "RANK_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")


def check_environment() -> None:
    """Refuse to compute under a switch that falsifies it, or as one of several processes. Raises EnvironmentFault."""
    for name, reason in _SWITCHES.items():
        if os.environ.get(name, "") not in ("", _OFF.get(name, "")):
            raise EnvironmentFault(f"{name} is {os.environ[name]}", where="environment", reason=reason, fix=f"unset {name}")
    for name in _PROCESSES:
        if os.environ.get(name, "1") not in ("", "0", "1"):
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
