"""`rlk export`: writes an agent's policy for programs that do not have rlk.

`rlk_export.export(agent, path)` is the same for programs in Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlk_export.exporting import Exported as Exported
    from rlk_export.exporting import export as export
    from rlk_export.program import HasActingModule as HasActingModule

_HOMES = {"Exported": "exporting", "export": "exporting", "HasActingModule": "program"}

__all__ = ["Exported", "HasActingModule", "export"]


def __getattr__(name: str) -> Any:
    """Imported on first use: it needs torch, and the command's component does not."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
