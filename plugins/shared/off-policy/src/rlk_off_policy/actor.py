"""How off-policy algorithms act: by the largest Q value, by a distribution, or by a function.

Shapes: N environments, A discrete actions, P a distribution's flat parameters. None of them carries
anything from step to step. Exploration is wrapped around them, by a noise or by the algorithm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rlk.records import Act, Array
from rlk_action_scaling import scaled
from rlk_networks import Distribution, Policy, as_tensor, env_log_prob, env_probabilities


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

    def with_policy(self, policy: Policy) -> GreedyActor:
        return GreedyActor(policy, self.action_space, self.device)

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

    def probabilities(self, observation: Any, carry: Any, episode_start: Array) -> Array:
        """softmax(Q), as Stable Baselines 2.10 has it, float [N, A]; what is done is its mode."""
        return self._log_softmax(observation).exp().cpu().numpy()

    def log_prob(
        self, observation: Any, carry: Any, episode_start: Array, env_action: Array
    ) -> Array:
        """log softmax(Q) of actions numbered from the first of the space on, float [N]."""
        action = torch.from_numpy(env_action - self._first_action).to(self.device)
        found = self._log_softmax(observation).gather(1, action.long().unsqueeze(1))
        return found[:, 0].cpu().numpy()

    @torch.inference_mode()
    def _log_softmax(self, observation: Any) -> Tensor:
        (q,) = self.policy(as_tensor(observation, self.device), "qf")
        return torch.log_softmax(q, 1)


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

    @torch.inference_mode()
    def probabilities(
        self, observation: Any, carry: Any, episode_start: Array
    ) -> Array | list[Array]:
        """As `Agent.action_probability` says, with a leading axis."""
        return env_probabilities(
            self.distribution, self._parameters(observation, carry, episode_start)
        )

    @torch.inference_mode()
    def log_prob(
        self, observation: Any, carry: Any, episode_start: Array, env_action: Array
    ) -> Array:
        """The log-probability of the environment's actions, float [N]."""
        parameters = self._parameters(observation, carry, episode_start)
        return env_log_prob(self.distribution, parameters, env_action)

    def _parameters(self, observation: Any, carry: Any, episode_start: Array) -> Tensor:
        """The distribution's flat parameters, [N, P]."""
        (parameters,) = self.policy(as_tensor(observation, self.device), "pi")
        found: Tensor = parameters
        return found


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

    def with_policy(self, policy: Policy) -> DeterministicActor:
        return DeterministicActor(policy, self.action_space, self.device)

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
