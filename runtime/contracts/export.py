"""export: the merged model as a MINDIR whose bytes depend on the model alone."""

from runtime.contracts.base import Contract, parameters


@parameters
class Export:
    """`format`: mindir; `shape`: static | dynamic (batch and length); `dtype`: float32 | float16; `device`: cpu | gpu | ascend."""

    format: str
    shape: str
    dtype: str
    device: str


CONTRACT = Contract(
    name="export",
    program="runtime.model.export",
    parameters=Export,
    inputs=("merged",),
    output="mindir",
    environment=("python", "mindspore", "mindformers", "numpy", "safetensors"),
    tracked={"export.shape": "shape", "export.dtype": "dtype"},
)
