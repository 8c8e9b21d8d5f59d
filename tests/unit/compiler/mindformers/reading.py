"""What mindformers itself makes of compiled files. Run as a script with a folder of `<name>.yaml` beside `<name>.json`, the
values that were meant; prints one line for each that is another one, or of another type, once mindformers has read it.

A training file also goes through what mindformers' trainer does with it before it builds a network, with the parallel
context that the ranks would have: nothing that was written may be another value afterwards.
"""

import copy
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def differences(meant: Any, read: Any, where: str = "") -> Iterator[str]:
    """Every place where a value, or its type, is not the one that was meant; keys that were added are not compared."""
    if isinstance(meant, dict):
        for key, value in meant.items():
            if not isinstance(read, dict) or key not in read:
                yield f"{where}.{key}: {value!r} is missing"
            else:
                yield from differences(value, read[key], f"{where}.{key}")
    elif isinstance(meant, list):
        if type(read) is not list or len(read) != len(meant):
            yield f"{where}: {meant!r} became {read!r}"
        else:
            for index, value in enumerate(meant):
                yield from differences(value, read[index], f"{where}[{index}]")
    elif type(meant) is not type(read) or meant != read:
        yield f"{where}: {meant!r} became {read!r}"


def prepared(config: Any, devices: int) -> Any:
    """The configuration after mindformers' trainer has set it up, in the parallel context of `devices` ranks."""
    import mindspore as ms
    from mindformers.core.parallel_config import reset_parallel_config
    from mindformers.trainer.base_trainer import BaseTrainer

    ms.reset_auto_parallel_context()
    if config.use_parallel:
        modes = {0: "data_parallel", 1: "semi_auto_parallel"}
        section = {**config.parallel, "parallel_mode": modes[config.parallel.parallel_mode], "device_num": devices}
        section.pop("strategy_ckpt_save_file", None)
        if strategy := section.pop("dataset_strategy", None):
            section["dataset_strategy"] = tuple(tuple(part) for part in strategy)
        if config.parallel_config.pipeline_stage > 1:
            section["pipeline_stages"] = config.parallel_config.pipeline_stage
        ms.set_auto_parallel_context(**section)
    trainer = BaseTrainer("text_generation", "common")
    done = trainer.set_config(config, is_full_config=True)
    done.runner_config.batch_size = done.runner_config.mini_batch_size
    reset_parallel_config(done, reset_diff_config=False)
    ms.reset_auto_parallel_context()
    return done


def checked(config: Any) -> Any:
    """The network's section after mindformers' rules for evaluation and prediction, which replace types and attention."""
    from mindformers.tools import check_rules

    check_rules._restore_net_type(config)
    if config.run_mode == "eval":
        check_rules._rule_fa_only_for_train(config, config.run_mode)
    return config.model.model_config


def network_config(config: Any) -> Any:
    """The configuration object of the network, as mindformers builds it from the file, by the names of the file."""
    from mindformers.models.llama import LlamaConfig
    from mindformers.models.qwen3.configuration_qwen3 import Qwen3Config

    settings = copy.deepcopy(dict(config.model.model_config))
    settings.pop("type", None)
    if config.use_legacy:
        return LlamaConfig(**settings)
    made = Qwen3Config(**settings)
    made.convert_to_transformer_config()  # it raises where two keys stand for one, or a value is refused
    return made


def network_differences(config: Any) -> Iterator[str]:
    """Values of the network's section that the configuration object does not have; types of numbers are objects there."""
    made, model = network_config(config), config.model.model_config
    for key, value in model.items():
        if key in ("type", "model_type") or "dtype" in key or key.endswith(("_compute_type", "param_init_type")):
            continue
        if key not in ("pet_config", "scaling_factor") and getattr(made, key, None) != value:
            yield f".model.model_config.{key}: {value!r} became {getattr(made, key, None)!r}"


def _in_order(*contents: Any) -> None:
    """mindformers moves its loss monitor to the front of the callbacks, each of which is there once."""
    for content in contents:
        if "callbacks" in content:
            content["callbacks"] = sorted(content["callbacks"], key=lambda one: one["type"])


def check(file: Path) -> Iterator[str]:
    """All differences of one file."""
    from mindformers import MindFormerConfig

    meant = json.loads(file.with_suffix(".json").read_bytes())
    read: Any = MindFormerConfig(str(file))
    _in_order(meant["content"], read)
    yield from differences(meant["content"], read)
    yield from network_differences(read)
    if read.run_mode in ("eval", "predict"):
        before = copy.deepcopy(read.model.model_config)
        yield from (f".model.model_config{one} (once checked)" for one in differences(before, checked(read)))
    if read.run_mode in ("train", "finetune"):
        kept = {key: meant["content"][key] for key in ("runner_config", "runner_wrapper", "parallel_config", "recompute_config")}
        yield from (f"{one} (once prepared)" for one in differences(kept, prepared(read, meant["devices"])))


if __name__ == "__main__":
    for path in sorted(Path(sys.argv[1]).glob("*.yaml")):
        for difference in check(path):
            sys.stdout.write(f"DIFFERENT {path.stem}{difference}\n")
    sys.stdout.write("DONE\n")
