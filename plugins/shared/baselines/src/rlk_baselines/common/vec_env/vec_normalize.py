"""`VecNormalize`: normalises observations and rewards by running statistics."""

from __future__ import annotations

import os
import pathlib
import pickle
from collections.abc import Iterable
from typing import Any

import numpy as np

from rlk.errors import PlanError
from rlk.files import replacing
from rlk.records import Array
from rlk.spaces import describe, map_observation
from rlk_baselines.common.running_mean_std import RunningMeanStd
from rlk_baselines.common.vec_env.base_vec_env import (
    Stepped,
    VecEnv,
    VecEnvWrapper,
    refuse_single,
)
from rlk_baselines.common.vec_env.observation_statistics import (
    Statistics,
    fit,
    normalised_space,
    of_each,
    shapes,
    statistics_of,
)
from rlk_baselines.common.vec_env.saved_statistics import (
    saved_normalize,
    saved_of_observations,
    saved_statistics,
)

Path = str | os.PathLike[str]


class VecNormalize(VecEnvWrapper):
    """Normalises observations and rewards.

        observation -> clip((observation - mean) / sqrt(var + epsilon), -clip_obs, clip_obs)
        reward      -> clip(reward / sqrt(var(return) + epsilon), -clip_reward, clip_reward)
        return_t    =  gamma return_(t-1) + reward_t, restarted at 0 after the end of an episode

    As in Stable Baselines, images are normalised like any other Box; the observation space of
    integers, such as images, becomes a Box of floats. (The component `normalize` leaves images to
    rlk's policies, which scale them.)

    Off-policy algorithms store unnormalised transitions, and normalise them when they sample.
    Pickling leaves the vector out; `set_venv` sets one afterwards.

    Args:
        venv: the vector; its observation space is a Box, or a Dict that has one.
        training: whether to update the statistics. It may be changed at any time, as may `norm_obs`
            and `norm_reward`.
        norm_obs: whether to normalise observations. Their statistics are updated only while it is
            set, as in Stable-Baselines3 (2.10 updates them always).
        norm_reward: whether to normalise rewards.
        clip_obs: the largest absolute value of normalised observations.
        clip_reward: the largest absolute value of normalised rewards.
        gamma: the discount factor of the returns whose variance scales rewards.
        epsilon: the number that is added to variances.
        norm_obs_keys: the keys of a Dict to normalise; None means all that are a Box.

    Attributes:
        obs_rms: the statistics of observations; for a Dict, a dict of them by key.
        ret_rms: the statistics of returns.

    Raises:
        PlanError: if `norm_obs` is set and there is no Box to normalise, if a key does not fit, if
            `venv` is not a vector, or if a number is out of its range.
    """

    obs_rms: Statistics

    def __init__(
        self,
        venv: VecEnv,
        training: bool = True,
        norm_obs: bool = True,
        norm_reward: bool = True,
        clip_obs: float = 10.0,
        clip_reward: float = 10.0,
        gamma: float = 0.99,
        epsilon: float = 1e-8,
        norm_obs_keys: Iterable[str] | None = None,
    ) -> None:
        refuse_single(venv, type(self))
        _check(clip_obs=clip_obs, clip_reward=clip_reward, gamma=gamma, epsilon=epsilon)
        self.obs_rms = statistics_of(venv.observation_space, norm_obs_keys)
        if norm_obs and not self.obs_rms:
            raise PlanError(
                "VecNormalize normalises observations that are a Box, or a Dict with one, got "
                f"{describe(venv.observation_space)}. For rewards alone: norm_obs=False."
            )
        self.ret_rms = RunningMeanStd(shape=())
        self.clip_obs, self.clip_reward = clip_obs, clip_reward
        self.gamma, self.epsilon = gamma, epsilon
        self.training, self.norm_obs, self.norm_reward = training, norm_obs, norm_reward
        self._wrap(venv)

    def _wrap(self, venv: VecEnv) -> None:
        """Set the vector, and start with returns of 0."""
        space = venv.observation_space
        shown = normalised_space(space, self.obs_rms, self.clip_obs) if self.norm_obs else space
        super().__init__(venv, observation_space=shown)
        self.ret = np.zeros(self.num_envs)
        self._original_returns = np.zeros(self.num_envs)
        self.old_obs: Any = None
        self.old_rews: Any = None
        self._before: Any = None
        self._ends: dict[int, Any] = {}

    @property
    def norm_obs_keys(self) -> list[str] | None:
        """The keys of a Dict that are normalised; None if the observation space is a Box."""
        return list(self.obs_rms) if isinstance(self.obs_rms, dict) else None

    @property
    def returns(self) -> Array:
        """`ret`, by its name in Stable-Baselines3: the discounted returns so far, float [N]."""
        return self.ret

    def reset(self) -> Any:
        """Start new episodes; their first observations update the statistics in training."""
        self.old_obs = self.venv.reset()
        self.ret = np.zeros(self.num_envs)
        self._original_returns[:] = 0.0
        if self.training:
            self._see(self.old_obs)
            self.ret_rms.update(self.ret)
        return self.normalize_obs(self.old_obs)

    def step_wait(self) -> Stepped:
        """As in `VecEnv`; `terminal_observation` is normalised, too."""
        observation, rewards, dones, infos = self.venv.step_wait()
        self._before, self._ends = self.old_obs, {}
        self.old_obs, self.old_rews = observation, rewards
        self.ret = self.ret * self.gamma + rewards
        self._original_returns += rewards
        if self.training:
            self._see(observation)
            self.ret_rms.update(self.ret)
        self.ret[dones] = self._original_returns[dones] = 0.0
        for i in np.flatnonzero(dones).tolist():
            if "terminal_observation" in infos[i]:
                last = self._ends[i] = infos[i]["terminal_observation"]
                infos[i]["terminal_observation"] = self.normalize_obs(last)
        return self.normalize_obs(observation), self.normalize_reward(rewards), dones, infos

    def _see(self, observation: Any) -> None:
        """Update the statistics of observations, if these are normalised."""
        if not self.norm_obs:
            return
        if isinstance(self.obs_rms, RunningMeanStd):
            self.obs_rms.update(observation)
            return
        for key, rms in self.obs_rms.items():
            rms.update(observation[key])

    def normalize_obs(self, obs: Any) -> Any:
        """Normalise observations, without updating the statistics."""
        return of_each(self._normalized, obs, self.obs_rms) if self.norm_obs else obs

    def _normalized(self, part: Array, rms: RunningMeanStd) -> Array:
        scaled = (part - rms.mean) / np.sqrt(rms.var + self.epsilon)
        return np.clip(scaled, -self.clip_obs, self.clip_obs).astype(np.float32)

    def normalize_reward(self, reward: Array) -> Array:
        """Normalise rewards, without updating the statistics."""
        if not self.norm_reward:
            return reward
        scaled = reward / float(np.sqrt(self.ret_rms.var + self.epsilon))  # keeps float32
        return np.clip(scaled, -self.clip_reward, self.clip_reward)

    def unnormalize_obs(self, obs: Any) -> Any:
        """The inverse of `normalize_obs`, except for values that were clipped."""
        return of_each(self._unnormalized, obs, self.obs_rms) if self.norm_obs else obs

    def _unnormalized(self, part: Array, rms: RunningMeanStd) -> Array:
        return part * np.sqrt(rms.var + self.epsilon) + rms.mean

    def unnormalize_reward(self, reward: Array) -> Array:
        """The inverse of `normalize_reward`, except for values that were clipped."""
        if not self.norm_reward:
            return reward
        return reward * np.sqrt(self.ret_rms.var + self.epsilon)

    def get_original_obs(self) -> Any:
        """The unnormalised observations of the latest step or reset.

        Raises:
            PlanError: before the first reset.
        """
        if self.old_obs is None:
            raise PlanError("VecNormalize has seen no observation yet: call reset() first.")
        return map_observation(np.copy, self.old_obs)

    def get_original_reward(self) -> Array:
        """The unnormalised rewards of the latest step, [N].

        Raises:
            PlanError: before the first step.
        """
        if self.old_rews is None:
            raise PlanError("VecNormalize has seen no reward yet: call step() first.")
        return np.copy(self.old_rews)

    def get_original_returns(self) -> Array:
        """The undiscounted, unnormalised returns of the current episodes so far, float [N]."""
        return np.copy(self._original_returns)

    def originals(self) -> tuple[Any, Any, dict[int, Any]]:
        """The unnormalised observations before and after the latest step.

        The third result has the last observations of the episodes that this step ended, by the
        index of the environment.
        """
        return self._before, self.old_obs, self._ends

    def set_venv(self, venv: VecEnv) -> None:
        """Set the vector of an unpickled `VecNormalize`.

        Raises:
            ValueError: if it has a vector already, or the statistics do not fit its observations.
        """
        if "venv" in vars(self):
            raise ValueError("this VecNormalize wraps a vector already: make another one")
        _check_fit(venv.observation_space, self.obs_rms)
        self._wrap(venv)

    # ---- files -----------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """Statistics and settings, without the vector."""
        state = dict(vars(self))
        for name in _NOT_SAVED:
            state.pop(name, None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def save(self, save_path: Path) -> None:
        """Write the statistics and settings to a file, as a pickle."""
        with replacing(pathlib.Path(save_path)) as file:
            pickle.dump(self, file)

    @staticmethod
    def load(load_path: Path, venv: VecEnv) -> VecNormalize:
        """Load a `VecNormalize` that was saved here, by Stable Baselines 2.10 or 3.

        Only settings and arrays are read from the file, so that it cannot run code.

        Args:
            load_path: the file.
            venv: the vector to wrap.

        Raises:
            BadFile: if the file is not a saved `VecNormalize`, or is damaged.
            ValueError: if the statistics do not fit the vector's observations.
        """
        found = VecNormalize.__new__(VecNormalize)
        unseen = statistics_of(venv.observation_space, None)
        vars(found).update({"obs_rms": unseen, **saved_normalize(load_path)})
        found.set_venv(venv)
        return found

    def save_running_average(self, path: Path) -> None:
        """Write the statistics into a folder; deprecated, use `save`."""
        for rms, name in ((self.obs_rms, "obs_rms"), (self.ret_rms, "ret_rms")):
            with replacing(pathlib.Path(path, f"{name}.pkl")) as file:
                pickle.dump(rms, file)

    def load_running_average(self, path: Path) -> None:
        """Read the statistics that `save_running_average` wrote; deprecated, use `load`.

        Args:
            path: their folder.

        Raises:
            BadFile: if a file is damaged.
            ValueError: if they are of other observations.
        """
        of_observations = saved_of_observations(os.path.join(path, "obs_rms.pkl"))
        of_returns = saved_statistics(os.path.join(path, "ret_rms.pkl"))
        _check_fit(self.observation_space, of_observations)
        self.obs_rms, self.ret_rms = of_observations, of_returns


#: Attributes of the vector, and of its current episodes.
_NOT_SAVED = (
    *("venv", "class_attributes", "num_envs", "observation_space", "action_space"),
    *("ret", "old_obs", "old_rews", "_original_returns", "_before", "_ends"),
)


def _check_fit(space: Any, statistics: Statistics) -> None:
    """ValueError unless statistics are of observations of this space."""
    if not fit(space, statistics):
        raise ValueError(
            f"these statistics are of observations {shapes(statistics)}, and the vector's are "
            f"{describe(space)}"
        )


def _check(*, clip_obs: float, clip_reward: float, gamma: float, epsilon: float) -> None:
    """Refuse numbers out of their ranges."""
    for name, value in {"clip_obs": clip_obs, "clip_reward": clip_reward}.items():
        if not value > 0:
            raise PlanError(f"VecNormalize: {name} must be above 0, got {value}.")
    if not 0 <= gamma <= 1:
        raise PlanError(f"VecNormalize: gamma must be from 0 to 1, got {gamma}.")
    if not epsilon >= 0:
        raise PlanError(f"VecNormalize: epsilon must be at least 0, got {epsilon}.")
