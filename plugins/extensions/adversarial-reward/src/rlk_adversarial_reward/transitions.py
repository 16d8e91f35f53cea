"""Transitions as discriminators see them, of a rollout and of an expert. B of them, K numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rlk.records import Array
from rlk_adversarial_reward.numbers import action_rows, observation_rows
from rlk_expert_data import Trajectories
from rlk_rollout.rollout import Rollout

if TYPE_CHECKING:
    from rlk.running.run import Run


@dataclass(frozen=True)
class Transitions:
    """What was seen, done, and seen next.

    Attributes:
        observation: raw, as policies take it, [B, …].
        action: as storages keep it, [B] or [B, D].
        seen, done, following: the observation, the action and the next observation as numbers,
            float64 [B, K] each.
        terminated: bool [B].
    """

    observation: Array
    action: Array
    seen: Array
    done: Array
    following: Array
    terminated: Array

    def __len__(self) -> int:
        return len(self.action)

    def __getitem__(self, index: Array) -> Transitions:
        """Those of these indices."""
        return Transitions(**{name: array[index] for name, array in vars(self).items()})


def of_rollout(run: Run, rollout: Rollout) -> Transitions:
    """All transitions of a rollout, time first; what episodes ended on follows their last step."""

    def flat(array: Array) -> Array:
        return array.reshape(-1, *array.shape[2:])

    observation = rollout.observation
    following = np.concatenate((observation[1:], rollout.next_observation[None]))
    following[rollout.final_time, rollout.final_env] = rollout.final_observation
    over = flat(rollout.terminated)
    return _of(run, flat(observation), flat(rollout.action), flat(following), over)


def of_expert(run: Run, expert: Trajectories) -> Transitions:
    """An expert's transitions in the run's spaces, without the last of every episode.

    Raises:
        PlanError: if its spaces are others.
    """
    fitted = expert.fitted(run.observation_space, run.action_space)
    now, after = fitted.following()
    terminated = np.zeros(len(now), np.bool_)
    return _of(
        run, fitted.observation[now], fitted.action[now], fitted.observation[after], terminated
    )


def every_pair(run: Run, expert: Trajectories) -> Transitions:
    """All of an expert's observations and actions, for what does not ask what followed them.

    Raises:
        PlanError: if its spaces are others.
    """
    fitted = expert.fitted(run.observation_space, run.action_space)
    seen = fitted.observation
    return _of(run, seen, fitted.action, seen, np.zeros(len(fitted), np.bool_))


def _of(run: Run, observation: Array, action: Array, following: Array, over: Array) -> Transitions:
    space = run.observation_space
    return Transitions(
        observation,
        action,
        observation_rows(space, observation),
        action_rows(run.action_space, action),
        observation_rows(space, following),
        over,
    )
