"""What recurrent policies need of an on-policy algorithm: an actor that carries their state.

Shapes: T steps, N environments, S numbers of state (`rlk.protocols.RecurrentEncoder`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rlk import spaces
from rlk.policy import Policy, twin
from rlk.protocols import Distribution
from rlk.records import Act, Array, Field
from rlk_on_policy.actor import DistributionActor


def is_recurrent(policy: Policy) -> bool:
    """Whether what this policy gives depends on what went before."""
    return hasattr(policy.shared, "state_size")


def state_fields(policy: Policy) -> Mapping[str, Field]:
    """What a recurrent policy stores with every step; nothing for any other.

    `state` is the one before the step, still with what is left of an episode that has ended;
    `episode_start` says where that is to be forgotten.
    """
    if not is_recurrent(policy):
        return {}
    return {"state": Field((state_size(policy),)), "episode_start": Field((), "bool")}


def state_size(policy: Policy) -> int:
    """S, numbers of state per environment."""
    encoder: Any = policy.shared
    return int(encoder.state_size)


def make_actor(
    policy: Policy, distribution: Distribution, rng: np.random.Generator, device: Any = "cpu"
) -> DistributionActor | RecurrentActor:
    """The actor for this policy, with values and log-probabilities."""
    kind = RecurrentActor if is_recurrent(policy) else DistributionActor
    return kind(policy, distribution, rng, device=device)


def stepped(
    policy: Policy, observation: Any, state: Array, episode_start: Array, device: Any
) -> tuple[Tensor, Tensor]:
    """([N, F], state [N, S]) of one step of N environments."""
    encoder: Any = policy.shared
    x = policy.preprocess(spaces.as_tensor(observation, device))
    start = torch.from_numpy(episode_start).to(device)
    features, after = encoder.step(x, spaces.as_tensor(state, device), start)
    return features, after


class RecurrentActor:
    """The actor of a recurrent policy with heads `pi` and `vf`: its carry is the state [N, S].

    Args:
        policy, distribution, rng, device: as of `DistributionActor`.
    """

    def __init__(
        self,
        policy: Policy,
        distribution: Distribution,
        rng: np.random.Generator,
        device: Any = "cpu",
    ) -> None:
        self.policy, self.distribution, self.rng, self.device = policy, distribution, rng, device
        heads: list[Any] = [policy.get_submodule(name) for name in ("pi", "vf")]
        twins: list[Any] = [twin(head) for head in heads]
        self._numpy = device == "cpu" and None not in twins
        self._pi, self._vf = twins if self._numpy else heads

    def start(self, n_envs: int) -> Array:
        return np.zeros((n_envs, state_size(self.policy)), np.float32)

    def metrics(self) -> dict[str, float]:
        return {}

    @torch.inference_mode()
    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        """As every actor; extras are value, log_prob, and the state and mask that came in.

        Raises:
            ValueError: for a state of another number of environments, or of another policy.
        """
        distribution, n_envs = self.distribution, len(episode_start)
        if carry.shape != (n_envs, state_size(self.policy)):
            raise ValueError(
                f"the state of {n_envs} environments is [{n_envs}, {state_size(self.policy)}], got "
                f"{list(carry.shape)}: pass what the last call returned, or None at the start"
            )
        features, after = stepped(self.policy, observation, carry, episode_start, self.device)
        state = after.cpu().numpy()
        given = features.numpy() if self._numpy else features
        parameters = self._array(self._pi(given))
        if deterministic:
            action = distribution.numpy_mode(parameters)
            return Act(action, distribution.env_action(action), state, {})
        noise = distribution.noise(self.rng, n_envs)
        action, log_prob = distribution.numpy_sample(parameters, noise)
        extras = {
            "value": self._array(self._vf(given))[:, 0],
            "log_prob": log_prob,
            "state": carry,
            "episode_start": episode_start,
        }
        return Act(action, distribution.env_action(action), state, extras)

    def _array(self, found: Any) -> Array:
        array: Array = found if self._numpy else found.cpu().numpy()
        return array
