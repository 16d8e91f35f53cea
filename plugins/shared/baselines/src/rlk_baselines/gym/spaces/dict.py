"""`Dict`, by its module in gym."""

from gymnasium.spaces import Dict

__all__ = ["Dict"]
