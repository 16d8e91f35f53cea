"""Transitions as discriminators get them, of a rollout and of an expert. B of them, K numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from gymnasium import spaces

from rlk.records import Array
from rlk_expert_data import Trajectories
from rlk_expert_data.fitting import observations_in
from rlk_networks import own_action
from rlk_rollout.rollout import Rollout

if TYPE_CHECKING:
    from rlk.running.run import Run


@dataclass(frozen=True)
class Transitions:
    """The observations, actions and next observations of transitions.

    Attributes:
        observation: raw, as policies take it, [B, …].
        action: as storages keep it, [B] or [B, D].
        seen, taken, following: the observation, the action and the next observation as numbers,
            float64 [B, K] each.
        terminated: bool [B].
    """

    observation: Array
    action: Array
    seen: Array
    taken: Array
    following: Array
    terminated: Array

    def __len__(self) -> int:
        return len(self.action)

    def __getitem__(self, index: Array) -> Transitions:
        """The transitions with these indices."""
        return Transitions(**{name: array[index] for name, array in vars(self).items()})


def of_rollout(run: Run, rollout: Rollout) -> Transitions:
    """All transitions of a rollout, time first."""

    def flat(array: Array) -> Array:
        return array.reshape(-1, *array.shape[2:])

    observation, following = flat(rollout.observation), flat(rollout.following_observation())
    return _of(run, observation, flat(rollout.action), following, flat(rollout.terminated))


def of_expert(run: Run, expert: Trajectories) -> Transitions:
    """An expert's transitions in the run's spaces.

    Where the data does not say how episodes ended, the last one of each is left out.

    Raises:
        PlanError: if its spaces differ.
    """
    observation, action = _in_run(run, expert)
    now, after, terminated = expert.following()
    every = observation
    if expert.final_observation is not None:
        final = observations_in(run.observation_space, expert.final_observation, expert.whose)
        every = np.concatenate((observation, final))
    return _of(run, observation[now], action[now], every[after], terminated)


def every_pair(run: Run, expert: Trajectories) -> Transitions:
    """All observations and actions of an expert, if the next observations are not needed.

    Raises:
        PlanError: if its spaces differ.
    """
    observation, action = _in_run(run, expert)
    return _of(run, observation, action, observation, np.zeros(len(action), np.bool_))


def size_of(space: Any) -> int:
    """K: how many numbers represent an element of a space; an integer is one-hot encoded."""
    return int(spaces.flatdim(space))


def rows(space: Any, values: Array) -> Array:
    """float64 [B, K] of elements of a space, [B, *shape]; integers are one-hot encoded."""
    if isinstance(space, spaces.Discrete):
        return _one_hot(values[:, None] - space.start, np.array([space.n]))
    if isinstance(space, spaces.MultiDiscrete):
        counted = (values - space.start).reshape(len(values), space.nvec.size)
        return _one_hot(counted, space.nvec.reshape(-1))
    return values.reshape(len(values), size_of(space)).astype(np.float64)


def _in_run(run: Run, expert: Trajectories) -> tuple[Array, Array]:
    """Observations, and actions as the run's storage keeps them."""
    fitted = expert.fitted(run.observation_space, run.action_space)
    if not isinstance(run.action_space, spaces.Box):
        return fitted.observation, fitted.action
    own = own_action(run.distribution, torch.from_numpy(fitted.action))
    return fitted.observation, own.numpy()


def _of(run: Run, observation: Array, action: Array, following: Array, over: Array) -> Transitions:
    """The transitions; actions are as the environment gets them, clipped or scaled."""
    space = run.observation_space
    taken = rows(run.action_space, run.distribution.env_action(action))
    return Transitions(
        observation, action, rows(space, observation), taken, rows(space, following), over
    )


def _one_hot(whole: Array, sizes: Array) -> Array:
    """Whole numbers [B, D] as one-hot vectors of these sizes, concatenated, [B, sum of sizes]."""
    parts = [np.zeros((len(whole), int(size))) for size in sizes]
    for part, column in zip(parts, whole.T.astype(int), strict=True):
        part[np.arange(len(whole)), column] = 1
    return np.concatenate(parts, axis=1)
