"""What the installed mindformers accepts in each section of a file, read off its classes. Run as a script it prints JSON.

The sections are those of `declared_keys`; a class that is built from a section accepts `type` and the arguments of its
constructor. Where a key is read by name alone, it is found in the source that reads it.
"""

import ast
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any


def arguments(builder: Callable[..., Any]) -> set[str]:
    """Names of the arguments, without those that only the trainer gives."""
    named = inspect.signature(builder).parameters.values()
    return {one.name for one in named if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)} - {"self", "cls"}


def registered(kind: str, name: str) -> set[str]:
    """`type` and the arguments of a class in mindformers' registry."""
    from mindformers.tools.register import MindFormerRegister

    cls = MindFormerRegister.get_cls(kind, name)
    given = {"network", "optimizer", "params", "parallel_config", "lr_scheduler", "grouped_lr_scheduler"}
    builder = cls.__init__ if cls.__init__ is not object.__init__ else cls.__new__
    return {"type", *arguments(builder)} - given


def defaults(builder: Callable[..., Any]) -> dict[str, Any]:
    """Argument -> its default, where it has one that JSON can hold."""
    named = {one.name: one.default for one in inspect.signature(builder).parameters.values()}
    return {name: value for name, value in named.items() if isinstance(value, (bool, int, float, str))}


def values() -> dict[str, dict[str, Any]]:
    """Section -> default values that tell which type the package has in mind."""
    from mindformers.dataset import CausalLanguageModelDataset
    from mindformers.models.llama import LlamaConfig
    from mindformers.pet.pet_config import LoraConfig
    from mindformers.tools.register import MindFormerRegister, template

    sections = {
        "(file)": template.GeneralConfig,
        "runner_config": template.RunnerConfig,
        "context": template.ContextConfig,
        "parallel": template.MsParallelConfig,
        "parallel_config": template.ParallelConfig,
        "recompute_config": template.RecomputeConfig,
    }
    found = {name: section._default_value() for name, section in sections.items()}
    builders = {
        "optimizer": MindFormerRegister.get_cls("optimizer", "AdamW").__new__,
        "lr_schedule": MindFormerRegister.get_cls("lr", "CosineWithWarmUpLR").__init__,
        "callbacks MFLossMonitor": MindFormerRegister.get_cls("callback", "MFLossMonitor").__init__,
        "callbacks CheckpointMonitor": MindFormerRegister.get_cls("callback", "CheckpointMonitor").__init__,
        "dataset": CausalLanguageModelDataset.__new__,
        "model.model_config LlamaConfig": LlamaConfig.__init__,
        "model.model_config.pet_config": LoraConfig.__init__,
    }
    return found | {name: defaults(builder) for name, builder in builders.items()}


def strings(source: Any, pattern: str) -> set[str]:
    """What a pattern finds in the source of an object."""
    return set(re.findall(pattern, inspect.getsource(source)))


def dictionary(source: Any, name: str) -> set[str]:
    """Keys of the dictionary that is bound to a name in the source of a method."""
    tree = ast.parse(inspect.getsource(source).replace("\n    ", "\n").strip())
    found = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
    ]
    return {key.value for key in found[0].keys if isinstance(key, ast.Constant)}  # type: ignore[attr-defined]


def general() -> dict[str, set[str]]:
    from mindformers.core.config_args import MFContextConfig
    from mindformers.core.context.build_context import _MSContextApplier
    from mindformers.tools.register import template
    from mindspore.context import _Context

    accepted = set(template.GeneralConfig.keys()) | set(template.CONFIG_NAME_TO_CLASS) - {"general_config"}
    context = set(_MSContextApplier()._param_to_category) | set(MFContextConfig.get_supported_kwargs())
    return {
        "(file)": accepted,
        "trainer": {"type", "model_name"} | strings(_trainer_sources(), r"config\.trainer\.(\w+)"),
        "runner_config": set(template.RunnerConfig.keys()),
        "context": context,
        "context.ascend_config": dictionary(_Context.set_ascend_config, "ascend_cfg_modes"),
        "context.jit_config": dictionary(_Context.set_jit_config, "jit_cfgs"),
    }


def _trainer_sources() -> Any:
    from mindformers.trainer import trainer

    return trainer


