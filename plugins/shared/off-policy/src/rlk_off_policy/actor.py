"""Off-policy actors without a distribution: by the largest Q value, or by a deterministic policy.

Shapes: N environments, A discrete actions. Neither has a carry. Exploration is wrapped around
them, by a noise or by the algorithm.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from rlk.records import Act, Array
from rlk_action_scaling import scaled
from rlk_networks import Policy, as_tensor


class GreedyActor:
    """The action with the largest Q value.

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
        """softmax(Q), as in Stable Baselines 2.10, float [N, A]; the actor takes its mode."""
        return self._log_softmax(observation).exp().cpu().numpy()

    def log_prob(
        self, observation: Any, carry: Any, episode_start: Array, env_action: Array
    ) -> Array:
        """log softmax(Q) of actions, numbered from the space's start, float [N]."""
        action = torch.from_numpy(env_action - self._first_action).to(self.device)
        found = self._log_softmax(observation).gather(1, action.long().unsqueeze(1))
        return found[:, 0].cpu().numpy()

    @torch.inference_mode()
    def _log_softmax(self, observation: Any) -> Tensor:
        (q,) = self.policy(as_tensor(observation, self.device), "qf")
        return torch.log_softmax(q, 1)


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
