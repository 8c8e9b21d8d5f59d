"""How fast the tokenizer itself encodes the documents of a split: `python encode_speed.py TOKENIZER SPLIT` prints JSON."""

import json
import sys
import time
from pathlib import Path

from runtime import records
from runtime.data import encoding


def main(tokenizer: Path, split: Path) -> None:
    """CPU seconds of `encode` alone, and the bytes of text that it got."""
    vocabulary = encoding.load(tokenizer)
    size = ids = 0
    seconds = 0.0
    for record in records.read(split):
        started = time.process_time()
        ids += len(vocabulary.encode(record.text))
        seconds += time.process_time() - started
        size += record.size
    print(json.dumps({"bytes": size, "ids": ids, "cpu_seconds": seconds}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
