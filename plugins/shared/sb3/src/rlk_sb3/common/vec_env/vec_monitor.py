"""`VecMonitor`: records the return, length and time of every episode of a vector."""

from __future__ import annotations

import os
import time
import warnings
from typing import Any

import numpy as np

from rlk_baselines.bench.monitor import Monitor as OldMonitor
from rlk_baselines.common.vec_env.base_vec_env import Stepped, VecEnv, VecEnvWrapper
from rlk_baselines.refusals import MissingInfo
from rlk_sb3.common.monitor import Monitor
from rlk_wrappers.columns import missing_info_message, plain
from rlk_wrappers.episode_file import DIGITS, EpisodeFile, episode_path

_TWICE = (
    "The environment is already wrapped with a `Monitor` wrapper, but you are wrapping it with a "
    "`VecMonitor` wrapper: the statistics of the `Monitor` will be overwritten by those of the "
    "`VecMonitor`."
)


class VecMonitor(VecEnvWrapper):
    """Records episodes: the last info of each has a dict `episode`.

    Its keys are `r`, the return rounded to six digits, `l`, the length in steps, and `t`, the
    seconds since this monitor was made; and `info_keywords`. Every `done` ends an episode, even if
    it is that of a life of an Atari game.

    Deviation: Stable-Baselines3 sums up rewards in float32, and does not round.

    Args:
        venv: the vector.
        filename: the CSV file, which `load_results` reads: `x` means `x.monitor.csv`, a folder
            means `monitor.csv` in it, and None writes no file.
        info_keywords: keys of an episode's last info that become columns.

    Attributes:
        episode_returns, episode_lengths: of the current episodes, [N].
        episode_count: the number of ended episodes.
    """

    def __init__(
        self,
        venv: VecEnv,
        filename: str | os.PathLike[str] | None = None,
        info_keywords: tuple[str, ...] = (),
    ) -> None:
        super().__init__(venv)
        if has_monitors(venv):
            warnings.warn(_TWICE, UserWarning, stacklevel=2)
        self.info_keywords = tuple(info_keywords)
        self.episode_count = 0
        self.t_start, self._started = time.time(), time.monotonic()
        self._begin_episodes()
        self._file: EpisodeFile | None = None
        if filename:
            spec = getattr(venv, "spec", None)
            self._file = EpisodeFile(
                episode_path(filename),
                self.info_keywords,
                env_id=None if spec is None else str(spec.id),
                append=False,
                flush_seconds=0.0,
            )
            self._file.write_head()

    def reset(self) -> Any:
        """As in `VecEnv`; the current episodes are not recorded."""
        observations = self.venv.reset()
        self._begin_episodes()
        return observations

    def step_wait(self) -> Stepped:
        """As in `VecEnv`; where an episode ends, its info has `episode`.

        Raises:
            MissingInfo: if that info lacks one of `info_keywords`.
        """
        observations, rewards, dones, infos = self.venv.step_wait()
        self.episode_returns += rewards
        self.episode_lengths += 1
        infos = list(infos)
        for i in np.flatnonzero(dones).tolist():
            infos[i] = {**infos[i], "episode": self._finish(i, infos[i])}
        return observations, rewards, dones, infos

    def close(self) -> None:
        """Close the environments and the file."""
        super().close()
        if self._file is not None:
            self._file.flush()

    def _begin_episodes(self) -> None:
        self.episode_returns = np.zeros(self.num_envs)
        self.episode_lengths = np.zeros(self.num_envs, np.int32)

    def _finish(self, i: int, info: dict[str, Any]) -> dict[str, Any]:
        """Record the episode that ended in environment i."""
        missing = [key for key in self.info_keywords if key not in info]
        if missing:
            raise MissingInfo(missing_info_message(missing[0], info))
        return_ = round(float(self.episode_returns[i]), DIGITS)
        length = int(self.episode_lengths[i])
        seconds = round(time.monotonic() - self._started, DIGITS)
        extras = {key: info[key] for key in self.info_keywords}
        self.episode_returns[i], self.episode_lengths[i] = 0.0, 0
        self.episode_count += 1
        if self._file is not None:
            self._file.write(return_, length, seconds, [plain(one) for one in extras.values()])
        return {"r": return_, "l": length, "t": seconds, **extras}


def has_monitors(venv: VecEnv) -> bool:
    """Whether each environment is in a monitor; False if the vector cannot tell."""
    try:
        return venv.env_is_wrapped((Monitor, OldMonitor))[0]
    except AttributeError:
        return False
