"""An encoder of its own for every head, in the place of one that heads share. B batch.

The policy then only flattens preprocessed observations, so that they pass through `policy.shared`
as features do, and the trunk of every head begins with an encoder.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from rlk_networks.flattened import Flattened
from rlk_networks.layers import HiddenLayers


class EncodedTrunk(nn.Module):
    """The trunk of a head, after an encoder of its own.

    Args:
        flattened: the policy's part that heads share.
        encoder: from preprocessed observations to features.
        trunk: on these features, and on the inputs that come after all observations.
    """

    def __init__(self, flattened: Flattened, encoder: nn.Module, trunk: HiddenLayers) -> None:
        super().__init__()
        self._flattened = (flattened,)  # not a submodule: it is the policy's
        self.encoder, self.trunk = encoder, trunk
        self.features = trunk.features

    def forward(self, x: Tensor, *n: int | None) -> Tensor:
        (flattened,) = self._flattened
        seen, others = x[:, : flattened.features], x[:, flattened.features :]
        encoded = self.encoder(flattened.restored(seen))
        if others.shape[1]:
            encoded = torch.cat((encoded, others), 1)
        return self.trunk(encoded, *n)
