"""Where rows of metrics go: `rlk_baselines.logger`, with `record` and `dump`."""

from __future__ import annotations

from collections.abc import Sequence

from rlk_baselines import logger
from rlk_baselines.logger import Logger, dump, record, record_mean

__all__ = ["Logger", "configure", "dump", "record", "record_mean"]


def configure(folder: str | None = None, format_strings: Sequence[str] | None = None) -> Logger:
    """Write rows into files from now on, by the logger that is returned.

    Args:
        folder: where; None is a temporary folder.
        format_strings: of `stdout`, `log`, `json`, `csv`, `tensorboard`.
    """
    logger.configure(folder, format_strings)
    return Logger.CURRENT
