"""`Tuple`, by its module in gym."""

from gymnasium.spaces import Tuple

__all__ = ["Tuple"]
