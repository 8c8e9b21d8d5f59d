"""The declaration of a spec: every field once, with its type, range, unit, default, doc in two languages and class."""

from compiler.spec.root import Spec
from compiler.spec.walk import DeclaredField, fields, is_map

__all__ = ["DeclaredField", "Spec", "fields", "is_map"]
