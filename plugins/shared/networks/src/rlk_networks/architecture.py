"""An architecture, and the heads that an algorithm asks for: together they are the policy.

Dimensions: B batch, F features, P a distribution's flat parameters.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, cast

import torch
from torch import Tensor, nn

from rlk.errors import PlanError
from rlk_flat_parameters import FlatParameters
from rlk_networks.distribution import Distribution
from rlk_networks.flattened import Flattened
from rlk_networks.layers import Head, HiddenLayers, InitialisesUniformly
from rlk_networks.policy import Policy


class Trunk(Protocol):
    """The maker of hidden layers with which an algorithm builds its heads."""

    def __call__(self, role: str, *, extra: int = 0, n_copies: int = 1) -> HiddenLayers:
        """Hidden layers on top of the encoder.

        Args:
            role: `pi`, `vf` or `qf`, or `state_value`, the stream of a dueling `qf` for the value
                of the state.
            extra: number of inputs after the encoder's features (an action for a critic).
            n_copies: the number of independent stacks of layers in one batched call, from [B, F] to
                [n_copies, B, F']. If there are several, the module takes a second argument: n
                evaluates only the first n of them, [n, B, F'], and None all.
        """


#: name -> a function that builds that head from a trunk maker. An algorithm's `heads` returns it.
Heads = Mapping[str, Callable[[Trunk], nn.Module]]


def policy_head(trunk: Trunk, distribution: Distribution) -> Head:
    """The head `pi`: hidden layers and the distribution's own head, [B, F] to float [B, P]."""
    layers = trunk("pi")
    return Head(layers, distribution.head(layers.features))


class Architecture(ABC):
    """A policy component: the encoder that heads share, and the hidden layers of each head.

    In the mode `eval()`, in which policies act, encoders and layers compute each row of a batch by
    itself. They compute on the device that they were moved to, and write nothing into what they are
    given. Every key of a Dict has an effect.

    Attributes:
        shares_encoder: if false, the trunk of every head begins with an encoder of its own.
        uniform_init: if true, the linear layers of heads begin as PyTorch's do, the output layers
            too; else as the algorithm and the distribution made them.
        recurrent: whether the encoder has a state. It makes a class that is passed as a policy a
            recurrent one; a component says it for itself.
    """

    shares_encoder: bool = True
    uniform_init: bool = False
    recurrent: ClassVar[bool] = False

    @abstractmethod
    def encoder(self, observation_space: Any) -> nn.Module:
        """From preprocessed observations (`preprocess`) to [B, F]; `.features` is F."""

    @abstractmethod
    def trunk(self, role: str, features: int, *, extra: int = 0, n_copies: int = 1) -> HiddenLayers:
        """Hidden layers on top of `features` inputs, a module; see `Trunk`."""

    def named_roles(self) -> tuple[str, ...]:
        """The roles that the settings have layers for, each of which a head must have."""
        return ()

    def build(self, observation_space: Any, heads: Heads) -> Policy:
        """The policy module: one encoder, or one for each head, and these heads, in their order.

        Raises:
            PlanError: if the settings have layers for a role that no head has, or the heads are
                not `Heads`.
        """
        if not isinstance(heads, Mapping):
            raise PlanError(
                f"the algorithm's heads() gave {heads!r:.80}, which {type(self).__name__} cannot "
                "build. Return rlk_networks.Heads: a dict of functions that make a module each."
            )
        flattened = None if self.shares_encoder else Flattened(observation_space)
        shared = flattened or self.encoder(observation_space)
        roles: dict[str, None] = {}

        def trunk(role: str, *, extra: int = 0, n_copies: int = 1) -> HiddenLayers:
            roles[role] = None
            encoder = shared if flattened is None else self.encoder(observation_space)
            features = cast(int, encoder.features)
            layers = self.trunk(role, features, extra=extra, n_copies=n_copies)
            return layers if flattened is None else EncodedTrunk(flattened, encoder, layers)

        made = {name: build(trunk) for name, build in heads.items()}
        for name, head in made.items():
            if not isinstance(head, nn.Module):
                raise PlanError(
                    f"head {name!r} of the algorithm was made {head!r:.80}, which is no "
                    "torch.nn.Module. Let the function that heads() has for it return one."
                )
            if self.uniform_init:
                for layer in head.modules():
                    if isinstance(layer, InitialisesUniformly):
                        layer.initialise_uniform()
        unused = [role for role in self.named_roles() if role not in roles]
        if unused:
            raise PlanError(
                f"the policy's settings have layers for {', '.join(map(repr, unused))}, and this "
                f"algorithm's heads are {', '.join(map(repr, roles))}. Name those in net_arch."
            )
        return Policy(observation_space, shared, made)

    def flatten(self, module: nn.Module) -> FlatParameters:
        """The flat parameters of a policy module, of any architecture, that is on its device."""
        return FlatParameters(module)


class EncodedTrunk(nn.Module):
    """The trunk of a head, after an encoder of its own, in the place of one that heads share.

    The policy then only flattens preprocessed observations, so that they pass through
    `policy.shared` as features do.

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
