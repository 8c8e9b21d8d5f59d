"""A language model that scores and answers: one compiled network, into which the weights of each model are put in turn."""

from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from numpy.typing import NDArray

from runtime.model import network, weights


class NextToken(nn.Cell):
    """ids (rows, width), last (rows,) flat positions -> logits (rows, vocabulary); the other positions skip the output layer."""

    def __init__(self, model: nn.Cell) -> None:
        super().__init__(auto_prefix=False)
        self.model = model

    def construct(self, ids: ms.Tensor, last: ms.Tensor) -> ms.Tensor:
        """One forward pass of the layers, and of the output layer at the last token of every row."""
        hidden = self.model.model(ids)
        rows = ops.gather(ops.reshape(hidden, (-1, hidden.shape[-1])), last, 0)
        return ops.cast(self.model.lm_head(rows), ms.float32)


class Scorer:
    """The network of a result folder; `logits` and `next_logits` are what `perplexity` and `generation` ask for."""

    def __init__(self, folder: Path, dtype: str) -> None:
        """Build the network. Raises InputFault where weights and description do not fit."""
        self._network = network.open_folder(folder, dtype, dynamic=True)
        self._next = NextToken(self._network.model)
        self._next.set_train(False)

    def load(self, folder: Path) -> None:
        """Put the weights of another folder into the network. Raises InputFault where names or shapes differ."""
        network.fill(self._network.model, weights.load(folder / "model.safetensors"))

    def logits(self, ids: NDArray[np.integer]) -> NDArray[np.floating]:
        """ids (rows, length) -> logits (rows, length, vocabulary); position t predicts the id at t + 1."""
        return network.logits(self._network, ids)

    def next_logits(self, ids: NDArray[np.int32], lengths: NDArray[np.int32]) -> NDArray[np.floating]:
        """ids (rows, width) that stand at the left, lengths (rows,) -> logits (rows, vocabulary) of the next token."""
        last = np.arange(len(ids)) * ids.shape[1] + lengths - 1
        logits: Any = self._next(ms.Tensor(ids), ms.Tensor(last.astype(np.int32)))
        return logits.asnumpy()
