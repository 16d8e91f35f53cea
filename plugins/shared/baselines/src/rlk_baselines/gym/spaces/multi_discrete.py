"""`MultiDiscrete`, by its module in gym."""

from gymnasium.spaces import MultiDiscrete

__all__ = ["MultiDiscrete"]
