"""The smallest vector environment with which a run works: Gymnasium's own loop."""

from __future__ import annotations

import contextlib
import copy
import traceback
from collections.abc import Iterator, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rlk.errors import EnvironmentFailed


class StandInVecEnv(SyncVectorEnv):
    """Gymnasium's own loop over environments, with same-step restarts and a state."""

    def __init__(self, env_fns: Sequence[Any], info_keys: Sequence[str] = ()) -> None:
        strict = [lambda i=i, make=make: _Strict(make, i) for i, make in enumerate(env_fns)]
        super().__init__(strict, autoreset_mode=AutoresetMode.SAME_STEP)
        self._info_keys = info_keys

    def step(self, actions: Any) -> Any:
        *result, infos = super().step(actions)
        if self._info_keys:
            kept = {f"info.{key}": self._column(key, infos) for key in self._info_keys}
            infos = {**infos, "kept": kept}
        return *result, infos

    def _column(self, key: str, infos: dict[str, Any]) -> Any:
        """One key of this step's infos, float32 [N]; where an episode ended, of its final info.

        NaN stands for a key that an info does not have.
        """
        column = np.full(self.num_envs, np.nan, np.float32)
        ended = infos.get("_final_info", np.zeros(self.num_envs, bool))
        for env, over in enumerate(ended):
            found = infos["final_info"] if over else infos
            if found.get(f"_{key}", ended & False)[env]:
                column[env] = found[key][env]
        return column

    def get_state(self) -> list[Any]:
        """Numbers, strings, arrays and generators of each layer: enough for simple environments."""
        return [{"layers": list(map(_plain_attributes, _layers(env)))} for env in self.envs]

    def set_state(self, states: Sequence[Any]) -> None:
        for env, state in zip(self.envs, states, strict=True):
            for layer, saved in zip(_layers(env), state["layers"], strict=True):
                layer.np_random.bit_generator.state = saved["np_random"]
                vars(layer).update(copy.deepcopy(saved["attributes"]))


class _Strict(gym.Wrapper[Any, Any, Any, Any]):
    """Names the environment where it raises, or returns values that do not fit."""

    def __init__(self, make: Any, number: int) -> None:
        self.number = number
        self.seed: int | None = None
        with self._naming("when it was made"):
            env = make()
        super().__init__(env)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self.seed = self.seed if seed is None else seed
        with self._naming("in reset"):
            observation, info = self.env.reset(seed=seed, options=options)
        self._check("observation", self._has_shape(observation))
        return observation, info

    def step(self, action: Any) -> Any:
        with self._naming("in step"):
            observation, reward, terminated, truncated, info = self.env.step(action)
        self._check("observation", self._has_shape(observation))
        self._check("reward", isinstance(reward, (int, float, np.number)))
        self._check("terminated", isinstance(terminated, (bool, np.bool_)))
        self._check("truncated", isinstance(truncated, (bool, np.bool_)))
        return observation, reward, terminated, truncated, info

    def render(self) -> Any:
        with self._naming("in render"):
            return self.env.render()

    @contextlib.contextmanager
    def _naming(self, when: str) -> Iterator[None]:
        """Raises EnvironmentFailed where the environment raises, from its exception."""
        try:
            yield
        except Exception as error:
            seed = "" if self.seed is None else f" Its latest seed is {self.seed}."
            raise EnvironmentFailed(
                f"environment {self.number} failed {when}: {type(error).__name__}: {error}.{seed}\n"
                f"{traceback.format_exc()}"
            ) from error

    def _has_shape(self, observation: Any) -> bool:
        expected = self.observation_space.shape  # None for a dict
        return expected is None or np.shape(observation) == expected

    def _check(self, field: str, fits: bool) -> None:
        if not fits:
            raise EnvironmentFailed(f"environment {self.number} gave a wrong {field}")


def _layers(env: Any) -> list[Any]:
    return [env, *_layers(env.env)] if isinstance(env, gym.Wrapper) else [env]


def _plain_attributes(layer: Any) -> dict[str, Any]:
    kinds = (bool, int, float, str, type(None), np.ndarray, np.generic)
    kept = {key: value for key, value in vars(layer).items() if isinstance(value, kinds)}
    generator = layer.np_random.bit_generator.state
    return {"attributes": copy.deepcopy(kept), "np_random": generator}
