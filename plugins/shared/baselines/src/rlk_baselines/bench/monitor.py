"""`Monitor`: the return, length and time of every episode of one environment."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from rlk_baselines.bench.recorder import Recorder
from rlk_baselines.gym.core import Wrapper
from rlk_old_gym.interface import takes_seed
from rlk_wrappers import LoadMonitorResultsError, get_monitor_files
from rlk_wrappers import load_results as _load_results

__all__ = ["LoadMonitorResultsError", "Monitor", "get_monitor_files", "load_results"]


class Monitor(Recorder, Wrapper):
    """Records the episodes of one environment: see `rlk_baselines.bench.recorder`.

    Args:
        env: the environment, with the interface of gym or Gymnasium. The monitor has gym's.
        filename, allow_early_resets, reset_keywords, info_keywords: as there; `reset_keywords` are
            keywords of `reset`.
    """

    RESET = "reset({}=…)"

    def __init__(
        self,
        env: Any,
        filename: str | os.PathLike[str] | None,
        allow_early_resets: bool = True,
        reset_keywords: tuple[str, ...] = (),
        info_keywords: tuple[str, ...] = (),
    ) -> None:
        super().__init__(env, filename, allow_early_resets, reset_keywords, info_keywords)
        self._takes_seed = takes_seed(self.env)

    def reset(self, **kwargs: Any) -> Any:
        """Begin an episode.

        Raises:
            RuntimeError: in the middle of an episode, unless `allow_early_resets`.
            ValueError: if a keyword of `reset_keywords` is missing.
        """
        self.begin(kwargs)
        if not self._takes_seed:
            kwargs = {k: v for k, v in kwargs.items() if k not in ("seed", "options")}
        return self.env.reset(**kwargs)


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
