"""The policy of masked actions: the mask bypasses the encoder and goes to the head `pi`.

Shapes: B batch, F features, M options, P a distribution's flat parameters. The encoder returns
[features, mask], float [B, F + M].
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from gymnasium import spaces
from torch import Tensor, nn

from rlk.abilities import offers
from rlk.errors import PlanError
from rlk_action_masking.masks import KEY, OBSERVATION, TITLE
from rlk_networks import Maskable, Policy
from rlk_networks.layers import hidden_of
from rlk_networks.recurrent import is_recurrent

if TYPE_CHECKING:
    from rlk.running.run import Run


def check_maskable(policy: Any, run: Run) -> None:
    """Does nothing if this policy of a run can be masked.

    Raises:
        PlanError: if its parts cannot be separated, or its distribution does not support masks.
    """
    plan = run.plan
    if type(policy) is not Policy:
        raise PlanError(
            f"{TITLE} puts masks into policies of rlk_networks, but {plan.policy.title} makes a "
            f"{type(policy).__name__}. Use another policy: rlk plugins list --kind policies"
        )
    if not offers(run.distribution, Maskable):
        title = "no distribution" if plan.distribution is None else plan.distribution.title
        raise PlanError(
            f"{TITLE} needs a distribution with mask_size and masked(parameters, mask), but there "
            f"is {title}. Use categorical, multi-categorical or bernoulli."
        )
    heads = [name for name, _ in policy.named_children() if name != "shared"]
    if "pi" not in heads:
        raise PlanError(
            f"{TITLE} masks the head 'pi' of a policy, but {plan.algorithm.title} asks for "
            f"{', '.join(heads)}. Use another algorithm: rlk plugins list --collects on-policy"
        )


def masked(policy: Policy, distribution: Maskable, space: spaces.Space[Any]) -> Policy:
    """A policy for observations with masks, made from one for observations without.

    Args:
        policy: its parts become parts of the new policy.
        distribution: of its head `pi`.
        space: of the observations with masks.
    """
    inner, size = policy.observation_space, distribution.mask_size
    keys = tuple(inner.spaces) if isinstance(inner, spaces.Dict) else None
    kind = RecurrentMaskedEncoder if is_recurrent(policy) else MaskedEncoder
    heads: dict[str, nn.Module] = {
        name: MaskedHead(head, distribution) if name == "pi" else MaskDropped(head, size)
        for name, head in policy.named_children()
        if name != "shared"
    }
    return Policy(space, kind(policy.shared, size, keys), heads)


class MaskedEncoder(nn.Module):
    """From preprocessed observations with masks to [features, mask].

    Args:
        encoder: of observations without masks.
        size: M.
        keys: those of an observation that is a dict; else None.

    Attributes:
        features: F + M.
    """

    def __init__(self, encoder: nn.Module, size: int, keys: tuple[str, ...] | None) -> None:
        super().__init__()
        self.encoder, self.keys = encoder, keys
        self.features = int(encoder.features) + size  # type: ignore[arg-type]

    def forward(self, observation: Mapping[str, Tensor]) -> Tensor:
        features = self.encoder(observation_without_mask(observation, self.keys))
        return torch.cat((features, observation[KEY]), 1)


class RecurrentMaskedEncoder(nn.Module):
    """The same around the encoder of a recurrent policy, whose state it passes on.

    Attributes:
        features: F + M. state_size: of the encoder inside.
    """

    def __init__(self, encoder: nn.Module, size: int, keys: tuple[str, ...] | None) -> None:
        super().__init__()
        self.encoder, self.keys = encoder, keys
        self.features = int(encoder.features) + size  # type: ignore[arg-type]
        self.state_size = int(encoder.state_size)  # type: ignore[arg-type]

    def step(
        self, x: Mapping[str, Tensor], state: Tensor, episode_start: Tensor
    ) -> tuple[Tensor, Tensor]:
        """([N, F + M], state [N, S]) of one step: x [N, ...], state [N, S], bool [N]."""
        seen = observation_without_mask(x, self.keys)
        features, state = self.encoder.step(seen, state, episode_start)  # type: ignore[operator]
        return torch.cat((features, x[KEY]), 1), state

    def forward(self, x: Mapping[str, Tensor], state: Tensor, episode_start: Tensor) -> Tensor:
        """[T * N, F + M] of whole sequences: x [T * N, ...], state [N, S], bool [T, N]."""
        features = self.encoder(observation_without_mask(x, self.keys), state, episode_start)
        return torch.cat((features, x[KEY]), 1)


def observation_without_mask(observation: Mapping[str, Any], keys: tuple[str, ...] | None) -> Any:
    """An observation without its mask."""
    return observation[OBSERVATION] if keys is None else {key: observation[key] for key in keys}


class MaskedHead(nn.Module):
    """The head `pi`: from [features, mask] to the parameters [B, P] of the allowed actions."""

    def __init__(self, head: nn.Module, distribution: Maskable) -> None:
        super().__init__()
        self.head, self.distribution = head, distribution

    def forward(self, x: Tensor) -> Tensor:
        size = self.distribution.mask_size
        return self.distribution.masked(self.head(x[:, :-size]), x[:, -size:])

    def hidden(self, x: Tensor) -> Tensor:
        """The output of the hidden layers, which see no mask (`Policy.hidden`)."""
        return hidden_of(self.head, x[:, : -self.distribution.mask_size])


class MaskDropped(nn.Module):
    """Every other head: it gets the features of [features, mask]."""

    def __init__(self, head: nn.Module, size: int) -> None:
        super().__init__()
        self.head, self.size = head, size

    def forward(self, x: Tensor, *arguments: Any) -> Any:
        return self.head(x[:, : -self.size], *arguments)

    def hidden(self, x: Tensor, *arguments: Any) -> Tensor:
        """The output of the hidden layers (`Policy.hidden`)."""
        return hidden_of(self.head, x[:, : -self.size], *arguments)
