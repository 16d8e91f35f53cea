"""Heads whose initial outputs are near 0: Lillicrap et al. 2016, arXiv 1509.02971, section 7."""

from __future__ import annotations

from typing import Any

from torch import nn

#: The initial weights and bias of an output layer are uniform between minus and plus this.
SMALL = 3e-3


def with_small_output(head: Any) -> nn.Module:
    """A head whose layer `out` has small weights."""
    for parameter in (head.out.weight, head.out.bias):
        nn.init.uniform_(parameter.detach(), -SMALL, SMALL)
    made: nn.Module = head
    return made
