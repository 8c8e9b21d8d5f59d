"""SourceTree to Spec: structure by the JSON Schema, then meaning, rule by rule; all faults at once."""

from compiler.validate.check import Reviewed, review, validate

__all__ = ["Reviewed", "review", "validate"]
