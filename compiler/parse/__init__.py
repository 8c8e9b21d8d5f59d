"""Text to SourceTree: Hydra composes, and every value keeps the place where it was written."""

from compiler.parse.compose import Incomplete, load
from compiler.parse.experiments import experiments, names

__all__ = ["Incomplete", "experiments", "load", "names"]
