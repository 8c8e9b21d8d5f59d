"""SourceTree to Spec: structure by the JSON Schema, then meaning, rule by rule; all faults at once."""

from compiler.validate.check import Reviewed, findings, review, validate

__all__ = ["Reviewed", "findings", "review", "validate"]
