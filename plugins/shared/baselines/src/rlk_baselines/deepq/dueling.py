"""Whether Q networks are dueling: a parameter of policies there, and of the algorithm in rlk."""

from __future__ import annotations

from typing import Any

from rlk_baselines.policies.chosen import Maker


def with_dueling(settings: dict[str, Any], observation_space: Any) -> dict[str, Any]:
    """The settings of a policy, where that is said as the algorithm takes it.

    Args:
        settings: what `policy_settings` gave.
        observation_space: that policies of a class are made for.
    """
    if "policy.dueling" in settings:
        return {"dueling" if k == "policy.dueling" else k: v for k, v in settings.items()}
    maker = getattr(settings["policy"], "factory", None)
    dueling = maker(None).made(observation_space).dueling if isinstance(maker, Maker) else None
    return settings if dueling is None else {**settings, "dueling": dueling}
