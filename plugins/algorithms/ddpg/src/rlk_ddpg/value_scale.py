"""The meaning of a critic's output: a return, or one normalised by the statistics of returns.

`return_statistics.py` has the formulas. Shapes: B transitions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from rlk.errors import RlkError
from rlk.protocols import State
from rlk_ddpg import return_statistics as statistics
from rlk_networks import Linear

if TYPE_CHECKING:
    from rlk.running.run import Run


class ValueScale:
    """Translates the outputs of critics into values and back.

    Args:
        run: all of its ranks have the same statistics.
        bounds: outputs are clamped to these.
        normalises: whether outputs are normalised returns; if not, they are returns.
        preserved: output layers of critics that are rescaled when the statistics change, so that
            their values stay the same (Pop-Art).

    Attributes:
        moments: float64 [3], of the returns so far.
    """

    def __init__(
        self,
        run: Run,
        bounds: tuple[float, float],
        *,
        normalises: bool,
        preserved: tuple[Linear, ...],
    ) -> None:
        self.moments = torch.tensor(statistics.PRIOR, dtype=torch.float64, device=run.device)
        self._communicator = run.communicator
        self._bounds, self._is_bounded = bounds, any(map(math.isfinite, bounds))
        self._normalises, self._preserved = normalises, preserved

    def value(self, output: Tensor) -> Tensor:
        """The values of a critic's outputs, float [B]."""
        output = self._bounded(output)
        if not self._normalises:
            return output
        return statistics.denormalised(output, *statistics.mean_and_std(self.moments))

    def output(self, value: Tensor) -> Tensor:
        """The outputs for these values, float [B]."""
        if self._normalises:
            value = statistics.normalised(value, *statistics.mean_and_std(self.moments))
        return self._bounded(value)

    def _bounded(self, output: Tensor) -> Tensor:
        return output.clamp(*self._bounds) if self._is_bounded else output

    @torch.no_grad()
    def update(self, returns: Tensor) -> dict[str, Tensor]:
        """Update the statistics with these returns, float [B], and rescale the preserved layers.

        Nothing happens if returns are not normalised.

        Returns:
            The new mean and standard deviation, as metrics.
        """
        if not self._normalises:
            return {}
        communicator, old = self._communicator, statistics.mean_and_std(self.moments)
        moments = statistics.merged(self.moments, returns, communicator.mean, communicator.size)
        self.moments.copy_(moments)
        new = statistics.mean_and_std(self.moments)
        for layer in self._preserved:
            weight, bias = statistics.rescaled(layer.weight, layer.bias, old, new)
            layer.weight.copy_(weight)
            layer.bias.copy_(bias)
        return {"return_mean": new[0], "return_std": new[1]}

    def state_dict(self) -> State:
        """What outputs mean; without normalisation, that they are returns."""
        return {"return_moments": self.moments.clone()}

    def load_state_dict(self, state: State) -> None:
        """Restore the part of an algorithm's state that `state_dict` returned.

        Critics that were not normalised go on as they are, with or without normalisation.

        Raises:
            RlkError: if they were, and outputs are returns here.
        """
        saved = state["return_moments"]
        mean, std = (float(one) for one in statistics.mean_and_std(saved))
        if not self._normalises and (mean, std) != (0.0, 1.0):
            raise RlkError(
                f"return_moments are those of a critic that learnt normalised returns (mean "
                f"{mean:.4g}, standard deviation {std:.4g}), and this run's learns returns. Use "
                "--set normalize_returns=true; a program that changes parameters itself leaves "
                "return_moments as they are."
            )
        self.moments.copy_(saved)
