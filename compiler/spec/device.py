"""Where it runs."""

from typing import Literal

from compiler.spec.declare import Bytes, Index, Integer, Items, Limited, Section, Text, identity, placement


class Device(Section):
    """The kind and number of devices. Kernels differ between targets, so the target is part of the identity."""

    target: Literal["cpu", "gpu", "ascend"] = identity("Kind of device that computes.", "计算设备的种类。")
    count: Integer = identity("Devices in all, over all nodes.", "所有节点上的设备总数。", ge=1, default=1)
    memory: Bytes = placement(
        "Memory of one device; parallel: auto chooses a layout that fits into it.",
        "单个设备的内存；parallel: auto 据此选取可容纳的布局。",
        unit="bytes",
    )
    interconnect: Literal["none", "pcie", "nvlink", "hccs"] = placement(
        "Link between the devices of a node; parallel: auto reads it.",
        "同一节点内设备之间的互联；parallel: auto 会参考。",
        default="none",
    )
    nodes: Integer = placement("Machines; parallel: auto reads it.", "机器数量；parallel: auto 会参考。", ge=1, default=1)
    device_ids: Items[Index] = placement("Devices to use on each node.", "每个节点上使用的设备编号。", default=(0,))


class Launch(Section):
    """How fast and how talkative; never what comes out."""

    workers: Limited = placement("Processes that read data.", "读取数据的进程数。", ge=1, le=1024, default=2)
    threads: Limited = placement("Threads of data libraries.", "数据处理库的线程数。", ge=1, le=1024, default=2)
    engine: Literal["processes", "ray"] = placement(
        "What runs the workers of a data stage: processes of this machine, or a Ray cluster on which every node sees the project.",
        "数据阶段的执行引擎：本机进程，或各节点都能访问本项目的 Ray 集群。",
        default="processes",
    )
    ray_address: Text | None = placement(
        "Address of the Ray cluster; null starts Ray on this machine.", "Ray 集群地址；null 表示在本机启动 Ray。", default=None
    )
    log_every: Integer = placement("Steps between two log lines.", "两条日志之间的步数。", unit="steps", ge=1, default=10)
