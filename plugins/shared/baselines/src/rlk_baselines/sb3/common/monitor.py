"""`Monitor` with Gymnasium's interface, and functions that find and read its files."""

from __future__ import annotations

import os
from typing import Any

from rlk_baselines.bench.monitor import get_monitor_files, load_results
from rlk_baselines.environments.five_values import with_five_values
from rlk_baselines.sb3.elsewhere import not_here
from rlk_wrappers import LoadMonitorResultsError, stable_baselines

__all__ = ["LoadMonitorResultsError", "Monitor", "get_monitor_files", "load_results"]


class Monitor(stable_baselines.Monitor[Any, Any]):
    """As in `rlk_wrappers.stable_baselines`; the environment may have gym's interface, too.

    Its own interface is always Gymnasium's.
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
        super().__init__(
            with_five_values(env),
            filename,
            allow_early_resets,
            reset_keywords,
            info_keywords,
            override_existing,
        )


def __getattr__(name: str) -> Any:
    raise not_here(__name__, name)
