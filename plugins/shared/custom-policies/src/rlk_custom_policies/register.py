"""Gives a policy a name, for this program."""

from __future__ import annotations

from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.registry.external import as_component
from rlk.registry.kernel import default_kernel
from rlk.registry.registry import BY_HAND


def register_policy(name: str, policy: Any) -> None:
    """Let a policy be chosen by a name, wherever this program makes or loads an agent.

    Registering the same one again changes nothing. A new version of the class that the program
    has registered, as a notebook's cell defines it when it runs again, replaces it.

    Args:
        name: the name to choose it by (`rlk.make("a2c", policy=name)`).
        policy: a class of policies, or a Component.

    Raises:
        PlanError: if the name is that of another policy.
    """
    policies, component = default_kernel().registries.policies, as_component(policy)
    named = attrs.evolve(component, name=name)
    found = policies.get(name) if name in policies else None
    if found is not None and found.component() == named:
        return
    if found is not None and found.dist != BY_HAND:
        raise PlanError(f"{found.title} exists already: register yours by another name.")
    policies.register(name, named)
