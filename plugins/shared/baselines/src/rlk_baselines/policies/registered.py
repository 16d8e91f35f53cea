"""Policies by names that the program registers."""

from __future__ import annotations

from typing import Any

from rlk.component import Component
from rlk.registry.kernel import default_kernel
from rlk.registry.registry import redefines

_registered: dict[str, Any] = {}


def register_policy(name: str, policy: Any) -> None:
    """Register a policy under a name, for all models that this program makes or loads.

    Registering the same one again changes nothing. A new version of the class, as a notebook's
    cell defines it when it runs again, replaces it. Only models of this package know the name; for
    agents of rlk, `rlk_custom_policies.register_policy` has names of its own.

    Args:
        name: the name.
        policy: the class, or an rlk `Component` of a policy.

    Raises:
        ValueError: if the name is that of another policy, here or in rlk, or `policy` is no class
            of policies and no component of one.
    """
    if not _is_policy(policy):
        raise ValueError(
            f"register_policy({name!r}, …) takes a class of policies, got {policy!r:.80}. Derive "
            "one from FeedForwardPolicy, LstmPolicy or ActorCriticPolicy of "
            "rlk_baselines.common.policies."
        )
    is_taken = name in _registered or name in default_kernel().registries.policies
    if is_taken and not redefines(_source(policy), _source(_registered.get(name))):
        raise ValueError(f"policy {name!r} exists already: register yours by another name.")
    _registered[name] = policy


def _is_policy(policy: Any) -> bool:
    if isinstance(policy, Component):
        return policy.kind in (None, "policies")
    return isinstance(policy, type) and hasattr(policy, "build")


def _source(policy: Any) -> Any:
    """What tells a new version of a policy from another one: the class, or what makes it."""
    return policy.factory if isinstance(policy, Component) else policy


def registered(name: Any) -> Any:
    """The policy class that is registered under a name, or None."""
    return _registered.get(name) if isinstance(name, str) else None


def class_of(policy: Any) -> Any:
    """The policy class of a model's `policy`; that itself if it is no name of one."""
    from rlk_baselines.policies import by_name

    if not isinstance(policy, str):
        return policy
    return registered(policy) or getattr(by_name, policy, policy)


def get_policy_from_name(base_policy_type: Any, name: str) -> Any:
    """The policy class of a name.

    Args:
        base_policy_type: ignored, because all models have the same policy classes.
        name: the name of a registered policy or of a documented one.

    Raises:
        ValueError: if there is no such policy.
    """
    found = class_of(name)
    if found is name:
        from rlk_baselines.policies import by_name

        known = sorted({*_registered, *(one for one in vars(by_name) if one.endswith("Policy"))})
        raise ValueError(f"there is no policy {name!r}; there are {', '.join(known)}")
    return found