def dividing() -> dict[str, set[str]]:
    from mindformers.modules.transformer import TransformerOpParallelConfig
    from mindformers.tools.register import template
    from mindspore.parallel import _auto_parallel_context as parallel

    constants = parallel._ParallelOptimizerConfig
    levels = {value for name, value in vars(constants).items() if name.isupper()}
    degrees = set(template.ParallelConfig.keys())
    assert degrees <= arguments(TransformerOpParallelConfig.__init__), "the template takes what the class refuses"
    return {
        "parallel": set(parallel._set_auto_parallel_context_func_map),
        "parallel.parallel_optimizer_config": levels,
        "parallel.strategy_ckpt_config": strings(
            parallel._AutoParallelContext.set_strategy_ckpt_config, r'if "(\w+)" in strategy_ckpt_config'
        ),
        "parallel_config": degrees,
        "recompute_config": set(template.RecomputeConfig.keys()),
    }


def optimization() -> dict[str, set[str]]:
    from runtime.model import callbacks, training_cell  # noqa: F401  (they register ours)

    return {
        "optimizer": registered("optimizer", "AdamW"),
        "lr_schedule": registered("lr", "CosineWithWarmUpLR"),
        "runner_wrapper MFTrainOneStepCell": registered("wrapper", "MFTrainOneStepCell"),
        "runner_wrapper MFPipelineWithLossScaleCell": registered("wrapper", "MFPipelineWithLossScaleCell"),
        "runner_wrapper CpuTrainOneStepCell": registered("wrapper", "CpuTrainOneStepCell") | registered("wrapper", "MFTrainOneStepCell"),
        "runner_wrapper.scale_sense": registered("wrapper", "DynamicLossScaleUpdateCell"),
        **{
            f"callbacks {name}": registered("callback", name)
            for name in ("StopAtStep", "StopAtNonFinite", "MFLossMonitor", "CheckpointMonitor")
        },
        "metric": registered("metric", "PerplexityMetric"),
    }


def data() -> dict[str, set[str]]:
    from mindformers.dataset import CausalLanguageModelDataset as Dataset

    task = {"type", *arguments(Dataset.__new__)}
    popped = strings(Dataset._process_mindrecord_data, r'data_loader\.pop\("(\w+)"\)')
    return {
        "dataset_task": task,
        "dataset": task - {"type", "dataset_config"},
        "dataset.data_loader": registered("dataset_loader", "MindDataset") | popped,
    }


def models() -> dict[str, set[str]]:
    from mindformers.models.configuration_utils import PretrainedConfig
    from mindformers.models.llama import LlamaConfig
    from mindformers.models.qwen3.config_converter_qwen3 import Qwen3ConfigConverter
    from mindformers.models.qwen3.configuration_qwen3 import Qwen3Config
    from mindformers.modules import layers
    from mindformers.parallel_core.transformer_config_utils import DEFAULT_WHITE_KEY, ConfigLogHandler
    from mindformers.pet.pet_config import LoraConfig

    every = strings(PretrainedConfig.__init__, r'kwargs\.pop\("(\w+)"')
    mapped = set(Qwen3ConfigConverter._get_final_mapping(ConfigLogHandler()))
    return {
        "model.model_config LlamaConfig": {"type", *arguments(LlamaConfig.__init__), *every},
        "model.model_config.scaling_factor LLAMA3": strings(layers._check_llama3_scaling_factor, r'scaling_factor\["(\w+)"\]'),
        "model.model_config.pet_config": {"pet_type", *arguments(LoraConfig.__init__)},
        "model.model_config Qwen3Config": mapped | every | DEFAULT_WHITE_KEY | arguments(inspect.unwrap(Qwen3Config.__init__)),
        "model": {"model_config", "arch", "pretrained_model_dir", "generation_config"},
        "model.arch": {"type"},
    }


def prediction() -> dict[str, set[str]]:
    return {"processor": registered("processor", "LlamaProcessor"), "processor.tokenizer": registered("tokenizer", "LlamaTokenizer")}


SECTIONS: Iterable[Callable[[], dict[str, set[str]]]] = (general, dividing, optimization, data, models, prediction)


if __name__ == "__main__":
    keys = {name: sorted(names) for section in SECTIONS for name, names in section().items()}
    json.dump({"keys": keys, "defaults": values()}, sys.stdout)
