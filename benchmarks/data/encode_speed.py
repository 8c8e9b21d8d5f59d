"""How fast the tokenizer itself encodes what a stage gets: `python encode_speed.py TOKENIZER FOLDER [--rows]` prints JSON.

FOLDER is a split, or with --rows a folder of rows of instructions.
"""

import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from experiment import row_texts

from runtime import records
from runtime.data import encoding


def main(tokenizer: Path, texts: Iterable[str]) -> None:
    """CPU seconds of `encode` alone, and the bytes of text that it got."""
    vocabulary = encoding.load(tokenizer)
    size = ids = 0
    seconds = 0.0
    for text in texts:
        started = time.process_time()
        ids += len(vocabulary.encode(text))
        seconds += time.process_time() - started
        size += len(text.encode())
    print(json.dumps({"bytes": size, "ids": ids, "cpu_seconds": seconds}))


if __name__ == "__main__":
    folder = Path(sys.argv[2])
    main(Path(sys.argv[1]), row_texts(folder) if "--rows" in sys.argv else (record.text for record in records.read(folder)))
