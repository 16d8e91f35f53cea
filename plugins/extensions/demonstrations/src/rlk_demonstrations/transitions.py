"""An expert's transitions as the steps of a vector environment.

Dimensions: M rows of the data in E episodes, K transitions, N environments, D action dimensions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.records import Array, Step
from rlk.spaces import describe, map_observation
from rlk_action_scaling import unscaled
from rlk_expert_data import Trajectories
from rlk_expert_data.fitting import actions_in, parts_in
from rlk_expert_data.images import is_paths

#: Transitions whose observations are read at a time (images are in files).
_AT_A_TIME = 1024
#: How far beyond a bound an action may be, as a part of half the width: float32 is not exact.
_TOLERANCE = 1e-5


@dataclass(frozen=True)
class Transitions:
    """All transitions whose next observation is known, in the order of the data.

    Observations are referred to by their rows: 0 to M - 1 are those of the data, and M to
    M + E - 1 the final ones of the episodes, if these are known. Where they are not, as in files of
    Stable Baselines, the last transition of each episode is left out, and the episode counts as
    truncated before it.

    Attributes:
        space: of observations.
        rows: all observations, [M + E, …] or [M, …], in a form that `parts_in` takes.
        action: as a replay stores them: int64 [M], or float32 [M, D] in -1 to 1 for a Box.
        reward: float [M].
        index: int64 [K], the row of each transition's observation, action and reward.
        following: int64 [K], the row of its next observation.
        terminated, truncated: bool [K]; one of them is true at the end of an episode.
        episodes: E.
        whose: the name of the data in errors.
    """

    space: Any
    rows: Array
    action: Array
    reward: Array
    index: Array
    following: Array
    terminated: Array
    truncated: Array
    episodes: int
    whose: str

    def __len__(self) -> int:
        return len(self.index)

    @property
    def left_out(self) -> int:
        """Last transitions of episodes that cannot be stored."""
        return len(self.action) - len(self.index)

    def steps(self, n_envs: int) -> Iterator[Step]:
        """The transitions as steps of N environments, one episode after the other in each.

        All of them are concatenated and cut into N equal parts. So up to N - 1 episodes continue
        in another environment, and the remainder of the division, the first K % N transitions, is
        left out. A part that is cut off before its episode ends is neither terminated nor
        truncated there.
        """
        order = np.arange(len(self) % n_envs, len(self)).reshape(n_envs, -1).T
        size = max(1, _AT_A_TIME // n_envs)
        for begin in range(0, len(order), size):
            part, rest = order[begin : begin + size], order[begin + size :]
            after = self.index[rest[0]] if len(rest) else self.following[part[-1]]
            seen = self._observations(np.vstack([self.index[part], after]))
            for t, now in enumerate(part):
                yield self._step(now, _at(seen, t), _at(seen, t + 1))

    def _step(self, now: Array, observation: Any, next_observation: Any) -> Step:
        """The step of these transitions, int64 [N]."""
        rows, terminated, truncated = self.index[now], self.terminated[now], self.truncated[now]
        ended = np.flatnonzero(terminated | truncated).tolist()
        final = self._observations(self.following[now[ended]]) if ended else None
        return Step(
            observation=observation,
            action=self.action[rows],
            reward=self.reward[rows],
            terminated=terminated,
            truncated=truncated,
            next_observation=next_observation,
            final_observation={env: _at(final, i) for i, env in enumerate(ended)},
            extras={},
        )

    def _observations(self, rows: Array) -> Any:
        """The observations in these rows, which may have several axes."""
        found = parts_in(self.space, self.rows[rows.reshape(-1)], self.whose)
        return map_observation(lambda part: part.reshape(*rows.shape, *part.shape[1:]), found)


def transitions_of(data: Trajectories, observation_space: Any, action_space: Any) -> Transitions:
    """The transitions of an expert's data, checked.

    Images in files are checked when they are read.

    Raises:
        PlanError: if the spaces differ, a number is not finite or not in its space, or rewards are
            missing.
    """
    rows, (index, following, over) = data.observation, data.following()
    if data.final_observation is not None:
        rows = np.concatenate([data.observation, data.final_observation])
    if not is_paths(rows):
        parts_in(observation_space, rows, data.whose)
    # An episode ends where the next transition does not continue from the observation it led to.
    ends = np.append(index[1:] != following[:-1], True)[: len(index)]
    return Transitions(
        space=observation_space,
        rows=rows,
        action=_stored(action_space, data),
        reward=_rewards(data),
        index=index,
        following=following,
        terminated=over,
        truncated=ends & ~over,
        episodes=len(data.returns),
        whose=data.whose,
    )


def _stored(space: Any, data: Trajectories) -> Array:
    """Actions as off-policy algorithms store them: those of a Box are in -1 to 1."""
    actions = actions_in(space, data.action, data.whose)
    if not isinstance(space, spaces.Box):
        return actions
    low, high = space.low.reshape(-1), space.high.reshape(-1)
    beyond = _TOLERANCE * (high / 2 - low / 2)
    outside = ((actions < low - beyond) | (actions > high + beyond)).any(axis=1)
    if outside.any():
        wrong = actions[outside][0].tolist()
        raise PlanError(
            f"{data.whose}: the expert's actions are not all in {describe(space)}: {wrong} is not. "
            "Record what the environment takes: numpy.clip(action, env.action_space.low, "
            "env.action_space.high)."
        )
    return np.clip(unscaled(space)(actions), -1.0, 1.0)


def _rewards(data: Trajectories) -> Array:
    """Float [M]; PlanError if they are missing, not finite, or too large for float32."""
    if data.reward is None or data.reward.size != len(data):
        found = "none" if data.reward is None else f"{data.reward.shape}"
        raise PlanError(
            f"{data.whose}: a replay needs a reward for each of {len(data)} transitions, and the "
            f"data has {found}. Record it with rlk_expert_data.generate_expert_traj."
        )
    reward = data.reward.reshape(-1)
    with np.errstate(over="ignore"):
        if not np.isfinite(reward.astype(np.float32)).all():
            raise PlanError(f"{data.whose}: some rewards are not finite as float32.")
    return reward


def _at(observations: Any, i: int) -> Any:
    return map_observation(lambda part: part[i], observations)
