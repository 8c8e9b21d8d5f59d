"""A language model that scores and answers: one compiled network, into which the weights of each model are put in turn."""

from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from numpy.typing import NDArray

from runtime.faults import StageFault
from runtime.model import description, network, weights


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
        """Build the network and load the folder's weights. Raises StageFault where the dtype is not the one of training."""
        self.description = description.read(folder)
        trained = self.description.config.get("compute_dtype")
        if trained != dtype:
            raise StageFault(
                f"dtype is {dtype}, the model was trained in {trained}",
                where="config/evaluate.yaml",
                reason="scores of another precision are scores of another model",
                fix="run `mindspec compile`, which takes the dtype of the model",
            )
        self._network = network.open_folder(folder, dtype, dynamic=True)
        self._next = NextToken(self._network.model)
        self._next.set_train(False)

    @property
    def seq_length(self) -> int:
        """The most tokens the network takes."""
        return int(self.description.config["seq_length"])

    def load(self, folder: Path) -> None:
        """Put the weights of another folder into the network. Raises StageFault where its architecture is another one."""
        other = description.read(folder)
        if (other.architecture, other.config) != (self.description.architecture, self.description.config):
            raise StageFault(f"{folder} describes another network than base", where=str(folder / description.NAME), fix="delete the folder and run `dvc repro`")
        network.fill(self._network.model, weights.load(folder / "model.safetensors"))

    def logits(self, ids: NDArray[np.integer]) -> NDArray[np.floating]:
        """ids (rows, length) -> logits (rows, length, vocabulary); position t predicts the id at t + 1."""
        return network.logits(self._network, ids)

    def next_logits(self, ids: NDArray[np.int32], lengths: NDArray[np.int32]) -> NDArray[np.floating]:
        """ids (rows, width) that stand at the left, lengths (rows,) -> logits (rows, vocabulary) of the next token."""
        last = np.arange(len(ids)) * ids.shape[1] + lengths - 1
        return self._next(ms.Tensor(ids), ms.Tensor(last.astype(np.int32))).asnumpy()
