"""Rows that a model writes after the example of rows that people wrote; `synthesize` is the stage."""
