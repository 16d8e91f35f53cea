"""A layer of the group: the place of its numbers in flat tensors, and its natural gradient.

Shapes: P parameters of the group, C copies, I inputs (a bias included), O outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from torch import Tensor

from rlk_kfac.batch_factors import Pair
from rlk_kfac.layouts import Layout, WeightLayout
from rlk_kfac.products import Key


class Layer:
    """Reads its part of a flat gradient, and writes its part of a flat step.

    Args:
        layout: of its weight.
        key: its weight and bias among the parameters.
        gradient, step: float [P]; this layer keeps views of them.
        parameters: of the group, in the order of the flat tensors.
    """

    def __init__(
        self,
        layout: Layout,
        key: Key,
        gradient: Tensor,
        step: Tensor,
        parameters: Sequence[Tensor],
    ) -> None:
        self._gradient = _matrices(layout, key, gradient, parameters)
        self._step = _matrices(layout, key, step, parameters)

    def precondition(self, inverses: Pair) -> None:
        """Write A^-1 D G^-1 into the step, for this layer's part D [C, I, O] of the gradient."""
        inner, outer = inverses
        parts = self._gradient
        natural = inner @ (parts[0] if len(parts) == 1 else torch.cat(parts, 1)) @ outer
        at = 0
        for part in self._step:
            part.copy_(natural[:, at : at + part.shape[1]])
            at += part.shape[1]


def _matrices(layout: Layout, key: Key, flat: Tensor, parameters: Sequence[Tensor]) -> list[Tensor]:
    """Views of a layer's part of a flat tensor: its weight [C, I, O] and its bias [C, 1, O]."""

    def view(number: int) -> Tensor:
        start = sum(one.numel() for one in parameters[:number])
        one = parameters[number]
        return flat[start : start + one.numel()].view(one.shape)

    weight, bias = key
    found = []
    if weight is not None:  # then it is the layout of a product with one
        found.append(cast(WeightLayout, layout).matrix(view(weight)))
    if bias is not None:
        copies = found[0].shape[0] if found else 1
        found.append(view(bias).view(copies, 1, -1))
    return found
