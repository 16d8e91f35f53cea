"""The multilayer perceptron: observations flattened, and hidden layers for every head."""

from __future__ import annotations

from typing import Any

from torch import nn

from rlk.errors import PlanError
from rlk_mlp.batched_layers import BatchedLayers
from rlk_mlp.config import LayersConfig, MlpConfig
from rlk_mlp.layers import Layers, with_shared_layers
from rlk_networks import Architecture, HiddenLayers, custom_encoder, flat_size


class Mlp(Architecture):
    """The encoder flattens, or is the user's; heads have their own layers.

    Shared layers, if any, are part of the encoder.

    Raises:
        PlanError: if every head is to have its own encoder, and there is none but flattening.
    """

    def __init__(self, config: MlpConfig | None = None) -> None:
        self.config = config or MlpConfig()
        self.shares_encoder = self.config.share_encoder
        self.uniform_init = self.config.init == "uniform"
        if not self.shares_encoder and self.config.encoder is None:
            raise PlanError(
                "policy 'mlp' (rlk-mlp): share_encoder=false has no effect without an encoder of "
                "your own. Leave it out."
            )

    def encoder(self, observation_space: Any) -> nn.Module:
        config = self.config
        if config.encoder is not None:
            return with_shared_layers(custom_encoder(config.encoder, observation_space), config)
        return Layers(flat_size(observation_space), config.shared(), config)

    def trunk(self, role: str, features: int, *, extra: int = 0, n_copies: int = 1) -> HiddenLayers:
        return hidden_layers(self.config, role, features + extra, n_copies)

    def named_roles(self) -> tuple[str, ...]:
        return self.config.named_roles()


def hidden_layers(config: LayersConfig, role: str, inputs: int, n_copies: int) -> HiddenLayers:
    """The hidden layers of a head: one stack, or several in one batched call.

    Args:
        role: of the head (`pi`, `vf`, `qf`), for which the settings may have separate sizes.
    """
    sizes = config.own(role)
    if n_copies > 1:
        return BatchedLayers(inputs, sizes, n_copies, config)
    return Layers(inputs, sizes, config)
