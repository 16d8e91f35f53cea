"""Makes the agent of a model from a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from rlk.agent import Agent
from rlk_baselines import changed_settings, model_files
from rlk_baselines.policies.registered import registered

if TYPE_CHECKING:
    from rlk_baselines.construction import Constructed

#: The key by which a file notes that the noise was an object of a custom class.
OWN_NOISE = "own_noise"
LOST_NOISE = (
    "the model was saved with an action_noise of a program's own class, which no file holds, and "
    "learns without noise now: pass it again, load(path, env=env, action_noise=…)."
)


def agent_from(saved: model_files.Saved, model: Constructed, settings: dict[str, Any]) -> Agent:
    """The agent from a file, for a model with these settings, by rlk's names.

    A custom noise object is not in the file.
    """
    model_files.refuse_lost_functions(type(model).__name__, saved)
    is_registered = registered(model._given["policy"]) is not None
    if {"policy", "policy_kwargs"} & saved.changes.keys() or is_registered:
        settings = {**settings, **changed_settings.by_plan(model.algo, model._policy_settings())}
    had_own_noise = bool(saved.about.get(OWN_NOISE))
    if had_own_noise:
        settings = {**settings, "noise": None}
    plugins = (*model._plugins(), model._watcher)
    agent = saved.agent(env=model._training_env(), plugins=plugins, **settings)
    if had_own_noise and "action_noise" not in saved.changes:
        agent.spec = attrs.evolve(agent.spec, lost=(*agent.spec.lost, LOST_NOISE))
    return agent
