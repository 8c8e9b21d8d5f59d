"""The part of the mindformers 1.9.0 YAML that this compiler can write, as types.

mindformers ignores many unknown keys without a word and takes most values as they come, so what is not declared here cannot
be emitted, nor a value of another type. Field names and their order are those of the file.
"""

from compiler.mindformers.adapters import Pet
from compiler.mindformers.block import Block, UndeclaredValue, Written, written
from compiler.mindformers.callbacks import Callback, CheckpointMonitor, LossMonitor, StopAtNonFinite, StopAtStep
from compiler.mindformers.dataset import DataLoader, Dataset, DatasetTask
from compiler.mindformers.files import EvaluationConfig, Metric, PredictionConfig, Processor, Tokenizer, TrainingConfig
from compiler.mindformers.general import AscendConfig, Context, Dtype, JitConfig, JitLevel, PrecisionMode, Runner, Target, Trainer
from compiler.mindformers.llama import Arch, Model, ModelConfig, RopeScaling
from compiler.mindformers.optimization import DynamicScale, LearningRate, Optimizer, Wrapper, WrapperType
from compiler.mindformers.parallel import Parallel, ParallelConfig, ParallelOptimizer, Recompute, StrategyFile
from compiler.mindformers.qwen3 import Qwen3Config, Qwen3Model

__all__ = [
    "Arch",
    "AscendConfig",
    "Block",
    "Callback",
    "CheckpointMonitor",
    "Context",
    "DataLoader",
    "Dataset",
    "DatasetTask",
    "Dtype",
    "DynamicScale",
    "EvaluationConfig",
    "JitConfig",
    "JitLevel",
    "LearningRate",
    "LossMonitor",
    "Metric",
    "Model",
    "ModelConfig",
    "Optimizer",
    "Parallel",
    "ParallelConfig",
    "ParallelOptimizer",
    "Pet",
    "PrecisionMode",
    "PredictionConfig",
    "Processor",
    "Qwen3Config",
    "Qwen3Model",
    "Recompute",
    "RopeScaling",
    "Runner",
    "StopAtNonFinite",
    "StopAtStep",
    "StrategyFile",
    "Target",
    "Tokenizer",
    "Trainer",
    "TrainingConfig",
    "UndeclaredValue",
    "Wrapper",
    "WrapperType",
    "Written",
    "written",
]
