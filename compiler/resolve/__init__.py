"""Spec -> Experiment."""
