"""Programs that take views of tensors and write to them, in any order."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatch
from typing import Any

import numpy as np
import torch

from tests.fuzz.case import Case
from tests.fuzz.draw import Draw, NoCase
from tests.fuzz.pytorch.exported import exported_case

Step = Callable[[list[torch.Tensor]], None]

STEPS = 6
"""Most steps of a program."""


def _view(draw: Draw, source: torch.Tensor) -> tuple[str, Callable[[torch.Tensor], torch.Tensor]]:
    """A view of a tensor."""
    rank, shape = source.dim(), list(source.shape)
    choices: list[tuple[str, Callable[[torch.Tensor], torch.Tensor]]] = [
        ("reshape", lambda x: x.reshape(-1)),
        ("alias", lambda x: x.detach()),
        ("unsqueeze", lambda x: x.unsqueeze(0)),
        ("contiguous", lambda x: x.contiguous()),
        ("to", lambda x: x.to(torch.float32)),
    ]
    if rank:
        axis = draw.integer(0, rank - 1)
        size = shape[axis]
        place = draw.integer(-size, size - 1)
        first = draw.integer(0, size - 1)
        last, step = draw.integer(first + 1, size), draw.integer(1, 2)
        other = draw.integer(0, rank - 1)
        order = draw.permutation(rank)
        choices += [
            ("select", lambda x: x.select(axis, place)),
            ("slice", lambda x: x[(slice(None),) * axis + (slice(first, last, step),)]),
            ("transpose", lambda x: x.transpose(axis, other)),
            ("permute", lambda x: x.permute(order)),
            ("narrow", lambda x: x.narrow(axis, first, last - first)),
            ("unbind", lambda x: x.unbind(axis)[place]),
            ("chunk", lambda x: x.chunk(2, axis)[-1]),
            ("split", lambda x: x.split(2, axis)[0]),
            ("flatten", lambda x: x.flatten()),
            ("squeeze", lambda x: x.squeeze(axis)),
            ("movedim", lambda x: x.movedim(axis, other)),
        ]
        if size % 2 == 0:
            choices.append(("unflatten", lambda x: x.unflatten(axis, (2, size // 2))))
    if rank >= 2:
        choices += [("diagonal", lambda x: x.diagonal(0, 0, 1)), ("mT", lambda x: x.mT)]
    if rank and source.is_contiguous():
        choices.append(("view", lambda x: x.view(-1, shape[-1])))
    return draw.one_of(choices)


def _write(draw: Draw, target: torch.Tensor) -> tuple[str, Callable[[torch.Tensor, torch.Tensor], Any]]:
    """A write to a tensor, of what another one says."""
    value = draw.one_of((2.0, 0.5, -1.0))
    choices: list[tuple[str, Callable[[torch.Tensor, torch.Tensor], Any]]] = [
        ("add_", lambda x, y: x.add_(y.sum())),
        ("mul_", lambda x, _: x.mul_(value)),
        ("fill_", lambda x, _: x.fill_(value)),
        ("relu_", lambda x, _: x.relu_()),
        ("neg_", lambda x, _: x.neg_()),
        ("zero_", lambda x, _: x.zero_()),
        ("copy_", lambda x, y: x.copy_(y.sum())),
        ("clamp_", lambda x, _: x.clamp_(-1, 1)),
        ("masked_fill_", lambda x, _: x.masked_fill_(x > 0, value)),
        ("+=", lambda x, y: x.__iadd__(y.mean())),
    ]
    if target.dim():
        axis = draw.integer(0, target.dim() - 1)
        size = target.shape[axis]
        place = draw.integer(-size, size - 1)
        choices += [
            ("setitem", lambda x, y: x.__setitem__((slice(None),) * axis + (place,), y.sum())),
            ("setitem slice", lambda x, _: x.__setitem__((slice(None),) * axis + (slice(place % size, None),), value)),
            ("setitem mask", lambda x, _: x.__setitem__(x > 0.5, value)),
            ("setitem list", lambda x, _: x.__setitem__(([0, -1],), value)),
            ("index_fill_", lambda x, _: x.index_fill_(axis, torch.tensor([0]), value)),
            ("cumsum_", lambda x, _: x.cumsum_(axis)),
        ]
    return draw.one_of(choices)


def writes(draw: Draw, only: str) -> Case:
    """A program of views and writes, now and then to its inputs; its results are all tensors, as they are at the end."""
    if not fnmatch("writes", only):
        raise NoCase("nothing of that name")
    shapes = [draw.one_of(([3, 4], [2, 3, 4], [6], [4, 4], [2, 2, 3])) for _ in range(2)]
    given = [torch.from_numpy(draw.random.normal(size=shape).astype(np.float32)) for shape in shapes]
    writes_inputs = draw.chance(0.4)
    tensors = [each.clone() * 1 for each in given]
    steps: list[tuple[str, int, int, Callable[..., Any]]] = []
    for _ in range(draw.integer(3, STEPS + 2)):
        index = draw.integer(0, len(tensors) - 1)
        if draw.chance(0.5):
            _, view = _view(draw, tensors[index])
            steps.append(("view", index, 0, view))
            tensors.append(view(tensors[index]))
        else:
            _, write = _write(draw, tensors[index])
            other = draw.integer(0, len(tensors) - 1)
            steps.append(("write", index, other, write))
            write(tensors[index], tensors[other])

    def function(*inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        held = list(inputs) if writes_inputs else [each * 1 for each in inputs]
        for kind, index, other, step in steps:
            if kind == "view":
                held.append(step(held[index]))
            else:
                step(held[index], held[other])
        return tuple(each + 0 for each in held)

    return exported_case(draw, "writes", function, given)
