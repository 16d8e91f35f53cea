"""`Box`, by its module in gym."""

from gymnasium.spaces import Box

__all__ = ["Box"]
