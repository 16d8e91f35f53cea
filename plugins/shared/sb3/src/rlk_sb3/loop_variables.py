"""The variables that only callbacks of Stable-Baselines3 find in `locals`.

Shapes: N environments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from rlk.records import Step
from rlk.spaces import map_observation
from rlk_baselines.callback_variables import AccumulatedVariables, Infos, Variables

if TYPE_CHECKING:
    from rlk.running.run import Run


class LoopVariables(AccumulatedVariables):
    """The variables of Stable-Baselines3's loops, added to those of Stable Baselines 2.10.

    On-policy: `obs_tensor`, `values` [N, 1] and `log_probs` [N] as tensors, `iteration` and
    `n_steps`, which both count from 0, `n_rollout_steps` and `rollout_buffer`. Off-policy:
    `actions` as the environments get them, `buffer_actions` as the replay does, `replay_buffer`,
    `learning_starts`, and `num_collected_steps`, which counts from 1.

    Args:
        model: the model that learns.
    """

    def __init__(self, model: Any) -> None:
        self._model, self._env = model, model.get_env()
        self._steps = 0

    def begin(self, run: Run) -> None:
        self._steps = 0

    def see(self, run: Run, step: Step, infos: Infos, found: Variables) -> None:
        found["env"] = self._env
        model = self._model
        if model.is_off_policy:
            found |= {"buffer_actions": found["actions"], "actions": found["clipped_actions"]}
            found |= {"replay_buffer": model.replay_buffer, "num_collected_steps": self._steps + 1}
            found["learning_starts"] = model.learning_starts
            return

        def tensors(values: Any) -> Any:
            return torch.tensor(np.asarray(values), device=run.device)

        found["obs_tensor"] = map_observation(tensors, step.observation)
        found["values"] = tensors(step.extras["value"]).reshape(-1, 1)
        stored = step.extras.get("log_prob")
        found["log_probs"] = (
            log_prob_of(run, found["obs_tensor"], tensors(step.action))
            if stored is None
            else tensors(stored)
        )
        found |= {"iteration": found["update"] - 1, "n_steps": self._steps}
        found["n_rollout_steps"] = run.algorithm.steps_per_collect()
        found["rollout_buffer"] = model.rollout_buffer

    def add(self, step: Step, infos: Infos) -> None:
        self._steps += 1


@torch.no_grad()
def log_prob_of(run: Run, observation: Any, action: torch.Tensor) -> torch.Tensor:
    """Of actions by the policy as it is, float [N]: A2C does not store it."""
    (parameters,) = run.policy(observation, "pi")
    return run.distribution.log_prob(parameters, action)
