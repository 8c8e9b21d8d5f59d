"""Training, merging and exporting a model."""
