"""Spec -> files: the compiler. Imports only the contracts of the runtime."""
