"""Dueling Q networks: a parameter of policies in Stable Baselines, and of the algorithm in rlk."""

from __future__ import annotations

from typing import Any

from rlk_baselines.policies.chosen import Deferred


def with_dueling(settings: dict[str, Any], observation_space: Any) -> dict[str, Any]:
    """A policy's settings, with `dueling` moved to the settings of the algorithm.

    Args:
        settings: the result of `policy_settings`.
        observation_space: the space for which a policy class is instantiated, to read `dueling`.
    """
    if "policy.dueling" in settings:
        return {"dueling" if k == "policy.dueling" else k: v for k, v in settings.items()}
    factory = getattr(settings["policy"], "factory", None)
    dueling = factory.made(observation_space).dueling if isinstance(factory, Deferred) else None
    return settings if dueling is None else {**settings, "dueling": dueling}
