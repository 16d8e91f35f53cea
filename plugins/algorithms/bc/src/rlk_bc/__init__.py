"""Behaviour cloning for rlk: the algorithm `bc`, and `pretrain` for any agent with a policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.lazy_names import lazy_names

if TYPE_CHECKING:
    from rlk_bc.cloning import pretrain as pretrain
    from rlk_bc.config import BCConfig as BCConfig
else:
    # On first use: it needs torch, and components do not.
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "BCConfig": "config",
            "pretrain": "cloning",
        },
    )
