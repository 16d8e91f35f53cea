"""Several LSTMs as one: one after the other, or side by side on the same inputs.

Each class has the methods of a layer (`LstmLayer`), so they can be nested. A state is the states
of the parts, concatenated in their order. Shapes: T steps, N environments, I inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

import torch
from torch import Tensor, nn

from rlk_mlp.config import Init
from rlk_mlp.layers import initialise
from rlk_networks import Linear


class Layer(Protocol):
    """A recurrent layer, from I inputs to `size` outputs; both calls as in `LstmLayer`."""

    size: int
    state_size: int  #: S, numbers of state per environment

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """([N, size], state [N, S]) for x [N, I] and the state [N, S] before."""
        ...

    def __call__(self, x: Tensor, state: Tensor, episode_start: Tensor) -> Tensor:
        """[T * N, size] for x [T * N, I], the state [N, S] before, bool [T, N]."""
        ...


class _Combined(nn.Module):
    """Attributes: size, of the output. state_size: S, the sum of the parts'."""

    def __init__(self, parts: Sequence[Layer], size: int) -> None:
        super().__init__()
        self.parts = nn.ModuleList(cast(Sequence[nn.Module], parts))
        self.size = size
        self._state_sizes = [part.state_size for part in parts]
        self.state_size = sum(self._state_sizes)

    def _with_states(self, state: Tensor) -> list[tuple[Layer, Tensor]]:
        """Every part with its columns of the state [N, S]."""
        states = torch.split(state, self._state_sizes, 1)
        return list(zip(cast(Sequence[Layer], self.parts), states, strict=True))


class Stacked(_Combined):
    """Each layer takes the output of the one before it."""

    def __init__(self, parts: Sequence[Layer]) -> None:
        super().__init__(parts, parts[-1].size)

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        after = []
        for part, own in self._with_states(state):
            x, own = part.step(x, own)
            after.append(own)
        return x, torch.cat(after, 1)

    def forward(self, x: Tensor, state: Tensor, episode_start: Tensor) -> Tensor:
        for part, own in self._with_states(state):
            x = part(x, own, episode_start)
        return x


class SideBySide(_Combined):
    """All take the same inputs; their outputs are concatenated."""

    def __init__(self, parts: Sequence[Layer]) -> None:
        super().__init__(parts, sum(part.size for part in parts))

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        results = [part.step(x, own) for part, own in self._with_states(state)]
        outputs, after = zip(*results, strict=True)
        return torch.cat(outputs, 1), torch.cat(after, 1)

    def forward(self, x: Tensor, state: Tensor, episode_start: Tensor) -> Tensor:
        return torch.cat([part(x, own, episode_start) for part, own in self._with_states(state)], 1)


class Memoryless(nn.Module):
    """A linear layer in the place of an LSTM: a state of no numbers.

    It begins as `init` says, but orthogonal with a gain of 1: no activation follows.
    """

    def __init__(self, inputs: int, size: int, init: Init = "orthogonal") -> None:
        super().__init__()
        self.linear = Linear(inputs, size)
        if init != "orthogonal":
            initialise(self.linear.weight.detach().T, self.linear.bias.detach(), init)
        self.size, self.state_size = size, 0

    def step(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        return self.linear(x), state

    def forward(self, x: Tensor, state: Tensor, episode_start: Tensor) -> Tensor:
        return cast(Tensor, self.linear(x))
