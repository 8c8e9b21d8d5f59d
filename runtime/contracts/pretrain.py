"""pretrain: mindformers' Trainer on the packed corpus, from the mindformers YAML `config/pretrain.yaml`."""

from runtime.contracts.base import Contract

CONTRACT = Contract(
    name="pretrain",
    program="runtime.model.pretrain",
    parameters=None,
    inputs=("packed/pretrain",),
    output="base",
    plots=("plots/pretrain.csv",),
    environment=("python", "mindspore", "mindformers", "numpy", "safetensors"),
    tracked={
        "seed": "seed",
        "model.num_layers": "model.model_config.num_layers",
        "model.hidden_size": "model.model_config.hidden_size",
        "pretrain.steps": "lr_schedule.total_steps",
        "pretrain.schedule.peak": "lr_schedule.learning_rate",
        "pretrain.micro_batch": "model.model_config.batch_size",
    },
)
