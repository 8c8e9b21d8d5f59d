"""Plan -> StageGraph."""
