"""Asks the modules of a policy whether they can be traced."""

from __future__ import annotations

from typing import Any

from torch import nn

from rlk.abilities import RefusesTracing, offers


def why_untraceable(policy: nn.Module) -> str | None:
    """What the first module that cannot be traced says of itself; None if all may be tried."""
    for module in policy.modules():
        if offers(module, RefusesTracing):
            said: Any = module
            return str(said.untraceable)
    return None
