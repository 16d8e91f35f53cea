"""What this distribution offers: `old-gym`."""

from __future__ import annotations

from typing import Any

from rlk.component import Component


def adapts(env: Any) -> bool:
    """Whether an environment has the interface of the old package gym."""
    from rlk_old_gym.interface import is_old  # not at the top: it needs gymnasium

    return is_old(env)


component = Component(
    name="old-gym",
    factory="rlk_old_gym.five_values:FiveValues",
    summary="environments of the package gym, whose step gives four values; whole programs of "
    "Stable Baselines run by rlk_baselines",
    adapts=adapts,
    keeps_returns=True,
)
