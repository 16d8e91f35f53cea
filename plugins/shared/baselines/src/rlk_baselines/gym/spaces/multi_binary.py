"""`MultiBinary`, by its module in gym."""

from gymnasium.spaces import MultiBinary

__all__ = ["MultiBinary"]
