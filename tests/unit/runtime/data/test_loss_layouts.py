"""What mindformers' Llama scores of packed text with labels, against NumPy over exactly the label positions that the rows state."""

from typing import Any

import numpy as np
import pytest
from samples import texts
from test_loss_positions import SEQ_LENGTH, losses, mean_loss, model

from runtime.data.chat import IGNORED
from runtime.data.encoding import Vocabulary
from runtime.data.rows import RowCutter, Stream, WholePacker, document_ids, scored

__all__ = ["model"]


def packed(cutter: RowCutter | WholePacker, vocabulary: Vocabulary) -> tuple[np.ndarray, np.ndarray]:
    """The last two rows of some documents, the longest of which is longer than a row."""
    given = [*texts(4), "".join(texts(6)), "fox"]
    blocks = [*cutter.add(Stream.of(document_ids(vocabulary, text) for text in given)), *cutter.finish()]
    return tuple(np.concatenate([getattr(block, name) for block in blocks])[-2:] for name in ("ids", "labels"))  # pyright: ignore


@pytest.mark.slow
@pytest.mark.parametrize("whole", [True, False])
def test_padding_is_not_scored_nor_the_step_into_it(model: Any, vocabulary: Vocabulary, whole: bool) -> None:
    cutter = WholePacker(SEQ_LENGTH, vocabulary.pad) if whole else RowCutter(SEQ_LENGTH, vocabulary.pad)
    ids, labels = packed(cutter, vocabulary)
    positions = scored(ids, labels, vocabulary.pad)
    assert (ids == vocabulary.pad).any() and (labels[ids == vocabulary.pad] == IGNORED).all()
    assert int(positions.sum()) == int((labels[:, 1:] != IGNORED).sum()) < positions.size
    loss, log_probabilities = losses(model, ids, labels)
    assert loss == pytest.approx(mean_loss(log_probabilities, labels, positions), abs=1e-5)
    into_pad = losses(model, ids)[0]  # without labels the end of the text would be taught to be followed by padding
    assert abs(into_pad - loss) > 1e-5
