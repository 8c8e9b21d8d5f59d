"""Train one configuration by mindformers' Trainer on a CPU and say how much memory that took.

    python train_once.py '{"hidden": 256, ...}' FOLDER

Prints one line of JSON: `peak`, the largest resident memory of the process less that after the context was built, in bytes.
FOLDER gets the mindformers YAML, the rows and mindformers' own output.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import yaml

STEPS = 2  # all kernels have run in the first; the second holds no more
CELLS = {"q_proj": "wq", "k_proj": "wk", "v_proj": "wv", "o_proj": "wo", "gate_proj": "w1", "up_proj": "w3", "down_proj": "w2"}
Shape = dict[str, Any]


def resident(key: str) -> int:
    """Bytes of VmRSS (now) or VmHWM (the most so far) of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{key}:"))


def model_config(shape: Shape) -> dict[str, Any]:
    """The legacy Llama with the switches that a CPU needs, as the compiler writes them."""
    model = {
        "type": "LlamaConfig", "batch_size": shape["batch"], "seq_length": shape["seq"], "hidden_size": shape["hidden"],
        "num_layers": shape["layers"], "num_heads": shape["heads"], "n_kv_heads": shape["kv"], "vocab_size": shape["vocab"],
        "intermediate_size": shape["inter"], "rms_norm_eps": 1.0e-6, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
        "ignore_token_id": -100, "compute_dtype": shape["compute"], "layernorm_compute_type": "float32",
        "softmax_compute_type": "float32", "rotary_dtype": "float32", "param_init_type": "float32", "use_past": False,
        "use_flash_attention": False, "use_rope_slice": True, "fused_rms_norm": False, "offset": 0,
    }  # fmt: skip
    if shape["rank"]:
        targets = "|".join(f"{CELLS[name]}$" for name in shape["targets"])
        model["pet_config"] = {"pet_type": "lora", "lora_rank": shape["rank"], "lora_alpha": 16.0, "lora_dropout": 0.0,
                               "param_init_type": "float32", "compute_dtype": shape["compute"], "target_modules": targets}  # fmt: skip
    return model


def config(shape: Shape) -> dict[str, Any]:
    """The mindformers YAML of the training; it saves nothing, since a save copies what it writes."""
    rows = {"data_loader": {"type": "MindDataset", "dataset_dir": "rows.mindrecord", "shuffle": True}, "input_columns": ["input_ids"],
            "num_parallel_workers": 1, "python_multiprocessing": False, "drop_remainder": True, "batch_size": shape["batch"],
            "repeat": 1, "numa_enable": False, "prefetch_size": 1, "seed": 1}  # fmt: skip
    return {
        "seed": 1, "run_mode": "train", "use_legacy": True, "use_parallel": False, "output_dir": "output", "load_checkpoint": "",
        "src_strategy_path_or_dir": "", "auto_trans_ckpt": False, "only_save_strategy": False, "resume_training": False,
        "trainer": {"type": "CausalLanguageModelingTrainer", "model_name": "common"},
        "runner_config": {"epochs": 1, "batch_size": shape["batch"], "sink_mode": False, "sink_size": 1, "gradient_accumulation_steps": 1},
        "optimizer": {"type": "AdamW", "betas": [0.9, 0.95], "eps": 1.0e-8, "weight_decay": 0.01},
        "lr_schedule": {"type": "CosineWithWarmUpLR", "learning_rate": 1.0e-3, "lr_end": 1.0e-5, "warmup_steps": 1,
                        "warmup_lr_init": 1.0e-3, "total_steps": STEPS},
        "train_dataset": rows, "train_dataset_task": {"type": "CausalLanguageModelDataset", "dataset_config": rows},
        "context": {"mode": 0, "device_target": "CPU", "device_id": 0, "max_call_depth": 10000},
        "parallel_config": {"data_parallel": 1, "model_parallel": 1, "pipeline_stage": 1, "micro_batch_num": 1, "vocab_emb_dp": True},
        "recompute_config": {"recompute": shape["recompute"] == "full", "select_recompute": shape["recompute"] == "selective"},
        "callbacks": [{"type": "MFLossMonitor", "per_print_times": 1}],
        "runner_wrapper": {"type": "CpuTrainOneStepCell", "scale_sense": 1.0, "use_clip_grad": True, "max_grad_norm": 1.0},
        "model": {"model_config": model_config(shape), "arch": {"type": "LlamaForCausalLM"}},
    }  # fmt: skip


def write_rows(shape: Shape) -> None:
    """Random ids: what they are does not change the memory."""
    from mindspore.mindrecord import FileWriter

    writer = FileWriter("rows.mindrecord", 1, overwrite=True)
    writer.add_schema({"input_ids": {"type": "int32", "shape": [-1]}})
    ids = np.random.default_rng(0).integers(3, shape["vocab"], (shape["batch"] * STEPS, shape["seq"] + 1), dtype=np.int32)
    writer.write_raw_data([{"input_ids": row} for row in ids])
    writer.commit()


def measure(shape: Shape) -> int:
    """Bytes that STEPS steps of training added at most to the resident memory after the context was built."""
    Path("training.yaml").write_text(yaml.safe_dump(json.loads(json.dumps(config(shape)))))
    write_rows(shape)
    import mindspore as ms
    from mindformers import MindFormerConfig, Trainer, build_context

    from runtime.model import training_cell  # noqa: F401  (registers the training cell that the YAML names)

    settings = MindFormerConfig("training.yaml")
    build_context(settings)
    ms.set_seed(settings.seed)
    before = resident("VmRSS")
    Trainer(settings).train()
    return resident("VmHWM") - before


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    os.chdir(sys.argv[2])
    print(json.dumps({"peak": measure(json.loads(sys.argv[1]))}))
