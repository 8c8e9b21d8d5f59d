"""`model.json` of a network whose configuration came from a mindformers YAML."""

from pathlib import Path

from runtime.compiled import Settings
from runtime.model import description


def test_a_block_inside_the_configuration_is_written_and_read_back(tmp_path: Path) -> None:
    """Llama 3's stretched frequencies are a mapping inside the model's."""
    scaling = {"factor": 8.0, "original_max_position_embeddings": 8192}
    config = Settings({"type": "LlamaConfig", "batch_size": 4, "num_layers": 2, "scaling_factor": scaling}, "config/pretrain.yaml")
    described = description.of_config({"model_config": config, "arch": {"type": "LlamaForCausalLM"}}, "0" * 64)
    described.write(tmp_path)
    assert description.read(tmp_path) == described
    assert described.config == {"num_layers": 2, "scaling_factor": scaling}
