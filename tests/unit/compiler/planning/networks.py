"""Networks and devices of the planner's tests, at their public sizes."""

from dataclasses import replace

from compiler.planning.architecture import Architecture
from compiler.planning.cost import Work
from compiler.planning.devices import Devices
from compiler.planning.memory import Adapters, Job

GB = 10**9
LINEAR = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")

LLAMA_7B = Architecture(4096, 11008, 32, 32, 32, 128, 32000)
LLAMA_70B = Architecture(8192, 28672, 80, 64, 8, 128, 32000)
TINY = Architecture(128, 352, 4, 4, 4, 32, 4000)

HALF = Job(micro_batch=2, seq_length=2048, params=2, compute=2)
LORA = replace(HALF, adapters=Adapters(rank=8, targets=LINEAR))
ON_ASCEND = replace(HALF, micro_batch=4, flash_attention=True, fused_norm=True, target="ascend")

CARD_24 = Devices("gpu", 1, 24 * GB)
WORKSTATION = Devices("gpu", 4, 24 * GB, "pcie")
ASCEND_8 = Devices("ascend", 8, 64 * GB, "hccs")
CLUSTER_64 = Devices("gpu", 64, 80 * GB, "nvlink", 8)


def work(network: Architecture, job: Job, rows: int, steps: int = 1) -> Work:
    """One pre-training."""
    return Work("pretrain", network, job, rows, steps)
