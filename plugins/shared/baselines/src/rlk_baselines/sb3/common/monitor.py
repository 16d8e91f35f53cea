"""`Monitor` with Gymnasium's interface, and functions that find and read its files.

The last info of an episode has them under `episode`: `r`, the return rounded to six digits, `l`,
the length in steps, and `t`, seconds since the start; in a file that rows are appended to, without
the time between its last row and the start.
"""

from __future__ import annotations

import os
import time
from array import array
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.core import ActType, ObsType

from rlk.errors import RlkError
from rlk_baselines.bench.monitor import get_monitor_files, load_results
from rlk_baselines.environments.five_values import with_five_values
from rlk_baselines.sb3.elsewhere import not_here
from rlk_wrappers import LoadMonitorResultsError
from rlk_wrappers.columns import (
    early_reset_message,
    env_id,
    figures_of,
    missing_info_message,
    plain,
)
from rlk_wrappers.config import MonitorConfig
from rlk_wrappers.episode_file import DIGITS, EpisodeFile, episode_path

__all__ = ["LoadMonitorResultsError", "Monitor", "get_monitor_files", "load_results"]


class Monitor(gym.Wrapper[ObsType, ActType, ObsType, ActType]):
    """Records the episodes of one environment.

    Deviation: `reset_keywords` are names of options, because `reset` takes a seed and options.

    Args:
        env: the environment, with the interface of gym or Gymnasium. The monitor has Gymnasium's.
        filename: the CSV file; `x` is written to `x.monitor.csv`. With None no file is written.
        allow_early_resets: whether `reset` may be called in the middle of an episode.
        reset_keywords: the options of `reset` that become columns.
        info_keywords: the keys of the final info that become columns.
        override_existing: whether an existing file is replaced; else rows are appended to it.
    """

    def __init__(
        self,
        env: Any,
        filename: str | os.PathLike[str] | None = None,
        allow_early_resets: bool = True,
        reset_keywords: tuple[str, ...] = (),
        info_keywords: tuple[str, ...] = (),
        override_existing: bool = True,
    ) -> None:
        super().__init__(with_five_values(env))
        self._reset_keywords = reset_keywords
        self._config = MonitorConfig(
            allow_early_resets=allow_early_resets,
            info_keywords=info_keywords,
        )
        self._file: EpisodeFile | None = None
        if filename is not None:
            extras = (*reset_keywords, *info_keywords)
            self._file = EpisodeFile(
                episode_path(filename),
                extras,
                env_id=env_id(self.env),
                append=not override_existing,
                flush_seconds=0.0,
            )
            self._file.write_head()
        self._started = time.monotonic()
        self._rewards: list[float] = []
        self._reset_values: list[Any] = []
        self._needs_reset = True
        self._total_steps = 0
        self._returns, self._lengths, self._times = array("d"), array("q"), array("d")

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ObsType, dict[str, Any]]:
        """Start a new episode.

        Raises:
            RuntimeError: without `allow_early_resets`, in the middle of one.
            ValueError: if an option of `reset_keywords` is missing.
        """
        if not self._config.allow_early_resets and not self._needs_reset:
            raise RuntimeError(early_reset_message("this environment"))
        self._reset_values = _options_named(self._reset_keywords, options)
        self._rewards, self._needs_reset = [], False
        if options is None:  # the environment's `reset` may not take any
            return self.env.reset(seed=seed)
        return self.env.reset(seed=seed, options=options)

    def step(self, action: ActType) -> tuple[ObsType, Any, bool, bool, dict[str, Any]]:
        """One step; at the end of an episode, the info has `episode`.

        A life of an Atari game does not count as an episode; its game reports its own return.

        Raises:
            RuntimeError: if the episode is over.
        """
        if self._needs_reset:
            raise RuntimeError("this episode is over: call reset() before the next step().")
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._rewards.append(float(reward))
        self._total_steps += 1
        if terminated or truncated:
            self._needs_reset = True
            if not info.get("goes_on"):
                info = {**info, "episode": self._finish(info)}
        return observation, reward, terminated, truncated, info

    def _finish(self, info: dict[str, Any]) -> dict[str, Any]:
        exact, length = figures_of(info, self._rewards)
        return_, seconds = round(exact, DIGITS), self._seconds()
        self._add(return_, length, seconds)
        missing = [key for key in self._config.info_keywords if key not in info]
        if missing:
            raise RlkError(missing_info_message(missing[0], info))
        extras = self._reset_values + [plain(info[key]) for key in self._config.info_keywords]
        if self._file is not None:
            self._file.write(return_, length, seconds, extras)
        names = ("r", "l", "t", *self._reset_keywords, *self._config.info_keywords)
        return dict(zip(names, (return_, length, seconds, *extras), strict=True))

    def _add(self, return_: float, length: int, seconds: float) -> None:
        self._returns.append(return_)
        self._lengths.append(length)
        self._times.append(seconds)

    def _seconds(self) -> float:
        if self._file is not None:
            return self._file.elapsed()
        return round(time.monotonic() - self._started, DIGITS)

    def close(self) -> None:
        """Close the environment and the file."""
        super().close()
        if self._file is not None:
            self._file.close()

    def get_total_steps(self) -> int:
        """Steps of all episodes, the current one included."""
        return self._total_steps

    def get_episode_rewards(self) -> list[float]:
        """The return of every finished episode."""
        return self._returns.tolist()

    def get_episode_lengths(self) -> list[int]:
        """The length of every finished episode, in steps."""
        return self._lengths.tolist()

    def get_episode_times(self) -> list[float]:
        """When every finished episode ended, in seconds since the start."""
        return self._times.tolist()

    def get_state(self) -> dict[str, Any]:
        """Its part of an environment's state: see `rlk_vector_environments.env_state`."""
        return {
            "rewards": list(self._rewards),
            "reset_values": list(self._reset_values),
            "needs_reset": self._needs_reset,
            "total_steps": self._total_steps,
            # Arrays, because a run captures and compares the states of passed environments often.
            "returns": np.array(self._returns),
            "lengths": np.array(self._lengths),
            "times": np.array(self._times),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        self._rewards, self._reset_values = list(state["rewards"]), list(state["reset_values"])
        self._needs_reset, self._total_steps = bool(state["needs_reset"]), int(state["total_steps"])
        rows = zip(state["returns"], state["lengths"], state["times"], strict=True)
        self._returns, self._lengths, self._times = array("d"), array("q"), array("d")
        for figures in rows:
            self._add(*figures)


def _options_named(keywords: tuple[str, ...], options: dict[str, Any] | None) -> list[Any]:
    """The values of these options of a reset.

    Raises:
        ValueError: if one is missing.
    """
    missing = [key for key in keywords if key not in (options or {})]
    if missing:
        raise ValueError(
            f"reset_keywords names {missing[0]!r}, so pass it to reset: "
            f"reset(options={{{missing[0]!r}: …}})"
        )
    return [(options or {})[key] for key in keywords]


def __getattr__(name: str) -> Any:
    raise not_here(__name__, name)
