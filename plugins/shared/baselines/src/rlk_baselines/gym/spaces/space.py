"""`Space`, by its module in gym."""

from gymnasium.spaces import Space

__all__ = ["Space"]
