"""The latest collection of an on-policy model, by the names of Stable-Baselines3's `RolloutBuffer`.

Shapes: T steps of a collection, N environments, D numbers of an action, B steps of a batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from rlk.records import Array
from rlk.spaces import map_observation
from rlk_on_policy.advantages import advantages
from rlk_sb3.common.type_aliases import DictRolloutBufferSamples, RolloutBufferSamples
from rlk_sb3.loop_variables import log_prob_of


class ModelsRollout:
    """What a model has collected, to be read once the collection is complete.

    That is from `_on_rollout_end` of callbacks to the next step. Arrays are views of the storage:
    a callback may change `rewards` in place at `_on_rollout_end`, before the model computes
    advantages from them. A truncated episode's reward does not have the value of its final
    observation added, as it has in Stable-Baselines3; its advantage does.

    Args:
        model: the model.
    """

    def __init__(self, model: Any) -> None:
        self._model = model

    @property
    def _latest(self) -> Any:
        """The storage's rollout; RlkError while a collection is not complete."""
        return self._model.agent.run.storage.latest()

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"{type(self).__name__} has no attribute {name!r}: it shows what a model has "
            "collected, and has observations, actions, rewards, values, log_probs, advantages, "
            "returns, size() and get(batch_size)"
        )

    @property
    def n_envs(self) -> int:
        """N."""
        return int(self._model.agent.run.n_envs)

    @property
    def buffer_size(self) -> int:
        """T."""
        return int(self._model.agent.run.algorithm.steps_per_collect())

    @property
    def full(self) -> bool:
        """Whether a collection is complete."""
        return len(self._model.agent.run.storage) > 0

    def size(self) -> int:
        """T, or 0 while a collection is not complete."""
        return self.buffer_size if self.full else 0

    @property
    def observations(self) -> Any:
        """[T, N, ...]; of a MaskablePPO dicts, with the masks."""
        return self._latest.observation

    @property
    def actions(self) -> Array:
        """[T, N, D], before they are clipped to a Box."""
        found: Array = self._latest.action
        return found.reshape(*found.shape[:2], -1)

    @property
    def rewards(self) -> Array:
        """Float32 [T, N]."""
        return self._latest.reward

    @property
    def values(self) -> Array:
        """Float32 [T, N], when the actions were taken."""
        return self._latest.extras["value"]

    @property
    def log_probs(self) -> Array:
        """Float32 [T, N], when the actions were taken; for A2C, by the policy as it is now."""
        latest, run = self._latest, self._model.agent.run
        if "log_prob" in latest.extras:
            return np.asarray(latest.extras["log_prob"])

        def flat(part: Array) -> torch.Tensor:
            return torch.as_tensor(part, device=run.device).flatten(0, 1)

        found = log_prob_of(run, map_observation(flat, latest.observation), flat(latest.action))
        return found.cpu().numpy().reshape(latest.reward.shape)

    @property
    def advantages(self) -> Array:
        """Generalised advantages by the policy as it is, float32 [T, N], a copy to read only."""
        run, model = self._model.agent.run, self._model
        found = advantages(self._latest, run.policy, model.gamma, model.gae_lambda, run.device)
        found.flags.writeable = False
        return found

    @property
    def returns(self) -> Array:
        """`advantages` plus `values`, float32 [T, N], a copy to read only."""
        found: Array = self.advantages + self.values
        found.flags.writeable = False
        return found

    def get(self, batch_size: int | None = None) -> Iterator[Any]:
        """All steps in random order by numpy's global generator, in batches of tensors [B, ...].

        Args:
            batch_size: the largest B; None means all T * N.
        """
        seen = self.observations
        kind = DictRolloutBufferSamples if isinstance(seen, dict) else RolloutBufferSamples
        columns = self.values, self.log_probs, self.advantages, self.returns
        device = self._model.device
        order = np.random.permutation(self.rewards.size)
        step = batch_size or len(order)
        for first in range(0, len(order), step):
            at = np.unravel_index(order[first : first + step], self.rewards.shape)

            def drawn(part: Array, at: Any = at) -> torch.Tensor:
                return torch.as_tensor(part[at], device=device)

            batch = [drawn(part) for part in columns]
            yield kind(map_observation(drawn, seen), drawn(self.actions), *batch)
