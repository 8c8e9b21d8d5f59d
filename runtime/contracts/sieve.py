"""sieve: one language model a language, from a clean reference text, by which `clean` scores documents."""

from runtime.contracts.base import Contract, parameters

# What `make kenlm` builds, as requirements-kenlm.lock names it. KenLM is optional, so it is not among the locked libraries; being
# written here, another version changes the code of the stage and with it the stage.
KENLM = "0.3.0"


@parameters
class Sieve:
    """`reference`: file or folder of clean text, relative to the project root; `order`: length of the longest n-gram."""

    reference: str
    order: int


CONTRACT = Contract(
    name="sieve",
    program="runtime.data.sieve",
    parameters=Sieve,
    output="sieve",
    environment=("python", "resiliparse", "pycld2"),
    optional=True,
)
