"""Action masks for rlk; `ActionMasks` puts an environment's masks beside its observations."""

from typing import Any

__all__ = ["ActionMasks", "VectorActionMasks"]


def __getattr__(name: str) -> Any:
    """The wrappers, imported when they are asked for: planning imports no gymnasium."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rlk_action_masking.vector import VectorActionMasks
    from rlk_action_masking.wrapper import ActionMasks

    return {"ActionMasks": ActionMasks, "VectorActionMasks": VectorActionMasks}[name]
