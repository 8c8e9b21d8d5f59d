"""The page and the record of an experiment."""
