"""Gives a policy a name, for this program."""

from __future__ import annotations

from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.registry.external import as_component
from rlk.registry.kernel import default_kernel


def register_policy(name: str, policy: Any) -> None:
    """Let a policy be chosen by a name, wherever this program makes or loads an agent.

    Registering the same one again changes nothing.

    Args:
        name: the name to choose it by (`rlk.make("a2c", policy=name)`).
        policy: a class of policies, or a Component.

    Raises:
        PlanError: if the name is that of another policy.
    """
    policies, component = default_kernel().registries.policies, as_component(policy)
    named = attrs.evolve(component, name=name)
    if name not in policies:
        policies.register(name, named)
    elif policies.get(name).component() != named:
        raise PlanError(f"policy {name!r} exists already: register yours by another name.")
