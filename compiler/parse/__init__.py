"""Text to SourceTree: Hydra composes, and every value keeps the place where it was written."""

from compiler.parse.compose import load
from compiler.parse.experiments import experiments, names

__all__ = ["experiments", "load", "names"]
