"""Checks whether agents can be trained in an environment: `check_env`, `rlk env check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.lazy_names import lazy_names

if TYPE_CHECKING:
    from rlk_env_check.checker import UnfitEnvironment as UnfitEnvironment
    from rlk_env_check.checker import check_env as check_env
    from rlk_env_check.checker import examine as examine
    from rlk_env_check.finding import Finding as Finding
else:
    # On first use, because the command's help needs none of it.
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "Finding": "finding",
            "UnfitEnvironment": "checker",
            "check_env": "checker",
            "examine": "checker",
        },
    )
