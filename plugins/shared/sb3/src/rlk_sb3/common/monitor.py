"""`Monitor` with Gymnasium's interface, and functions that find and read its files."""

from __future__ import annotations

import os
from typing import Any

import gymnasium as gym

from rlk_baselines.bench.monitor import get_monitor_files, load_results
from rlk_baselines.bench.recorder import Recorder
from rlk_baselines.environments.five_values import with_five_values
from rlk_sb3.elsewhere import refusing
from rlk_wrappers import LoadMonitorResultsError

__all__ = ["LoadMonitorResultsError", "Monitor", "get_monitor_files", "load_results"]


class Monitor(Recorder, gym.Wrapper[Any, Any, Any, Any]):
    """Records the episodes of one environment: see `rlk_baselines.bench.recorder`.

    Deviation: `reset_keywords` are names of options, because `reset` takes a seed and options.

    Args:
        env: the environment, with the interface of gym or Gymnasium. The monitor has Gymnasium's.
        override_existing: whether an existing file is replaced; else rows are appended to it.
        filename, allow_early_resets, reset_keywords, info_keywords: as there.
    """

    RESET = "reset(options={{{!r}: …}})"

    def __init__(
        self,
        env: Any,
        filename: str | os.PathLike[str] | None = None,
        allow_early_resets: bool = True,
        reset_keywords: tuple[str, ...] = (),
        info_keywords: tuple[str, ...] = (),
        override_existing: bool = True,
    ) -> None:
        super().__init__(
            with_five_values(env),
            filename,
            allow_early_resets,
            reset_keywords,
            info_keywords,
            append=not override_existing,
        )

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Begin an episode.

        Raises:
            RuntimeError: in the middle of an episode, unless `allow_early_resets`.
            ValueError: if an option of `reset_keywords` is missing.
        """
        self.begin(options or {})
        if options is None:  # the environment's `reset` may not take any
            return self.env.reset(seed=seed)
        return self.env.reset(seed=seed, options=options)


__getattr__ = refusing(__name__)
