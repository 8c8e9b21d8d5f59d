"""The devices of a plan, and the speeds that its cost estimate assumes."""

from collections.abc import Mapping
from dataclasses import dataclass

from compiler.spec.device import Device
from compiler.wording import Said, said

GIGA = 10**9
TERA = 10**12


@dataclass(frozen=True)
class Speed:
    """What one device is assumed to reach.

    half, single: matrix products a second in 16 and in 32 bit, in FLOP/s, at their peak; share: the part of it that a training
    keeps up; named: the device whose figures these are.
    """

    half: float
    single: float
    share: float
    named: Said


# Peaks of the makers' data sheets, dense. A training of many layers keeps up about two fifths of them: 38 to 43 % in 16 bit,
# Grattafiori et al. 2024 (arXiv:2407.21783), table 4. On CPU the figure is a measured one, so all of it is kept up.
SPEEDS: Mapping[str, Speed] = {
    "cpu": Speed(86 * GIGA, 86 * GIGA, 1.0, said("two cores of a server processor, measured", "服务器处理器的两个核，实测")),
    "gpu-small": Speed(
        71 * TERA, 35.6 * TERA, 0.4, said("a GeForce RTX 3090 (NVIDIA GA102 white paper)", "GeForce RTX 3090，NVIDIA GA102 白皮书")
    ),
    "gpu": Speed(312 * TERA, 19.5 * TERA, 0.4, said("an A100 (NVIDIA A100 data sheet)", "A100，NVIDIA A100 数据手册")),
    "ascend": Speed(
        256 * TERA,
        64 * TERA,
        0.4,
        said(
            "an Ascend 910 (Huawei, 2019: 256 TFLOPS in FP16; a quarter of it in FP32)",
            "昇腾 910，华为 2019 年公布 FP16 256 TFLOPS，FP32 取其四分之一",
        ),
    ),
}
SMALL_GPU = 32 * GIGA  # bytes; a card of at most so much is taken for one of the consumer's class

# Bytes a second in one direction that a device sends to the others of its node. PCIe 4.0 x16: 31.5 GB/s by its standard, four
# fifths of it in practice. NVLink 3: 600 GB/s in both directions. HCCS of eight Ascend 910B: seven links of 28 GB/s.
LINKS: Mapping[str, float] = {"none": 10 * GIGA, "pcie": 25 * GIGA, "nvlink": 300 * GIGA, "hccs": 196 * GIGA}
NETWORK = 25 * GIGA  # between nodes, a device: one adapter of 200 Gb/s each, as in the makers' own machines
FAST = ("nvlink", "hccs")  # links over which the all-reduces of tensor parallelism do not stop the devices
LINK_NAMES: Mapping[str, Said] = {
    "none": said("no link", "无高速互联"),
    "pcie": said("PCIe", " PCIe"),
    "nvlink": said("NVLink", " NVLink"),
    "hccs": said("HCCS", " HCCS"),
}


@dataclass(frozen=True)
class Devices:
    """All devices of an experiment. `memory`: bytes of one; `interconnect`: the link inside a node."""

    target: str
    count: int
    memory: int
    interconnect: str = "none"
    nodes: int = 1

    @property
    def per_node(self) -> int:
        """Devices of one node; at least one, whatever a faulty spec says."""
        return max(1, self.count // self.nodes)

    @property
    def fast(self) -> bool:
        """Whether the link inside a node carries tensor parallelism."""
        return self.interconnect in FAST

    @property
    def accumulates(self) -> bool:
        """Whether an update may be several forward passes: our own training cell does it on a CPU, mindformers over several
        devices; on one accelerator this version has neither."""
        return self.target == "cpu" or self.count > 1

    @property
    def speed(self) -> Speed:
        """The assumed speed of one device."""
        small = self.target == "gpu" and self.memory <= SMALL_GPU
        return SPEEDS["gpu-small" if small else self.target]

    def bandwidth(self, span: int) -> float:
        """Bytes a second of each device in a group of `span` neighbours: those of a node by its link, others by the network."""
        return LINKS[self.interconnect] if span <= self.per_node else NETWORK


def devices(device: Device) -> Devices:
    """The devices that a spec declares."""
    return Devices(device.target, device.count, device.memory, device.interconnect, device.nodes)
