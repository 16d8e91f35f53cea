"""How much gym says: the levels and functions of gym's logger, in front of Gymnasium's."""

from __future__ import annotations

import gymnasium.logger

DEBUG, INFO, WARN, ERROR, DISABLED = 10, 20, 30, 40, 50


def set_level(level: int) -> None:
    """Say nothing of a lower level from now on."""
    gymnasium.logger.min_level = level


def debug(msg: str, *args: object) -> None:
    """Say it at the level DEBUG."""
    _say(DEBUG, msg, *args)


def info(msg: str, *args: object) -> None:
    """Say it at the level INFO."""
    _say(INFO, msg, *args)


def warn(msg: str, *args: object) -> None:
    """Warn of it, at the level WARN."""
    gymnasium.logger.warn(msg, *args)


def error(msg: str, *args: object) -> None:
    """Warn of it, at the level ERROR."""
    gymnasium.logger.error(msg, *args)


def _say(level: int, msg: str, *args: object) -> None:
    if gymnasium.logger.min_level <= level:
        print(msg % args)
