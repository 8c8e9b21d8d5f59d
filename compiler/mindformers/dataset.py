"""Rows in MindRecord files, for training and for evaluation."""

from dataclasses import dataclass
from typing import Literal

from compiler.mindformers.block import Block


@dataclass(frozen=True, kw_only=True)
class DataLoader(Block):
    """One MindRecord file, or the folder of its shards."""

    type: Literal["MindDataset"] = "MindDataset"
    dataset_dir: str
    shuffle: bool = True


@dataclass(frozen=True, kw_only=True)
class Dataset(Block):
    """`batch_size` and `seed` repeat the runner's and the general one, which decide."""

    data_loader: DataLoader
    input_columns: tuple[str, ...]
    num_parallel_workers: int = 1
    python_multiprocessing: bool = False
    drop_remainder: bool = True
    batch_size: int
    repeat: int = 1
    numa_enable: bool = False
    prefetch_size: int = 1
    seed: int


@dataclass(frozen=True, kw_only=True)
class DatasetTask(Block):
    """The same dataset again, under the name of the task."""

    type: Literal["CausalLanguageModelDataset"] = "CausalLanguageModelDataset"
    dataset_config: Dataset
