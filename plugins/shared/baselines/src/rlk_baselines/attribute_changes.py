"""Hyperparameters that are set as attributes of a model, which uses them from then on.

Between two calls of `learn`, the old values are only noted; before the agent is used next, it is
rebuilt with the new ones. While `learn` runs, the algorithm takes the new value at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import attrs

from rlk.abilities import AdoptsReplays, offers
from rlk.agent import Agent
from rlk.errors import RlkError
from rlk.making import from_state
from rlk.protocols import State
from rlk.saving import checkpoint
from rlk_baselines import changed_settings
from rlk_baselines.loaded_agent import LOST_NOISE
from rlk_baselines.refusals import Refused, refused

if TYPE_CHECKING:
    from rlk_baselines.construction import Constructed


def change(model: Constructed, name: str, value: Any) -> None:
    """Change a constructor argument of a model from now on.

    Raises:
        Refused: if it cannot be changed at all, or not while `learn` runs.
    """
    kind = type(model).__name__
    if name in changed_settings.FIXED:
        raise changed_settings.refusal(kind, name, "any more: the networks are made")
    if name == "seed":
        cast(Any, model).set_random_seed(value)
        return
    before = model._given[name]
    model._given[name] = value
    if not model._is_learning:
        model._before_change.setdefault(name, before)
        return
    try:
        with refused():
            settings = model.renamed({name: value})
            changed_settings.set_while_learning(
                kind, model.agent, name, settings, model.arguments_of
            )
    except BaseException:
        model._given[name] = before
        raise


def use_changes(model: Constructed) -> None:
    """Replace a model's agent by one with the attributes that were set, if there are any.

    Raises:
        Refused: if one of them is invalid; all of them then have their old values.
    """
    before, model._before_change = model._before_change, {}
    if not before:
        return
    try:
        with refused():
            changes = model._changes(before)
            state = changed_settings.state_for_rebuilding(model.agent, before, changes)
            model._use(rebuilt(model, state, changes))
    except BaseException as error:
        model._given |= before
        if not isinstance(error, RlkError):
            raise
        kind, names = type(model).__name__, ", ".join(before)
        raise Refused(f"{kind}: what {names} was set to cannot be used. {error}") from error


def rebuild(model: Constructed) -> None:
    """Replace a model's agent by one with the plugins that the model has now."""
    with refused():
        state = changed_settings.state_for_rebuilding(model.agent, (), {})
        model._use(rebuilt(model, state, {}))


def rebuilt(model: Constructed, state: State, changes: Mapping[str, Any]) -> Agent:
    """A new agent for a model, made from the state of its current one, which is closed.

    Args:
        model: whose environment and arguments the new agent gets.
        state: of the current agent's run.
        changes: settings with new values, by rlk's names.
    """
    before = model.agent
    made = from_state(
        state,
        Path("the model"),
        env=model._training_env(),
        plugins=(*model._plugins(), model._watcher),
        n_envs=model.n_envs,
        **changed_settings.by_plan(model.algo, {**model._settings(), **changes}),
    )
    made.spec = attrs.evolve(made.spec, lost=_still_lost(model, before.spec.lost, changes))
    if offers(before.run.storage, AdoptsReplays) and len(before.run.storage):
        checkpoint.adopt_replay(made.run, checkpoint.replay_state(before.run))
    before.close()
    return made


def _still_lost(
    model: Constructed, lost: Iterable[str], changes: Mapping[str, Any]
) -> tuple[str, ...]:
    """The notes about things that a file did not hold, without those that were set since."""
    has_noise = model._given.get("action_noise") is not None
    about_changes = tuple(f"{key} was " for key in changes)
    kept = (one for one in lost if not one.startswith(about_changes))
    return tuple(one for one in kept if not (has_noise and one is LOST_NOISE))
