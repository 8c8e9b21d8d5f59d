"""SourceTree to Spec: structure by the JSON Schema, then meaning, rule by rule; all faults at once."""

from compiler.validate.check import validate

__all__ = ["validate"]
