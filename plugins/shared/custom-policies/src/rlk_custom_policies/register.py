"""Gives a policy a name, for this program."""

from __future__ import annotations

from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.registry.external import as_component
from rlk.registry.kernel import default_kernel


def register_policy(name: str, policy: Any) -> None:
    """Let a policy be chosen by a name, wherever this program makes or loads an agent.

    Args:
        name: the name to choose it by (`rlk.make("a2c", policy=name)`).
        policy: a class of policies, or a Component.

    Raises:
        PlanError: if the name is already used.
    """
    policies = default_kernel().registries.policies
    if name in policies:
        raise PlanError(f"policy {name!r} exists already: register yours by another name.")
    policies.register(name, attrs.evolve(as_component(policy), name=name))
