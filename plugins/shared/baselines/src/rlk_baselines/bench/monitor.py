"""`Monitor`: the return, length and time of every episode of one environment."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from rlk_baselines import steady_clock
from rlk_baselines.gym.core import Wrapper
from rlk_old_gym.interface import takes_seed
from rlk_wrappers import LoadMonitorResultsError, get_monitor_files
from rlk_wrappers import load_results as _load_results
from rlk_wrappers.columns import figures_of, missing_info_message, plain
from rlk_wrappers.episode_file import DIGITS, SUFFIX, EpisodeFile, episode_path

__all__ = ["LoadMonitorResultsError", "Monitor", "get_monitor_files", "load_results"]


class Monitor(Wrapper):
    """Records episodes: the last info of each has a dict `episode`.

    Its keys are `r`, the return, `l`, the length in steps, and `t`, the seconds since this monitor
    was made; and the keywords below.

    Args:
        env: the environment, with the interface of gym or Gymnasium. The monitor has gym's.
        filename: the CSV file: `x` means `x.monitor.csv`, a folder means `monitor.csv` in it, and
            None writes no file.
        allow_early_resets: whether it may be reset in the middle of an episode.
        reset_keywords: keywords of `reset` that become columns.
        info_keywords: keys of an episode's last info that become columns.
    """

    EXT = SUFFIX

    def __init__(
        self,
        env: Any,
        filename: str | os.PathLike[str] | None,
        allow_early_resets: bool = True,
        reset_keywords: tuple[str, ...] = (),
        info_keywords: tuple[str, ...] = (),
    ) -> None:
        super().__init__(env)
        self.t_start = steady_clock.now()
        self.allow_early_resets = allow_early_resets
        self.reset_keywords, self.info_keywords = tuple(reset_keywords), tuple(info_keywords)
        self._file: EpisodeFile | None = None
        if filename is not None:
            spec = getattr(env, "spec", None)
            self._file = EpisodeFile(
                episode_path(filename),
                (*self.reset_keywords, *self.info_keywords),
                env_id=None if spec is None else str(spec.id),
                append=False,
                flush_seconds=0.0,
            )
            self._file.write_head()
        self._takes_seed = takes_seed(self.env)
        self.rewards: list[float] = []
        self.needs_reset = True
        self.episode_rewards: list[float] = []
        self.episode_lengths: list[int] = []
        self.episode_times: list[float] = []
        self.total_steps = 0
        self.current_reset_info: dict[str, Any] = {}

    def reset(self, **kwargs: Any) -> Any:
        """Begin an episode.

        Raises:
            RuntimeError: in the middle of an episode, unless `allow_early_resets`.
            ValueError: if a keyword of `reset_keywords` is missing.
        """
        if not self.allow_early_resets and not self.needs_reset:
            raise RuntimeError(
                "this environment was reset in the middle of an episode, which "
                "allow_early_resets=False forbids."
            )
        self.rewards, self.needs_reset = [], False
        for key in self.reset_keywords:
            if kwargs.get(key) is None:
                raise ValueError(f"reset_keywords names {key!r}, so pass it: reset({key}=…)")
            self.current_reset_info[key] = kwargs[key]
        if not self._takes_seed:
            kwargs = {k: v for k, v in kwargs.items() if k not in ("seed", "options")}
        return self.env.reset(**kwargs)

    def step(self, action: Any) -> Any:
        """Make one step; the last info of an episode has `episode`.

        An Atari game whose rewards are clipped puts its own return and length there, and these are
        used.

        Raises:
            RuntimeError: if the episode is over.
            KeyError: if the last info lacks a key of `info_keywords`.
        """
        if self.needs_reset:
            raise RuntimeError("this episode is over: call reset() before the next step().")
        observation, reward, done, info = self.env.step(action)  # type: ignore[misc]
        self.rewards.append(float(np.asarray(reward).reshape(-1)[0]))
        self.total_steps += 1
        if done:
            self.needs_reset = True
            if not info.get("goes_on"):  # the end of a life in an Atari game ends no episode
                info = {**info, "episode": self._finish(info)}
        return observation, reward, done, info

    def _finish(self, info: dict[str, Any]) -> dict[str, Any]:
        exact, length = figures_of(info, self.rewards)
        return_ = round(exact, DIGITS)
        seconds = round(steady_clock.now() - self.t_start, DIGITS)
        self.episode_rewards.append(exact)
        self.episode_lengths.append(length)
        self.episode_times.append(seconds)
        missing = [key for key in self.info_keywords if key not in info]
        if missing:
            raise KeyError(missing_info_message(missing[0], info))
        extras = {key: plain(info[key]) for key in self.info_keywords}
        columns = {**self.current_reset_info, **extras}
        if self._file is not None:
            self._file.write(return_, length, seconds, list(columns.values()))
        return {"r": return_, "l": length, "t": seconds, **columns}

    def close(self) -> None:
        """Close the environment and the file."""
        super().close()
        if self._file is not None:
            self._file.close()

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
        """The time at which every finished episode ended, in seconds since this was made."""
        return self.episode_times


def load_results(path: str | os.PathLike[str]) -> Any:
    """The episodes of all monitor files in a folder, in the order in which they ended.

    Returns:
        A pandas DataFrame with the columns r, l, t and those of the keywords. These are NaN for
        episodes of a file that does not have them.

    Raises:
        LoadMonitorResultsError: if there is no monitor file, or one is damaged.
    """
    import pandas

    return pandas.DataFrame(_load_results(path)).replace("", np.nan)
