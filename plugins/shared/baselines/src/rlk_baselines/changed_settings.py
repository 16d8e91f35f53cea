"""Hyperparameters that a program sets as attributes of a model: `model.learning_rate = 1e-4`.

Between two calls of `learn`, any of them can be set: the model is rebuilt with the new value, as by
saving and loading. It keeps its parameters, optimisers, replay and random streams, and starts new
episodes. During `learn`, only those can be set that the algorithm reads from its config at every
use, and learning rates and clip ranges, whose schedules the run can replace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from rlk.abilities import AdoptsReplays, offers
from rlk.agent import Agent
from rlk.protocols import State
from rlk.registry.kernel import default_kernel
from rlk.saving import checkpoint
from rlk_baselines.refusals import Refused
from rlk_schedules import is_off, scaled

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


def refusal(model: str, name: str, why: str) -> Refused:
    """The error for an attribute that cannot be set now."""
    return Refused(
        f"{model}.{name} cannot be set {why}. Pass it to the constructor, or save the model and "
        f"{model}.load(path, env=env, {name}=…)."
    )


def set_while_learning(
    model: str,
    agent: Agent,
    name: str,
    settings: Mapping[str, Any],
    arguments_of: Callable[[dict[str, Any]], dict[str, Any]],
) -> None:
    """Change a setting while the agent learns; the algorithm uses the new value from now on.

    Args:
        model: the name of the model class, for messages.
        agent: the agent that learns.
        name: the attribute.
        settings: the value, by rlk's name of the setting.
        arguments_of: gives settings the names of the model's arguments, for messages.

    Raises:
        Refused: if the setting is only read when the algorithm is made, or the value is invalid.
    """
    choice, run = agent.plan.algorithm, agent.run
    rates, numbers = RATES.get(choice.name, {}), _numbers(agent)
    may = {*AT_ANY_TIME.get(choice.name, ()), *rates, *numbers}
    if not settings or not settings.keys() <= may:  # none: it is of what only the model uses
        names = ", ".join(sorted(arguments_of(dict.fromkeys(may))))
        only = f" (only {names} can be)" if may else ""
        raise refusal(
            model, name, f"while learn is running{only}; set it between two calls of learn"
        )
    try:
        config = attrs.evolve(choice.config, **settings)
    except (TypeError, ValueError) as error:
        raise Refused(f"{model}.{name}: {error}.") from error
    for key in settings.keys() & numbers.keys():
        if settings[key] is None or is_off(settings[key]):
            raise refusal(model, name, f"to {settings[key]} while learn is running")
    curve = getattr(config, CURVES.get(choice.name, ""), "constant")
    for key in settings.keys() & rates.keys():
        for group in run.optimise.groups.keys() & set(rates[key]):
            run.reschedule_rate(group, scaled(getattr(config, key), curve))
    for key in settings.keys() & numbers.keys():
        run.reschedule(numbers[key], scaled(getattr(config, key), curve))
    run.algorithm.config = config  # type: ignore[attr-defined]
    lost = {key: value for key, value in run.plan.lost.items() if key not in settings}
    run.plan = attrs.evolve(run.plan, algorithm=attrs.evolve(choice, config=config), lost=lost)


def _numbers(agent: Agent) -> dict[str, str]:
    """Those of `NUMBERS` that this run has: a run may not clip values, for example."""
    known = NUMBERS.get(agent.plan.algorithm.name, {})
    return {key: name for key, name in known.items() if name in agent.run.schedules.by_name}


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


def by_plan(algo: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by the keys of a plan, which has the components of a recipe such as `her`."""
    recipes = default_kernel().registries.recipes
    if algo not in recipes:
        return dict(settings)
    targets = dict(recipes.get(algo).component().forwarded())
    return {targets.get(key, key): value for key, value in settings.items()}
