"""A training of seconds: configurations and rows for a model with two layers, as files of an experiment folder.

    python tiny.py EXPERIMENT_FOLDER

writes the packed rows (it needs MindSpore, so it runs in a process of its own).
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from runtime import manifest
from runtime.contracts.installed import installed_version

SEQ_LENGTH, VOCABULARY, BATCH, ROWS, STEPS = 16, 64, 4, 40, 12
LIBRARIES = ("python", "mindspore", "mindformers", "numpy", "safetensors")


def model(pet: dict[str, Any] | None = None) -> dict[str, Any]:
    config = {
        "type": "LlamaConfig", "batch_size": BATCH, "seq_length": SEQ_LENGTH, "hidden_size": 32, "num_layers": 2, "num_heads": 2,
        "n_kv_heads": 2, "vocab_size": VOCABULARY, "intermediate_size": 48, "rms_norm_eps": 1.0e-6, "theta": 10000.0, "bos_token_id": 1,
        "eos_token_id": 2, "pad_token_id": 0, "ignore_token_id": -100, "compute_dtype": "float32", "layernorm_compute_type": "float32",
        "softmax_compute_type": "float32", "rotary_dtype": "float32", "param_init_type": "float32", "use_past": False,
        "use_flash_attention": False, "use_rope_slice": True, "fused_rms_norm": False, "offset": 0,
    }  # fmt: skip
    return {"model_config": {**config, **({"pet_config": pet} if pet else {})}, "arch": {"type": "LlamaForCausalLM"}}


def training(stage: str, packed: str, columns: list[str], peak: float, pet: dict[str, Any] | None = None) -> dict[str, Any]:
    dataset = {
        "data_loader": {"type": "MindDataset", "dataset_dir": f"packed/{packed}/train.mindrecord", "shuffle": True},
        "input_columns": columns, "num_parallel_workers": 1, "python_multiprocessing": False, "drop_remainder": True,
        "batch_size": BATCH, "repeat": 1, "numa_enable": False, "prefetch_size": 1, "seed": 7,
    }  # fmt: skip
    return {
        "seed": 7, "run_mode": "finetune" if pet else "train", "use_legacy": True, "use_parallel": False,
        "output_dir": f".scratch/{stage}/mindformers", "load_checkpoint": "base/model.safetensors" if pet else "",
        "load_ckpt_format": "safetensors", "src_strategy_path_or_dir": "", "auto_trans_ckpt": False, "only_save_strategy": False,
        "resume_training": False, "trainer": {"type": "CausalLanguageModelingTrainer", "model_name": "common"},
        "runner_config": {"epochs": STEPS, "batch_size": BATCH, "sink_mode": False, "sink_size": 1, "gradient_accumulation_steps": 1},
        "optimizer": {"type": "AdamW", "betas": [0.9, 0.95], "eps": 1.0e-8, "weight_decay": 0.01},
        "lr_schedule": {
            "type": "CosineWithWarmUpLR", "learning_rate": peak, "lr_end": peak / 10, "warmup_steps": 2, "warmup_lr_init": peak / 2,
            "total_steps": STEPS,
        },
        "train_dataset": dataset, "train_dataset_task": {"type": "CausalLanguageModelDataset", "dataset_config": dataset},
        "context": {"mode": 0, "device_target": "CPU", "device_id": 0, "max_call_depth": 10000},
        "parallel_config": {
            "data_parallel": 1, "model_parallel": 1, "pipeline_stage": 1, "micro_batch_num": 1, "vocab_emb_dp": True,
            "gradient_aggregation_group": 4,
        },
        "micro_batch_interleave_num": 1, "recompute_config": {"recompute": False},
        "callbacks": [
            {"type": "StopAtStep", "step": STEPS}, {"type": "StopAtNonFinite"}, {"type": "MFLossMonitor", "per_print_times": 10},
            {"type": "CheckpointMonitor", "prefix": stage, "save_checkpoint_steps": 5, "keep_checkpoint_max": 2, "integrated_save": True,
             "async_save": False, "checkpoint_format": "safetensors", **({"save_trainable_params": True} if pet else {})},
        ],
        "runner_wrapper": {"type": "CpuTrainOneStepCell", "scale_sense": 1.0, "use_clip_grad": True, "max_grad_norm": 1.0},
        "model": model(pet),
    }  # fmt: skip


def configure(
    folder: Path,
    *,
    shape: str = "dynamic",
    peak: float = 0.01,
    targets: str = ".*wq|.*w2",
    device: str = "CPU",
    compute: str = "float32",
    recompute: dict[str, Any] | None = None,
    **wrapper: Any,
) -> None:
    """Write the compiled files of the four stages; `wrapper` are further keys of the training cell."""
    lora = {"pet_type": "lora", "lora_rank": 4, "lora_alpha": 8.0, "lora_dropout": 0.0, "target_modules": targets}
    files = {
        "environment": {library: installed_version(library) for library in LIBRARIES},
        "pretrain": training("pretrain", "pretrain", ["input_ids"], peak),
        "finetune": training("finetune", "instruct", ["input_ids", "labels"], min(peak, 0.01), lora),
        "merge": {"rank": 4, "alpha": 8.0, "dtype": "float32"},
        "export": {"format": "mindir", "shape": shape, "dtype": "float32", "device": "cpu"},
    }
    files["pretrain"]["context"]["device_target"] = device
    for stage in ("pretrain", "finetune"):
        files[stage]["runner_wrapper"] |= wrapper
        files[stage]["recompute_config"] |= recompute or {}
        files[stage]["model"]["model_config"]["compute_dtype"] = compute
        files[stage]["model"]["model_config"]["batch_size"] = BATCH // wrapper.get("accumulation", 1)
    (folder / "config").mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / "config" / f"{name}.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    (folder / "params.json").write_text(json.dumps(tracked(files)))


def tracked(files: dict[str, Any]) -> dict[str, Any]:
    """What `params.json` must say for these files."""
    from runtime.contracts.registry import BY_NAME
    from runtime.stage import look_up

    tree: dict[str, Any] = {}
    for stage in files.keys() & BY_NAME.keys():
        for name, path in BY_NAME[stage].tracked.items():
            *parents, leaf = name.split(".")
            node = tree
            for parent in parents:
                node = node.setdefault(parent, {})
            node[leaf] = look_up(files[stage], path)
    return tree


def write_rows(folder: Path) -> None:
    """Pack rows that follow a rule (each id is the one before plus the first), so that a model can learn them."""
    from mindspore.mindrecord import FileWriter

    starts = np.arange(ROWS)
    ids = (3 + (starts[:, None] * 5 + np.arange(SEQ_LENGTH + 1) * (1 + starts[:, None] % 3)) % (VOCABULARY - 3)).astype(np.int32)
    labels = np.where(np.arange(SEQ_LENGTH + 1) < 6, -100, ids).astype(np.int32)
    for name, columns in (("pretrain", {"input_ids": ids}), ("instruct", {"input_ids": ids, "labels": labels})):
        packed = folder / "packed" / name
        shutil.rmtree(packed, ignore_errors=True)
        packed.mkdir(parents=True)
        writer = FileWriter(str(packed / "train.mindrecord"), 1)
        writer.add_schema({column: {"type": "int32", "shape": [-1]} for column in columns}, "rows")
        writer.write_raw_data([{column: array[row] for column, array in columns.items()} for row in range(ROWS)])
        writer.commit()
        facts = {"row_length": SEQ_LENGTH + 1, "vocab_size": VOCABULARY, "pad_id": 0, "bos_id": 1, "eos_id": 2}
        made = manifest.describe(packed, f"pack-{name}", {"train_rows": ROWS}, facts)
        (packed / manifest.NAME).write_bytes(manifest.encode(made))


if __name__ == "__main__":
    write_rows(Path(sys.argv[1]))
