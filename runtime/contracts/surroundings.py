"""Variables of the environment under which a MindSpore program ends well without having computed what it was asked for."""

from collections.abc import Mapping

# Switches of MindSpore, and what becomes of a training under them.
SWITCHES = {
    "MS_SIMULATION_LEVEL": "a simulated run computes nothing, reports a loss of 0.0 and saves weights that were never trained",
    "MS_KERNEL_LAUNCH_SKIP": "kernels that are not launched leave zeros behind: a loss of 0.0, weights that never change",
    "MS_DEV_PRECOMPILE_ONLY": "graphs would be compiled and never run",
    "MS_JIT": "networks would run operator by operator in place of the compiled graph, with other roundings",
}
_OFF = {"MS_DEV_PRECOMPILE_ONLY": "0", "MS_JIT": "1"}  # 0 is a level of simulation too
# How many processes a launcher started, as msrun, MindSpore's older scripts, mpirun and srun tell each of them.
_PROCESSES = ("MS_WORKER_NUM", "RANK_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS")


def falsifying(environment: Mapping[str, str]) -> list[str]:
    """The switches that are on."""
    return [name for name in SWITCHES if environment.get(name, "") not in ("", _OFF.get(name, ""))]


def launched(environment: Mapping[str, str]) -> list[str]:
    """The variables that tell of more than one process."""
    return [name for name in _PROCESSES if environment.get(name, "1") not in ("", "0", "1")]
