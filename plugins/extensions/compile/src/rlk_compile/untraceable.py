"""Asks the modules of a policy whether they can be traced. Imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rlk.abilities import RefusesTracing, offers

if TYPE_CHECKING:
    from torch import nn


def why_untraceable(policy: nn.Module) -> str | None:
    """What the first module that cannot be traced says of itself; None if all may be tried."""
    for module in policy.modules():
        if offers(module, RefusesTracing):
            said: Any = module
            return str(said.untraceable)
    return None
