"""What the monitors of Stable Baselines and of Stable-Baselines3 record.

The last info of an episode has it under `episode`: `r`, the return rounded to six digits, `l`, the
length in steps, and `t`, seconds since the start; in a file that rows are appended to, without the
time between its last row and the start.

`Recorder` becomes a wrapper by a second base class, the `Wrapper` of gym's interface or of
Gymnasium's. A step returns (observation, reward, *ends, info), where `ends` are done, or terminated
and truncated.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from rlk_baselines.refusals import MissingInfo
from rlk_wrappers.columns import early_reset_message, env_id, missing_info_message, plain
from rlk_wrappers.config import MonitorConfig
from rlk_wrappers.episode_file import DIGITS, SUFFIX, EpisodeFile, episode_path


class Recorder:
    """A first base class of monitors; the second one keeps `env`.

    Args:
        env: the environment.
        filename: the CSV file: `x` means `x.monitor.csv`, a folder means `monitor.csv` in it, and
            None writes no file.
        allow_early_resets: whether it may be reset in the middle of an episode.
        reset_keywords: what is passed to `reset` under these names becomes columns.
        info_keywords: keys of an episode's last info that become columns.
        append: whether rows are added to an existing file; else it is replaced.
    """

    EXT = SUFFIX
    #: How a value of `reset_keywords` is passed, for errors.
    RESET: ClassVar[str]
    env: Any

    def __init__(
        self,
        env: Any,
        filename: str | os.PathLike[str] | None,
        allow_early_resets: bool,
        reset_keywords: tuple[str, ...],
        info_keywords: tuple[str, ...],
        *,
        append: bool = False,
    ) -> None:
        super().__init__(env)  # type: ignore[call-arg]
        self.allow_early_resets = allow_early_resets
        self.reset_keywords, self.info_keywords = tuple(reset_keywords), tuple(info_keywords)
        columns = (*self.reset_keywords, *self.info_keywords)
        MonitorConfig(info_keywords=columns)  # refuses names that no column can have
        self.t_start, self._started = time.time(), time.monotonic()
        self._file: EpisodeFile | None = None
        if filename is not None:
            path, id_ = episode_path(filename), env_id(self.env)
            self._file = EpisodeFile(path, columns, env_id=id_, append=append, flush_seconds=0.0)
            self._file.write_head()
        self.rewards: list[float] = []
        self.needs_reset = True
        self.episode_rewards: list[float] = []
        self.episode_lengths: list[int] = []
        self.episode_times: list[float] = []
        self.total_steps = 0
        self.current_reset_info: dict[str, Any] = {}

    def begin(self, given: Mapping[str, Any]) -> None:
        """Begin an episode, before the environment is reset.

        Args:
            given: what is passed to `reset`.

        Raises:
            RuntimeError: in the middle of an episode, unless `allow_early_resets`.
            ValueError: if a keyword of `reset_keywords` is missing.
        """
        if not self.allow_early_resets and not self.needs_reset:
            raise RuntimeError(early_reset_message("this environment"))
        for key in self.reset_keywords:
            if given.get(key) is None:
                how = self.RESET.format(key)
                raise ValueError(f"reset_keywords names {key!r}, so pass it: {how}")
            self.current_reset_info[key] = given[key]
        self.rewards, self.needs_reset = [], False

    def step(self, action: Any) -> Any:
        """Make one step; the last info of an episode has `episode`.

        The end of a life in an Atari game ends no episode. A game whose rewards are clipped puts
        its own return and length there, and these are used.

        Raises:
            RuntimeError: if the episode is over.
            MissingInfo: if the last info lacks a key of `info_keywords`.
        """
        if self.needs_reset:
            raise RuntimeError("this episode is over: call reset() before the next step().")
        observation, reward, *ends, info = self.env.step(action)
        self.rewards.append(float(np.asarray(reward).reshape(-1)[0]))
        self.total_steps += 1
        if any(ends):
            self.needs_reset = True
            if not info.get("goes_on"):
                info = {**info, "episode": self._finish(info)}
        return observation, reward, *ends, info

    def _finish(self, info: Mapping[str, Any]) -> dict[str, Any]:
        return_, length = self._figures(info)
        seconds = self._seconds()
        self.episode_rewards.append(return_)
        self.episode_lengths.append(length)
        self.episode_times.append(seconds)
        missing = [key for key in self.info_keywords if key not in info]
        if missing:
            raise MissingInfo(missing_info_message(missing[0], info))
        extras = {key: plain(info[key]) for key in self.info_keywords}
        rounded, columns = round(return_, DIGITS), {**self.current_reset_info, **extras}
        if self._file is not None:
            self._file.write(rounded, length, seconds, list(columns.values()))
        return {"r": rounded, "l": length, "t": seconds, **columns}

    def _figures(self, info: Mapping[str, Any]) -> tuple[float, int]:
        """The return and length of an episode, by its last info.

        Its own return and length are used only if they have no time `t`: then it is a game with
        clipped rewards (`rlk_atari`). Other environments that report episodes do so inside of
        wrappers that change rewards.
        """
        own = info.get("episode")
        if isinstance(own, Mapping) and {"r", "l"} <= own.keys() and "t" not in own:
            return float(own["r"]), int(own["l"])
        return float(sum(self.rewards)), len(self.rewards)

    def _seconds(self) -> float:
        if self._file is not None:
            return self._file.elapsed()
        return round(time.monotonic() - self._started, DIGITS)

    def close(self) -> None:
        """Close the environment and the file."""
        super().close()  # type: ignore[misc]
        if self._file is not None:
            self._file.flush()

    def get_total_steps(self) -> int:
        """The number of steps in all episodes, including the current one."""
        return self.total_steps

    def get_episode_rewards(self) -> list[float]:
        """The return of every finished episode."""
        return self.episode_rewards

    def get_episode_lengths(self) -> list[int]:
        """The length of every finished episode, in steps."""
        return self.episode_lengths

    def get_episode_times(self) -> list[float]:
        """The time at which every finished episode ended, in seconds since the start."""
        return self.episode_times

    def get_state(self) -> dict[str, Any]:
        """Its part of an environment's state: see `rlk_vector_environments.env_state`."""
        return {
            "rewards": list(self.rewards),
            "reset_info": dict(self.current_reset_info),
            "needs_reset": self.needs_reset,
            "total_steps": self.total_steps,
            # Arrays, because a checkpoint has them of all episodes.
            "returns": np.array(self.episode_rewards, np.float64),
            "lengths": np.array(self.episode_lengths, np.int64),
            "times": np.array(self.episode_times, np.float64),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        self.rewards, self.current_reset_info = list(state["rewards"]), dict(state["reset_info"])
        self.needs_reset, self.total_steps = bool(state["needs_reset"]), int(state["total_steps"])
        self.episode_rewards = np.asarray(state["returns"]).tolist()
        self.episode_lengths = np.asarray(state["lengths"]).tolist()
        self.episode_times = np.asarray(state["times"]).tolist()
