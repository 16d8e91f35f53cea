"""Recurrent policies: hidden layers, a CNN or a Dict's keys, LSTMs, layers of each head.

Shapes: T steps, N environments, F features, S numbers of state (hidden and cell of each unit).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from torch import Tensor, nn

from rlk import spaces
from rlk.errors import PlanError
from rlk_cnn.network import Cnn
from rlk_lstm.combined import Layer, Memoryless, SideBySide, Stacked
from rlk_lstm.config import LstmConfig
from rlk_lstm.lstm import LstmLayer
from rlk_lstm.normalised import NormalisedLstmLayer
from rlk_mlp.layers import Layers
from rlk_mlp.network import Mlp
from rlk_multi_input.network import ConcatenatedKeys
from rlk_networks import Architecture, FeatureSlice, HiddenLayers, flat_size


class Lstm(Architecture):
    """The encoder is everything up to the LSTM, and the shared layers after it."""

    recurrent = True

    def __init__(self, config: LstmConfig | None = None) -> None:
        self.config = config or LstmConfig()
        self.uniform_init = self.config.init == "uniform"
        self._heads = Mlp(self.config.heads())

    def encoder(self, observation_space: Any) -> nn.Module:
        """The recurrent encoder.

        Raises:
            PlanError: if the first module does not accept the environment's observations.
        """
        config = self.config
        first, size = _first(config, observation_space)
        before = Layers(size, config.before(), config.heads())
        return Recurrent(nn.Sequential(*first, before), _memory(config, before.features), config)

    def trunk(self, role: str, features: int, *, extra: int = 0, n_copies: int = 1) -> HiddenLayers:
        if self.config.value_lstm == "shared":
            return self._heads.trunk(role, features, extra=extra, n_copies=n_copies)
        half = features // 2
        own = self._heads.trunk(role, half, extra=extra, n_copies=n_copies)
        return FeatureSlice(own, features, 0 if role == "pi" else half, half)

    def named_roles(self) -> tuple[str, ...]:
        return self._heads.named_roles()


def _first(config: LstmConfig, space: Any) -> tuple[list[nn.Module], int]:
    """The modules that observations pass through first, if any, and the size of their output."""
    extraction = config.feature_extraction
    if extraction == "mlp":
        return [], flat_size(space)
    if extraction == "cnn" and config.cnn_extractor is not None:
        own: Any = Cnn(config.cnn()).cnn(space)  # which may take other observations than images
        return [own], own.features
    taken = {"cnn": "Image", "multi-input": "Dict"}[extraction]
    if taken not in spaces.kinds(space):
        raise PlanError(
            f"policy 'lstm' (rlk-lstm): feature_extraction={extraction} takes observations that "
            f"are {taken}, but the environment's are {spaces.describe(space)}. "
            "Use --set policy.feature_extraction=mlp."
        )
    if extraction == "cnn":
        made: Any = Cnn(config.cnn()).cnn(space)
    else:
        made = ConcatenatedKeys(space, config.keys())
    return [made], made.features


def _memory(config: LstmConfig, inputs: int) -> Layer:
    """The LSTM of all heads; or the policy's, and beside it what serves the value function."""
    own = _lstms(config, inputs)
    if config.value_lstm == "shared":
        return own
    if config.value_lstm == "own":
        return SideBySide([own, _lstms(config, inputs)])
    return SideBySide([own, Memoryless(inputs, config.n_lstm, config.init)])


def _lstms(config: LstmConfig, inputs: int) -> Layer:
    """`n_lstm_layers` of them, one after the other."""
    layer = NormalisedLstmLayer if config.layer_norm else LstmLayer
    sizes = [inputs, *[config.n_lstm] * config.n_lstm_layers]
    layers = [layer(before, after) for before, after in pairwise(sizes)]
    return layers[0] if len(layers) == 1 else Stacked(layers)


class Recurrent(nn.Module):
    """The encoder of a recurrent policy, as `rlk_testing.PolicyContract` describes it.

    Attributes:
        features: F. state_size: S, twice the units of every LSTM: hidden values first, then cells.
    """

    def __init__(self, before: nn.Module, lstm: Layer, config: LstmConfig) -> None:
        super().__init__()
        self.before, self.lstm = before, lstm
        self.after = Layers(lstm.size, config.after(), config.heads())
        self.features, self.state_size = self.after.features, lstm.state_size

    def step(self, x: Tensor, state: Tensor, episode_start: Tensor) -> tuple[Tensor, Tensor]:
        """([N, F], state [N, S]) of one step: x [N, ...], state [N, S], bool [N]."""
        state = state.masked_fill(episode_start[:, None], 0.0)
        hidden, state = self.lstm.step(self.before(x), state)
        return self.after(hidden), state

    def forward(self, x: Tensor, state: Tensor, episode_start: Tensor) -> Tensor:
        """[T * N, F] of whole sequences: x [T * N, ...], state [N, S] before them, bool [T, N].

        Rows are time first; no gradient flows into the state.
        """
        hidden: Tensor = self.lstm(self.before(x), state, episode_start)
        return self.after(hidden)
