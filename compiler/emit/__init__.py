"""StageGraph -> text -> files."""
