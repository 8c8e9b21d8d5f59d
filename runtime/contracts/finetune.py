"""finetune: LoRA on the packed instruction rows, from the mindformers YAML `config/finetune.yaml`."""

from runtime.contracts.base import Contract

CONTRACT = Contract(
    name="finetune",
    program="runtime.model.finetune",
    parameters=None,
    inputs=("packed/instruct", "base"),
    output="adapter",
    plots=("plots/finetune.csv",),
    environment=("python", "mindspore", "mindformers", "numpy", "safetensors"),
    tracked={
        "finetune.steps": "lr_schedule.total_steps",
        "finetune.schedule.peak": "lr_schedule.learning_rate",
        "finetune.micro_batch": "model.model_config.batch_size",
        "finetune.lora.rank": "model.model_config.pet_config.lora_rank",
        "finetune.lora.alpha": "model.model_config.pet_config.lora_alpha",
    },
)
