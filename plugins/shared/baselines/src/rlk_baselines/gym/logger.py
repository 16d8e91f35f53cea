"""The levels and functions of gym's logger, which set and use those of Gymnasium's."""

from __future__ import annotations

import gymnasium.logger

DEBUG, INFO, WARN, ERROR, DISABLED = 10, 20, 30, 40, 50


def set_level(level: int) -> None:
    """Print no messages of a lower level from now on."""
    gymnasium.logger.min_level = level


def debug(msg: str, *args: object) -> None:
    """Print a message at the level DEBUG; `args` are its %-arguments."""
    _say(DEBUG, msg, *args)


def info(msg: str, *args: object) -> None:
    """Print a message at the level INFO; `args` are its %-arguments."""
    _say(INFO, msg, *args)


def warn(msg: str, *args: object) -> None:
    """Warn at the level WARN."""
    gymnasium.logger.warn(msg, *args)


def error(msg: str, *args: object) -> None:
    """Warn at the level ERROR."""
    gymnasium.logger.error(msg, *args)


def _say(level: int, msg: str, *args: object) -> None:
    if gymnasium.logger.min_level <= level:
        print(msg % args)
