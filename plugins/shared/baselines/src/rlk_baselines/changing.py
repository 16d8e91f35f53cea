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
from rlk.making import from_state
from rlk.protocols import State
from rlk.running import checkpoint
from rlk_baselines.model_files import LOST_NOISE
from rlk_baselines.refusals import Refused, refused
from rlk_schedules import is_off, scaled

if TYPE_CHECKING:
    from rlk_baselines.construction import Constructed

#: Constructor arguments that the model itself reads at every use.
READ_BY_MODEL = ("verbose", "tensorboard_log", "full_tensorboard_log", "_init_setup_model")
#: Attributes that cannot be changed once the model is set up.
FIXED = ("policy", "policy_kwargs")
#: Algorithm -> the settings that it reads from its config at every use.
AT_ANY_TIME: Mapping[str, frozenset[str]] = {
    "a2c": frozenset({"gamma", "gae_lambda", "vf_coef", "ent_coef", "normalize_advantage"}),
    "ppo": frozenset(
        {"gamma", "gae_lambda", "vf_coef", "ent_coef", "n_epochs", "target_kl"}
        | {"normalize_advantage"}
    ),
    "ppo2": frozenset({"gamma", "lam", "vf_coef", "ent_coef", "noptepochs"}),
}
#: Algorithm -> its settings that are learning rates -> the parameter groups that use them.
RATES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    **{name: {"learning_rate": ("policy",)} for name in ("a2c", "acer", "acktr", "ppo", "ppo2")},
    "ddpg": {"actor_lr": ("actor",), "critic_lr": ("critic",)},
    "dqn": {"learning_rate": ("q",)},
    "ppo1": {"optim_stepsize": ("policy",)},
    "sac": {"learning_rate": ("critic", "actor", "entropy")},
    "td3": {"learning_rate": ("critic", "actor")},
    "trpo": {"vf_stepsize": ("vf",)},
}
#: Algorithm -> its settings that are scheduled numbers -> the names of their schedules in a run.
NUMBERS: Mapping[str, Mapping[str, str]] = {
    "ppo": {"clip_range": "clip_range", "clip_range_vf": "clip_range_vf"},
    "ppo1": {"clip_param": "clip_range"},
    "ppo2": {"cliprange": "clip_range", "cliprange_vf": "clip_range_vf"},
}
#: Algorithm -> the setting that names the curve that scales those of `RATES` and `NUMBERS`.
CURVES = {"a2c": "lr_schedule", "acer": "lr_schedule", "acktr": "lr_schedule", "ppo1": "schedule"}

#: Settings for the size of a storage of whole collections. If one changes, what it holds is left
#: out: the unfinished collection, or ACER's replay.
SIZES = ("n_steps", "timesteps_per_batch", "timesteps_per_actorbatch", "buffer_size")

#: Attributes that name a noise -> whether it perturbs the policy's parameters.
_SCOPES = {"action_noise": False, "param_noise": True}


def change(model: Constructed, name: str, value: Any) -> None:
    """Change a constructor argument of a model from now on.

    Raises:
        Refused: if it cannot be changed at all, or not while `learn` runs.
    """
    kind = type(model).__name__
    if name in FIXED:
        raise _refusal(kind, name, "any more: the networks are made")
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
    made = from_state(
        state,
        Path("the model"),
        env=model._training_env(),
        plugins=(*model._plugins(), model._watcher),
        n_envs=model.n_envs,
        **model._by_plan({**model._settings(), **changes}),
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


def state_for_rebuilding(
    agent: Agent, changed: Iterable[str], settings: Mapping[str, Any]
) -> State:
    """The state of a run, without what the agent that is rebuilt from it has of its own.

    That is the environments, and the replay if the storage can hand it to another storage.

    Args:
        agent: the agent of the run.
        changed: the attributes that were set. Their old values, and a noise that they replace, are
            left out of the plan.
        settings: the new values, by rlk's names. With another one of `SIZES`, the contents of a
            storage of collections are left out, too.
    """
    run = agent.run
    is_handed_on = offers(run.storage, AdoptsReplays)
    is_alike = all(
        settings[name] == getattr(run.plan.algorithm.config, name)
        for name in SIZES
        if name in settings
    )
    replay = is_alike and not is_handed_on
    state = checkpoint.run_state(run, replay=replay, environments=False)
    scopes = {_SCOPES[name] for name in _SCOPES.keys() & set(changed)}
    gone = {one.name for one in run.plan.noises if (one.component.scope == "policy") in scopes}
    plan = state["manifest"]["plan"]
    plan["components"] = [
        one for one in plan["components"] if one["slot"] != "noise" or one["name"] not in gone
    ]
    for one in plan["components"]:
        if one["slot"] == "algorithm":
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
    kind, run = type(model).__name__, model.agent.run
    choice = run.plan.algorithm
    rates, known = RATES.get(choice.name, {}), NUMBERS.get(choice.name, {})
    has = run.schedules.by_name  # a run may not clip values, for example
    numbers = {key: schedule for key, schedule in known.items() if schedule in has}
    may = {*AT_ANY_TIME.get(choice.name, ()), *rates, *numbers}
    if not settings or not settings.keys() <= may:  # none: it is of what only the model uses
        names = ", ".join(sorted(model.arguments_of(dict.fromkeys(may))))
        only = f" (only {names} can be)" if may else ""
        raise _refusal(
            kind, name, f"while learn is running{only}; set it between two calls of learn"
        )
    try:
        config = attrs.evolve(choice.config, **settings)
    except (TypeError, ValueError) as error:
        raise Refused(f"{kind}.{name}: {error}.") from error
    for key in settings.keys() & numbers.keys():
        if settings[key] is None or is_off(settings[key]):
            raise _refusal(kind, name, f"to {settings[key]} while learn is running")
    curve = getattr(config, CURVES.get(choice.name, ""), "constant")
    for key in settings.keys() & rates.keys():
        for group in run.optimise.groups.keys() & set(rates[key]):
            run.reschedule_rate(group, scaled(getattr(config, key), curve))
    for key in settings.keys() & numbers.keys():
        run.reschedule(numbers[key], scaled(getattr(config, key), curve))
    run.algorithm.config = config  # type: ignore[attr-defined]
    lost = {key: value for key, value in run.plan.lost.items() if key not in settings}
    run.plan = attrs.evolve(run.plan, algorithm=attrs.evolve(choice, config=config), lost=lost)


def _refusal(model: str, name: str, why: str) -> Refused:
    """The error for an attribute that cannot be set now."""
    return Refused(
        f"{model}.{name} cannot be set {why}. Pass it to the constructor, or save the model and "
        f"{model}.load(path, env=env, {name}=…)."
    )
