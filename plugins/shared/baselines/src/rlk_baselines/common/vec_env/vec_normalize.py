"""`VecNormalize`: observations and rewards scaled by running statistics. N environments."""

from __future__ import annotations

import os
import pickle
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.records import Array
from rlk_baselines.common.running_mean_std import RunningMeanStd
from rlk_baselines.common.vec_env.base_vec_env import Stepped, VecEnv, VecEnvWrapper
from rlk_baselines.common.vec_env.saved_statistics import saved_normalize, saved_statistics

Path = str | os.PathLike[str]


class VecNormalize(VecEnvWrapper):
    """Normalises observations and rewards.

        observation -> clip((observation - mean) / sqrt(var + epsilon), -clip_obs, clip_obs)
        reward      -> clip(reward / sqrt(var(return) + epsilon), -clip_reward, clip_reward)
        return_t    =  gamma return_(t-1) + reward_t, from 0 again where an episode ended

    Off-policy algorithms keep what the environments gave, and normalise when they sample.
    It can be pickled without its vector, which `set_venv` gives it again.

    Args:
        venv: the vector; its observations are a Box.
        training: whether the statistics follow what is seen; may be changed at any time, as may
            `norm_obs` and `norm_reward`.
        norm_obs: whether observations are normalised.
        norm_reward: whether rewards are.
        clip_obs: the bound of normalised observations.
        clip_reward: the bound of normalised rewards.
        gamma: the discount of the returns that rewards are scaled by.
        epsilon: is added to variances.

    Raises:
        PlanError: for other observations.
    """

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
    ) -> None:
        super().__init__(venv)
        if not isinstance(self.observation_space, spaces.Box):
            raise PlanError(
                f"VecNormalize takes a Box of observations, got {self.observation_space}. For a "
                "Dict space use rlk's own plugin: rlk.make(…, plugins=['normalize'])."
            )
        self.obs_rms = RunningMeanStd(shape=self.observation_space.shape)
        self.ret_rms = RunningMeanStd(shape=())
        self.clip_obs, self.clip_reward = clip_obs, clip_reward
        self.gamma, self.epsilon = gamma, epsilon
        self.training, self.norm_obs, self.norm_reward = training, norm_obs, norm_reward
        self._forget()

    def _forget(self) -> None:
        """Begin with new returns."""
        self.ret = np.zeros(self.num_envs)
        self.old_obs: Any = None
        self.old_rews: Any = None
        self._before: Any = None
        self._ends: dict[int, Any] = {}

    def reset(self) -> Any:
        """Start new episodes. What they show counts for the statistics."""
        self.old_obs = self.venv.reset()
        self.ret = np.zeros(self.num_envs)
        if self.training:
            self.obs_rms.update(self.old_obs)
            self.ret_rms.update(self.ret)
        return self.normalize_obs(self.old_obs)

    def step_wait(self) -> Stepped:
        """As of `VecEnv`; also `terminal_observation` is normalised."""
        observation, rewards, dones, infos = self.venv.step_wait()
        self._before, self._ends = self.old_obs, {}
        self.old_obs, self.old_rews = observation, rewards
        self.ret = self.ret * self.gamma + rewards
        if self.training:
            self.obs_rms.update(observation)
            self.ret_rms.update(self.ret)
        self.ret[dones] = 0.0
        for i in np.flatnonzero(dones).tolist():
            if "terminal_observation" in infos[i]:
                last = self._ends[i] = infos[i]["terminal_observation"]
                infos[i]["terminal_observation"] = self.normalize_obs(last)
        return self.normalize_obs(observation), self.normalize_reward(rewards), dones, infos

    def normalize_obs(self, obs: Array) -> Array:
        """Observations by these statistics, which stay as they are."""
        if not self.norm_obs:
            return obs
        scaled = (obs - self.obs_rms.mean) / np.sqrt(self.obs_rms.var + self.epsilon)
        clipped: Array = np.clip(scaled, -self.clip_obs, self.clip_obs).astype(np.float32)
        return clipped

    def normalize_reward(self, reward: Array) -> Array:
        """Rewards by these statistics, which stay as they are."""
        if not self.norm_reward:
            return reward
        scaled = reward / np.sqrt(self.ret_rms.var + self.epsilon)
        clipped: Array = np.clip(scaled, -self.clip_reward, self.clip_reward)
        return clipped

    def unnormalize_obs(self, obs: Array) -> Array:
        """The inverse of `normalize_obs`, of what was not clipped."""
        if not self.norm_obs:
            return obs
        found: Array = obs * np.sqrt(self.obs_rms.var + self.epsilon) + self.obs_rms.mean
        return found

    def unnormalize_reward(self, reward: Array) -> Array:
        """The inverse of `normalize_reward`, of what was not clipped."""
        if not self.norm_reward:
            return reward
        found: Array = reward * np.sqrt(self.ret_rms.var + self.epsilon)
        return found

    def get_original_obs(self) -> Array:
        """The observations of the latest step or reset as the environments gave them."""
        return np.copy(self.old_obs)

    def get_original_reward(self) -> Array:
        """The rewards of the latest step as the environments gave them."""
        return np.copy(self.old_rews)

    def originals(self) -> tuple[Array, Array, dict[int, Any]]:
        """As the environments gave them: the observations before and after the latest step, and
        what episodes ended on, by environment.
        """
        return self._before, self.old_obs, self._ends

    def set_venv(self, venv: VecEnv) -> None:
        """Wrap this vector from now on.

        Raises:
            ValueError: if it wraps one already.
        """
        if "venv" in vars(self):
            raise ValueError("this VecNormalize wraps a vector already: make another one")
        if venv.observation_space.shape != self.obs_rms.mean.shape:
            raise ValueError(
                f"these statistics are of observations {self.obs_rms.mean.shape}, and the vector's "
                f"are {venv.observation_space.shape}"
            )
        super().__init__(venv)
        self._forget()

    # ---- files -----------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """Statistics and settings, without the vector."""
        state = dict(vars(self))
        for name in _NOT_SAVED:
            state.pop(name, None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def save(self, path: Path) -> None:
        """Write statistics and settings, as a pickle."""
        with open(path, "wb") as file:
            pickle.dump(self, file)

    @staticmethod
    def load(load_path: Path, venv: VecEnv) -> VecNormalize:
        """One that was saved, here or by Stable Baselines 2.10 or 3, around a vector.

        Nothing but its own settings and arrays is read from the file, so that it runs no code.

        Raises:
            BadFile: if it is another kind of file.
        """
        found = VecNormalize.__new__(VecNormalize)
        shape = venv.observation_space.shape
        vars(found).update({"obs_rms": RunningMeanStd(shape=shape), **saved_normalize(load_path)})
        found.set_venv(venv)
        return found

    def save_running_average(self, path: Path) -> None:
        """Write the statistics into a folder; deprecated: use `save`."""
        for rms, name in ((self.obs_rms, "obs_rms"), (self.ret_rms, "ret_rms")):
            with open(os.path.join(path, f"{name}.pkl"), "wb") as file:
                pickle.dump(rms, file)

    def load_running_average(self, path: Path) -> None:
        """Read the statistics that `save_running_average` wrote; deprecated: use `load`."""
        self.obs_rms, self.ret_rms = (
            saved_statistics(os.path.join(path, f"{name}.pkl")) for name in ("obs_rms", "ret_rms")
        )


#: Attributes that are the vector's, or of what was seen of it.
_NOT_SAVED = (
    *("venv", "class_attributes", "num_envs", "observation_space", "action_space"),
    *("ret", "old_obs", "old_rews", "_before", "_ends"),
)
