"""`rlk export`: writes an agent's policy for programs that do not have rlk.

`rlk_export.export(agent, path)` is the same for programs in Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.lazy_names import lazy_names

if TYPE_CHECKING:
    from rlk_export.exporting import Exported as Exported
    from rlk_export.exporting import export as export
    from rlk_export.program import HasActingModule as HasActingModule
else:
    # On first use: it needs torch, and the command's component does not.
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "Exported": "exporting",
            "HasActingModule": "program",
            "export": "exporting",
        },
    )
