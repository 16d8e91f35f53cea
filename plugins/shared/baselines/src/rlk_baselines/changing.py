"""Hyperparameters that a program sets as attributes of a model: `model.learning_rate = 1e-4`.

Between two calls of `learn`, any of them can be set: the old values are only noted, and before the
agent is used next, it is rebuilt with the new ones, as by saving and loading. It keeps its
parameters, optimisers, replay and random streams, and starts new episodes. While `learn` runs, only
those can be set that the algorithm reads from its config at every use, and learning rates and clip
ranges, whose schedules the run can replace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import attrs

from rlk.abilities import AdoptsReplays, offers
from rlk.agent import Agent
from rlk.errors import RlkError
from rlk.protocols import State
from rlk.saving import checkpoint
from rlk_baselines.arguments import Argument, Rate, Scheduled
from rlk_baselines.refusals import Refused, refused
from rlk_baselines.saved_models.lost_in_files import still_lost
from rlk_baselines.saved_models.model_files import leave_out_old_memory
from rlk_schedules import is_off, scaled

if TYPE_CHECKING:
    from rlk.running.run import Run
    from rlk_baselines.construction import Constructed

#: Settings that name the curve by which an algorithm scales its rates and clip ranges.
_CURVES = ("lr_schedule", "schedule")
#: Settings for the size of a storage of whole collections. If one changes, what it holds is left
#: out: the unfinished collection, or ACER's replay.
_SIZES = ("n_steps", "timesteps_per_batch", "timesteps_per_actorbatch", "buffer_size")

#: Attributes that name a noise -> whether it perturbs the policy's parameters.
_PERTURBS_POLICY = {"action_noise": False, "param_noise": True}


def change(model: Constructed, name: str, value: Any) -> None:
    """Change a constructor argument of a model from now on.

    Raises:
        Refused: if it cannot be changed at all, or not while `learn` runs.
    """
    kind = type(model).__name__
    if name == "policy" or model._argument(name).change == "refuse":
        raise Refused(
            f"{kind}.{name} cannot be set any more: the networks are made. Pass it to the "
            "constructor of a new model."
        )
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
            set_while_learning(model, name, model.renamed({name: value}))
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
            state = state_for_rebuilding(model.agent, before, changes)
            agent = rebuilt(model, state, changes)
            lost = still_lost(agent.spec.learns_without, before)
            agent.spec = attrs.evolve(agent.spec, learns_without=lost)
            model._use(agent)
    except BaseException as error:
        model._given |= before
        if not isinstance(error, RlkError):
            raise
        kind, names = type(model).__name__, ", ".join(before)
        raise Refused(f"{kind}: what {names} was set to cannot be used. {error}") from error


def rebuild(model: Constructed) -> None:
    """Replace a model's agent by one with the plugins that the model has now."""
    with refused():
        state = state_for_rebuilding(model.agent, (), {})
        model._use(rebuilt(model, state, {}))


def rebuilt(model: Constructed, state: State, changes: Mapping[str, Any]) -> Agent:
    """A new agent for a model, made from the state of its current one, which is closed.

    Args:
        model: whose environment and arguments the new agent gets.
        state: of the current agent's run.
        changes: settings with new values, by rlk's names.
    """
    before = model.agent
    made = model._agent_of_state(state, Path("the model"), {**model._settings(), **changes})
    made.spec = attrs.evolve(made.spec, learns_without=before.spec.learns_without)
    if offers(before.run.storage, AdoptsReplays) and len(before.run.storage):
        checkpoint.adopt_replay(made.run, checkpoint.replay_state(before.run))
    before.close()
    return made


def state_for_rebuilding(
    agent: Agent, changed: Iterable[str], settings: Mapping[str, Any]
) -> State:
    """The state of a run, without what the agent that is rebuilt from it has of its own.

    That is the environments, and the replay if the storage can hand it to another storage.

    Args:
        agent: the agent of the run.
        changed: the attributes that were set. Their old values, and a noise or storage that they
            replace, are left out of the plan.
        settings: the new values, by rlk's names. With another one of `_SIZES`, the contents of a
            storage of collections are left out, too.
    """
    run = agent.run
    is_handed_on = offers(run.storage, AdoptsReplays)
    is_alike = all(
        settings[name] == getattr(run.plan.algorithm.config, name)
        for name in _SIZES
        if name in settings
    )
    replay = is_alike and not is_handed_on
    state = checkpoint.run_state(run, replay=replay, environments=False)
    replaced = {_PERTURBS_POLICY[name] for name in _PERTURBS_POLICY.keys() & set(changed)}
    gone = {one.name for one in run.plan.noises if one.component.perturbs_policy in replaced}
    plan = state["manifest"]["plan"]
    leave_out_old_memory(plan, changed)
    plan["components"] = [
        one for one in plan["components"] if one["role"] != "noise" or one["name"] not in gone
    ]
    for one in plan["components"]:
        if one["role"] == "algorithm":
            one["settings"] = {k: v for k, v in one["settings"].items() if k not in changed}
    return state


def set_while_learning(model: Constructed, name: str, settings: Mapping[str, Any]) -> None:
    """Change a setting while a model learns; the algorithm uses the new value from now on.

    Args:
        model: the model.
        name: the attribute.
        settings: the value, by rlk's name of the setting.

    Raises:
        Refused: if the setting is only read when the algorithm is made, or the value is invalid.
    """
    kind, run, known = type(model).__name__, model.agent.run, model._arguments()
    may = sorted(one for one in known if _is_live(known[one], run))
    if name not in may:
        only = f" (only {', '.join(may)} can be)" if may else ""
        raise _refusal(
            kind, name, f"while learn is running{only}; set it between two calls of learn"
        )
    choice, how, key = run.plan.algorithm, known[name].change, known[name].rlk or name
    try:
        config = attrs.evolve(choice.config, **settings)
    except (TypeError, ValueError) as error:
        raise Refused(f"{kind}.{name}: {error}.") from error
    curve = next((getattr(config, one) for one in _CURVES if hasattr(config, one)), "constant")
    if isinstance(how, Rate):
        for group in run.optimise.groups.keys() & set(how.groups):
            run.reschedule_rate(group, scaled(getattr(config, key), curve))
    elif isinstance(how, Scheduled):
        if settings[key] is None or is_off(settings[key]):
            raise _refusal(kind, name, f"to {settings[key]} while learn is running")
        run.reschedule(how.schedule, scaled(getattr(config, key), curve))
    run.algorithm.config = config  # type: ignore[attr-defined]
    lost = {one: value for one, value in run.plan.lost_values.items() if one not in settings}
    algorithm = attrs.evolve(choice, config=config)
    run.plan = attrs.evolve(run.plan, algorithm=algorithm, lost_values=lost)


def _is_live(argument: Argument, run: Run) -> bool:
    """Whether an argument can be changed in a run; a run may not clip values, for example."""
    how = argument.change
    if isinstance(how, Scheduled):
        return how.schedule in run.schedules
    return isinstance(how, Rate) or how == "at once"


def _refusal(model: str, name: str, why: str) -> Refused:
    """The error for an attribute that cannot be set now."""
    return Refused(
        f"{model}.{name} cannot be set {why}. Pass it to the constructor, or save the model and "
        f"{model}.load(path, env=env, {name}=…)."
    )
