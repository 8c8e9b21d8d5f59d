"""The whole spec."""

from typing import Literal

from compiler.spec.data import Data
from compiler.spec.declare import Name, Section, Seed, identity, presentation, section
from compiler.spec.delivery import Compare, Evaluation, Export, Report
from compiler.spec.device import Device, Launch
from compiler.spec.model import Model
from compiler.spec.tokenizer import Pack, Tokenizer
from compiler.spec.train import Finetune, Layout, Pretrain


class Spec(Section):
    """One experiment as it was declared, complete and free of references. `model_dump()` gives plain, ordered values."""

    name: Name = presentation("Name of the experiment and of its folder.", "实验名称，也是其文件夹名。")
    title: str = presentation("Title of the report.", "报告标题。", default="")
    description: str = presentation("What the experiment is for.", "实验说明。", default="")
    smoke: bool = identity(
        "Whether the experiment is shrunk to its small twin, named <name>--smoke, on the same data path.",
        "是否缩小为同一数据路径上的小型试运行（名为 <name>--smoke）。",
        default=False,
    )
    seed: Seed = identity("Seed of every random choice.", "随机种子。")
    device: Device = section("Where it runs.", "运行设备。")
    launch: Launch = section("Workers, threads, logging.", "进程、线程与日志。", default=Launch())
    model: Model = section("The network.", "模型。")
    data: Data = section("All text.", "数据。")
    tokenizer: Tokenizer = section("From text to ids.", "分词器。")
    pack: Pack = section("From ids to rows.", "打包。", default=Pack())
    parallel: Literal["auto"] | Layout = identity(
        "How work is divided over devices; auto takes the lightest layout that fits, by device.memory, interconnect and nodes.",
        "并行布局；auto 依据 device.memory、interconnect、nodes 选取可容纳的最轻布局。",
        default=Layout(),
    )
    pretrain: Pretrain = section("Training of the base model.", "预训练。")
    finetune: Finetune = section("Adaptation to instructions.", "微调。")
    export: Export = section("The model file.", "模型导出。", default=Export())
    evaluation: Evaluation = section("Scores.", "评测。")
    compare: Compare = section("Comparison with a baseline.", "与基线比较。", default=Compare())
    report: Report = section("The HTML report.", "报告。", default=Report())
