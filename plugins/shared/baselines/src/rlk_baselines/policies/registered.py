"""Policies by names that a program has registered."""

from __future__ import annotations

from typing import Any

from rlk.registry.kernel import default_kernel

_registered: dict[str, Any] = {}


def register_policy(name: str, policy: Any) -> None:
    """Let a class of policies be chosen by a name, wherever this program makes or loads a model.

    Args:
        name: what stands for it.
        policy: the class.

    Raises:
        ValueError: if the name is taken.
    """
    is_taken = name in _registered or name in default_kernel().registries.policies
    if is_taken and _registered.get(name) is not policy:
        raise ValueError(f"policy {name!r} exists already: register yours by another name.")
    _registered[name] = policy


def registered(name: Any) -> Any:
    """What was registered by that name, or None; also of what is no name."""
    return _registered.get(name) if isinstance(name, str) else None


def get_policy_from_name(base_policy_type: Any, name: str) -> Any:
    """The class that a name stands for.

    Args:
        base_policy_type: nothing (there is one class of each name for all models).
        name: of a registered policy, or of a documented one.

    Raises:
        KeyError: if there is none.
    """
    from rlk_baselines.policies import by_name

    found = registered(name) or getattr(by_name, name, None)
    if found is None:
        known = sorted({*_registered, *(one for one in vars(by_name) if one.endswith("Policy"))})
        raise KeyError(f"no policy {name!r}; there are {known}")
    return found
