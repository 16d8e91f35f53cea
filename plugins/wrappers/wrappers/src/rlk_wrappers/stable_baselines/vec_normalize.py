"""`VecNormalize` normalises observations and rewards of N environments that the user steps.

`predict` then takes the normalised observations. In a run, use the component `normalize` instead,
with which the policy holds the statistics.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import VectorEnv
from gymnasium.vector.utils import batch_space

from rlk.documents import read_npz
from rlk.errors import BadFile, RlkError
from rlk.files import replacing
from rlk.records import Array
from rlk.spaces import map_observation
from rlk.vector_wrapper import TransparentVector
from rlk_running_statistics import Moments
from rlk_wrappers.chosen_keys import chosen, of_floats
from rlk_wrappers.config import NormalizeConfig
from rlk_wrappers.layer import reset_rows
from rlk_wrappers.statistics import Statistics

Result = tuple[Any, Any, Any, Any, dict[str, Any]]


class VecNormalize(TransparentVector):
    """Normalises observations and rewards of a vector environment with same-step restarts.

    Deviations from Stable Baselines 2.10: `step` returns Gymnasium's five values, and `final_obs`
    is normalised as well; the observations of a reset are counted, so that the moments include the
    first observations of episodes, and a reset adds no return of zero to `ret_rms`; in a Dict
    space, every Box that is not an image is normalised; `save` writes arrays (.npz) instead of a
    pickle. Images stay uint8, here as in a run, because rlk's policies scale them by themselves;
    the `VecNormalize` of `rlk_baselines` normalises them as Stable Baselines does. With `norm_obs`
    at the start, the observation space of other integers becomes a Box of floats.

    Args:
        venv: the vector environment.
        training: whether the statistics are updated; may be set at any time, as may `norm_obs` and
            `norm_reward`.
        norm_obs_keys: the keys of a Dict that are normalised; None is every Box but images.

    Raises:
        PlanError: for keys that are missing, or not a Box.
    """

    ret: Array

    def __init__(
        self,
        venv: VectorEnv[Any, Any, Any],
        training: bool = True,
        norm_obs: bool = True,
        norm_reward: bool = True,
        clip_obs: float = 10.0,
        clip_reward: float = 10.0,
        gamma: float = 0.99,
        epsilon: float = 1e-8,
        norm_obs_keys: Iterable[str] | None = None,
    ) -> None:
        super().__init__(venv)
        # The validators of the config check the numbers.
        config = NormalizeConfig(
            clip_obs=clip_obs,
            clip_reward=clip_reward,
            gamma=gamma,
            epsilon=epsilon,
            norm_obs_keys=norm_obs_keys,
        )
        self.training, self.norm_obs, self.norm_reward = training, norm_obs, norm_reward
        self.clip_reward, self.gamma, self.epsilon = clip_reward, gamma, epsilon
        self.norm_obs_keys = config.norm_obs_keys
        normalised = chosen(venv.single_observation_space, config.norm_obs_keys)
        self._statistics = Statistics(normalised, clip_obs, epsilon)
        self._normalised = self._statistics.numpy_forward()
        self._original: tuple[Any, Any] = None, None
        self.set_venv(venv)

    @property
    def clip_obs(self) -> float:
        return self._statistics.clip_obs

    @property
    def obs_rms(self) -> Moments:
        """Moments of observations: `mean`, `var`, `count`."""
        return self._statistics.observation

    @property
    def ret_rms(self) -> Moments:
        """Moments of discounted returns."""
        return self._statistics.returns

    # ---- stepping --------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | list[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset all environments (or those of `reset_mask`); their observations are counted."""
        which = reset_rows(options, self.num_envs)
        observation, infos = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]
        self.ret[which] = 0.0
        self._original = observation, self._original[1]
        return self._seen(observation, which), infos

    def step(self, actions: Any) -> Result:
        return self._step(self.env.step(actions))

    def step_async(self, actions: Any) -> None:
        """Start a step, as the backend does; `step_wait` must follow."""
        self.env.step_async(actions)  # type: ignore[attr-defined]

    def step_wait(self) -> Result:
        return self._step(self.env.step_wait())  # type: ignore[attr-defined]

    def _step(self, result: Result) -> Result:
        observation, reward, terminated, truncated, infos = result
        self._original = observation, reward
        seen = self._seen(observation)
        self.ret = self.ret * self.gamma + reward
        if self.training and self.norm_reward:
            self.ret_rms.merge(self.ret.mean(), self.ret.var(), len(self.ret))
        ended = np.logical_or(terminated, truncated)
        self.ret[ended] = 0.0
        if "final_obs" in infos:
            final = np.full(self.num_envs, None, dtype=object)
            for env in np.flatnonzero(ended):
                row = map_observation(lambda part: np.asarray(part)[None], infos["final_obs"][env])
                final[env] = map_observation(lambda part: part[0], self.normalize_obs(row))
            infos = {**infos, "final_obs": final}
        return seen, self.normalize_reward(reward), terminated, truncated, infos

    def _seen(self, observation: Any, which: Array | None = None) -> Any:
        """Count observations [N, ...], or those of the environments in `which`; normalise all."""
        if self.training and self.norm_obs and self._statistics.size:
            rows = self._statistics.rows(observation).astype(np.float64)
            rows = rows if which is None else rows[which]
            self.obs_rms.merge(rows.mean(0), rows.var(0), len(rows))
            self._statistics.refresh()
        return self.normalize_obs(observation)

    # ---- the methods of Stable Baselines 2.10 ----------------------------------------------------

    def normalize_obs(self, obs: Any) -> Any:
        """Observations [B, ...] normalised by the statistics, which are not changed."""
        return self._normalised(obs) if self.norm_obs else obs

    def normalize_reward(self, reward: Array) -> Array:
        """Rewards scaled by the statistics, which are not changed; whole numbers become floats."""
        if not self.norm_reward:
            return reward
        std = np.sqrt(self.ret_rms.var[0] + self.epsilon)
        scaled: Array = np.clip(reward / std, -self.clip_reward, self.clip_reward)
        dtype = np.asarray(reward).dtype
        return scaled.astype(dtype) if np.issubdtype(dtype, np.floating) else scaled

    def get_original_obs(self) -> Any:
        """The observations of the latest step or reset, as the environments returned them."""
        return map_observation(np.copy, self._original[0])

    def get_original_reward(self) -> Array:
        """The rewards of the latest step, as the environments returned them."""
        return np.copy(self._original[1])

    def set_venv(self, venv: VectorEnv[Any, Any, Any]) -> None:
        """Wrap another vector environment; the statistics stay the same."""
        self.env = venv
        self.ret = np.zeros(venv.num_envs)
        space = venv.single_observation_space
        if self.norm_obs:
            space = _normalised_space(space, self._statistics)
        self.single_observation_space = space
        self.observation_space = batch_space(space, venv.num_envs)

    def share(self, other: VecNormalize) -> None:
        """Use the statistics of another wrapper, now and later (`sync_envs_normalization`)."""
        self._statistics, self._normalised = other._statistics, other._normalised

    def save(self, save_path: str | os.PathLike[str]) -> None:
        """Write statistics and settings to a file; if that fails, a file from before stays."""
        settings = {key: getattr(self, key) for key in (*_SWITCHES, *_NUMBERS)}
        if self.norm_obs_keys is not None:
            settings["norm_obs_keys"] = self.norm_obs_keys
        with replacing(Path(save_path)) as file:
            np.savez(file, **settings, **self._arrays())  # type: ignore[arg-type]

    @staticmethod
    def load(load_path: str | os.PathLike[str], venv: VectorEnv[Any, Any, Any]) -> VecNormalize:
        """Wrap `venv` with the statistics and settings of a file that `save` wrote.

        Raises:
            RlkError: if it is not such a file, or its observations have another shape.
        """
        try:
            found = read_npz(Path(load_path))
            settings: dict[str, Any] = {key: bool(found[key]) for key in _SWITCHES}
            settings |= {key: float(found[key]) for key in _NUMBERS}
            if "norm_obs_keys" in found:
                settings["norm_obs_keys"] = found["norm_obs_keys"].astype(str).tolist()
        except (BadFile, ValueError, TypeError, KeyError) as error:
            raise RlkError(f"{load_path} was not written by VecNormalize.save: {error}") from None
        made = VecNormalize(venv, **settings)
        for key, array in made._arrays().items():
            if key not in found or found[key].dtype.kind not in "iuf":
                raise RlkError(
                    f"{load_path} was not written by VecNormalize.save: it has no {key}."
                )
            if found[key].shape != array.shape:
                raise RlkError(
                    f"{load_path} has {key} of shape {found[key].shape}, not {array.shape}: it is "
                    "of another environment."
                )
            array[:] = found[key]
        made._statistics.refresh()
        return made

    def _arrays(self) -> dict[str, Array]:
        moments = {"obs": self.obs_rms, "ret": self.ret_rms}
        return {
            f"{key}_{name}": getattr(one, attribute)
            for key, one in moments.items()
            for name, attribute in _MOMENTS.items()
        }


def _normalised_space(space: Any, statistics: Statistics) -> Any:
    """The space of one environment's normalised observations: integers become floats."""
    if isinstance(space, spaces.Dict):
        keys: list[Any] = [key for key, *_ in statistics.parts]
        made = {key: of_floats(space[key], statistics.clip_obs) for key in keys}
        return spaces.Dict({**space.spaces, **made})
    return of_floats(space, statistics.clip_obs) if statistics.parts else space


_SWITCHES = ("training", "norm_obs", "norm_reward")
_NUMBERS = ("clip_obs", "clip_reward", "gamma", "epsilon")
#: The names of their arrays in files, and as attributes.
_MOMENTS = {"mean": "mean", "var": "var", "counts": "count_array"}
