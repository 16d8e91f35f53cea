"""`Discrete`, by its module in gym."""

from gymnasium.spaces import Discrete

__all__ = ["Discrete"]
