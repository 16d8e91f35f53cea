"""Recurrent policies in on-policy algorithms, and the actor that carries their state.

Shapes: T steps, N environments, F features, S numbers of state per environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rlk.records import Act, Array, Field
from rlk_networks import Distribution, Policy, as_tensor
from rlk_networks.actor import STATE_TO_PASS, mode, sample
from rlk_networks.probabilities import TellsByDistribution
from rlk_networks.recurrent import encoder_of, is_recurrent


def state_fields(policy: Policy, *, first_only: bool = False) -> Mapping[str, Field]:
    """The fields that a recurrent policy stores with every step; none for any other policy.

    `state` is the one before the step, not yet reset after an episode that has ended;
    `episode_start` says where it must be reset.

    Args:
        first_only: whether a storage may keep only the first state of a collection, which is all
            that unrolling the whole of it needs. `following_values` and `sequence_epochs` also
            need later ones.
    """
    if not is_recurrent(policy):
        return {}
    size = encoder_of(policy).state_size
    state = Field((size,), first_only=first_only)
    return {"state": state, "episode_start": Field((), "bool")}


def stepped(
    policy: Policy, observation: Any, state: Array, episode_start: Array, device: Any
) -> tuple[Tensor, Tensor]:
    """([N, F], state [N, S]) of one step of N environments."""
    x = policy.preprocess(as_tensor(observation, device))
    start = torch.from_numpy(episode_start).to(device)
    return encoder_of(policy).step(x, as_tensor(state, device), start)


def encoded(policy: Policy, observation: Any, state: Tensor, episode_start: Tensor) -> Tensor:
    """The features of sequences, [T * N, F]: the arguments are those of `unrolled`."""
    return encoder_of(policy)(policy.preprocess(observation), state, episode_start)


def unrolled(
    policy: Policy, observation: Any, state: Tensor, episode_start: Tensor, *names: str
) -> tuple[Any, ...]:
    """The outputs of the named heads for sequences, each [T * N, ...], unrolled in one call.

    Args:
        observation: [T * N, ...], raw, time first.
        state: float [N, S], before the first step. episode_start: bool [T, N].
    """
    features = encoded(policy, observation, state, episode_start)
    return tuple([getattr(policy, name)(features) for name in names])


def checked_state(policy: Policy, state: Any, n_envs: int) -> Array:
    """The state as float32 [N, S].

    Raises:
        ValueError: for a state of another number of environments, or of another policy.
    """
    array: Array = np.asarray(state, np.float32)
    expected = (n_envs, encoder_of(policy).state_size)
    if array.shape != expected:
        raise ValueError(
            f"with n_envs={n_envs} the state is {list(expected)}, got {list(array.shape)}: "
            f"{STATE_TO_PASS}"
        )
    return array


class RecurrentActor(TellsByDistribution):
    """The actor of a recurrent policy: its carry is the state [N, S].

    Args:
        policy, distribution, rng, extras, device: as of `DistributionActor`.
    """

    def __init__(
        self,
        policy: Policy,
        distribution: Distribution,
        rng: np.random.Generator,
        extras: tuple[str, ...] = ("value", "log_prob"),
        device: Any = "cpu",
    ) -> None:
        self.policy, self.distribution, self.rng, self.device = policy, distribution, rng, device
        self.extras = extras
        self._state_size = encoder_of(policy).state_size
        self._pi = policy.get_submodule("pi")
        self._vf = policy.get_submodule("vf") if "value" in extras else None

    def start(self, n_envs: int) -> Array:
        return np.zeros((n_envs, self._state_size), np.float32)

    def metrics(self) -> dict[str, float]:
        return {}

    @torch.inference_mode()
    def act(
        self,
        observation: Any,
        carry: Any,
        episode_start: Array,
        deterministic: bool = False,
        noise: Array | None = None,
    ) -> Act:
        """As every actor; the extras also have the state before the step, and `episode_start`.

        Args:
            noise: of the sample, [N, ...]; None draws it.

        Raises:
            ValueError: for a state of another number of environments, or of another policy.
        """
        n_envs = len(episode_start)
        carry = checked_state(self.policy, carry, n_envs)
        features, after = stepped(self.policy, observation, carry, episode_start, self.device)
        state = after.cpu().numpy()
        parameters = self._pi(features)
        if deterministic:
            return mode(self.distribution, parameters)._replace(carry=state)
        if noise is None:
            noise = self.distribution.noise(self.rng, n_envs)
        values = [] if self._vf is None else [self._vf(features)]
        act = sample(self.distribution, parameters, noise, values, self.extras)
        extras = {"state": carry, "episode_start": episode_start, **act.extras}
        return act._replace(carry=state, extras=extras)

    @torch.inference_mode()
    def parameters(self, observation: Any, carry: Any, episode_start: Array) -> Tensor:
        carry = checked_state(self.policy, carry, len(episode_start))
        features, _ = stepped(self.policy, observation, carry, episode_start, self.device)
        return self._pi(features)
