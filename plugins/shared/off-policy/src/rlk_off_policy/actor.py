"""How off-policy algorithms act: by the largest Q value, by a distribution, or by a function.

Shapes: N environments, A discrete actions, P a distribution's flat parameters. None of them carries
anything from step to step. Exploration is wrapped around them, by a noise or by the algorithm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from rlk.records import Act, Array
from rlk_action_scaling import scaled
from rlk_networks import Distribution, Policy, as_tensor


class GreedyActor:
    """The action of the largest Q value.

    Args:
        policy: its head `qf` gives one value per action, float [N, A].
        action_space: a Discrete one.
        device: of the policy.
    """

    def __init__(self, policy: Policy, action_space: Any, device: Any = "cpu") -> None:
        self.policy, self.action_space, self.device = policy, action_space, device
        self._first_action = int(action_space.start)

    def start(self, n_envs: int) -> None:
        return None

    def metrics(self) -> dict[str, float]:
        return {}

    @torch.inference_mode()
    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        (q,) = self.policy(as_tensor(observation, self.device), "qf")
        action: Array = q.argmax(1).cpu().numpy()
        return Act(action, action + self._first_action, None, {})


class StochasticActor:
    """A sample of the policy's distribution, or its mode where actions are to be deterministic.

    Args:
        policy: its head `pi` gives the distribution's parameters, float [N, P].
        distribution: of the actions.
        rng: where the noise of sampling comes from.
        device: of the policy.
    """

    def __init__(
        self,
        policy: Policy,
        distribution: Distribution,
        rng: np.random.Generator,
        device: Any = "cpu",
    ) -> None:
        self.policy, self.distribution, self.rng, self.device = policy, distribution, rng, device

    def start(self, n_envs: int) -> None:
        return None

    def metrics(self) -> dict[str, float]:
        return {}

    @torch.inference_mode()
    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        distribution = self.distribution
        (parameters,) = self.policy(as_tensor(observation, self.device), "pi")
        if deterministic:
            chosen = distribution.mode(parameters)
        else:
            noise = distribution.noise(self.rng, len(parameters))
            chosen = distribution.sample(parameters, torch.from_numpy(noise).to(self.device))
        action = chosen.cpu().numpy()
        return Act(action, distribution.env_action(action), None, {})


class DeterministicActor:
    """The policy's own action, scaled from -1 to 1 to the bounds of the space.

    Args:
        policy: its head `pi` gives actions in -1 to 1, float [N, D] for D numbers per action.
        action_space: a Box with finite bounds.
        device: of the policy.

    Raises:
        PlanError: if a bound of the action space is infinite.
    """

    def __init__(self, policy: Policy, action_space: Any, device: Any = "cpu") -> None:
        self.policy, self.action_space, self.device = policy, action_space, device
        self._env_action = scaled(action_space)

    def start(self, n_envs: int) -> None:
        return None

    def metrics(self) -> dict[str, float]:
        return {}

    @torch.inference_mode()
    def act(
        self, observation: Any, carry: Any, episode_start: Array, deterministic: bool = False
    ) -> Act:
        (chosen,) = self.policy(as_tensor(observation, self.device), "pi")
        action = chosen.cpu().numpy()
        return Act(action, self._env_action(action), None, {})
