"""The steps of deduplication: each is a set of tasks over the parts of the corpus, or over partitions of what they wrote."""
