"""Action masks for rlk; `ActionMasks` adds an environment's masks to its observations."""

from typing import Any

__all__ = ["ActionMasks", "VectorActionMasks"]


def __getattr__(name: str) -> Any:
    """The wrappers, imported on first use, because planning imports no gymnasium."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rlk_action_masking.vector import VectorActionMasks
    from rlk_action_masking.wrapper import ActionMasks

    return {"ActionMasks": ActionMasks, "VectorActionMasks": VectorActionMasks}[name]
