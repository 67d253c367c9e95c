"""Recurrent networks and control flow for `build.py`."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Tagger(nn.Module):
    """Tokens [N, L] through a bidirectional recurrent layer of two levels to scores [N, L, 6] and the last state.

    Args:
        kind: `nn.LSTM` or `nn.GRU`.
    """

    def __init__(self, kind: type[nn.LSTM] | type[nn.GRU]) -> None:
        super().__init__()
        self.embedding = nn.Embedding(30, 12)
        self.recurrent = kind(12, 10, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(20, 6)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        states, last = self.recurrent(self.embedding(tokens))
        return self.head(states).log_softmax(-1), last[0] if isinstance(last, tuple) else last


class Iterated(nn.Module):
    """A dense layer applied as often as an input says, its activation chosen by the mean: x [N, 8], count [] -> [N, 8], mean [N]."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Linear(8, 8)

    def forward(self, x: Tensor, count: Tensor) -> tuple[Tensor, Tensor]:
        total = torch.zeros(x.shape[0])
        for index in range(int(count)):
            x = self.dense(x)
            if bool(x.mean() > 0):  # noqa: SIM108 (TorchScript keeps the branch)
                x = torch.relu(x) - 0.5
            else:
                x = torch.tanh(x) + float(index)
            total = total + x.mean(1)
        return x, total
