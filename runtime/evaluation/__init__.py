"""Scores of models, and experiments compared by them."""
