"""An agent of rlk with the settings and the parameters of a model of Stable Baselines.

A class with the interface of its library loads the model, whose environment is an object that no
file can store. The agent is made again from its plan, in the environment that the user names.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from rlk.agent import Agent
from rlk.errors import PlanError
from rlk.planning.resolve import resolve
from rlk.registry.kernel import default_kernel
from rlk.restoring.saved_plan import as_json, spec_of
from rlk.spaces import describe
from rlk_baselines import GAIL
from rlk_baselines.foreign_files.making import LeftOut
from rlk_import.normalization import (
    NORMALIZE,
    SavedNormalize,
    put_statistics,
    read_normalize,
)
from rlk_import.spaces import alike, takes_either_axis

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.planning.spec import RunSpec
    from rlk_baselines.common.base_class import BaseRLModel
    from rlk_import.origin import Origin


@attrs.frozen
class Imported:
    """An agent made from a model of another library.

    Attributes:
        lost: the parts of the model that the agent does not have, as sentences.
    """

    agent: Agent
    lost: tuple[str, ...]


def converted(
    origin: Origin,
    env: str | None,
    *,
    normalize: Path | None = None,
    plugins: tuple[str, ...] = (),
    changes: Mapping[str, Any] | None = None,
) -> Imported:
    """Make an agent from a model.

    Args:
        origin: the model.
        env: the environment of its training, as for `--env`.
        normalize: the file of the `VecNormalize` that was used in training.
        plugins: further plugins, such as the wrappers of its environment.
        changes: settings to change, by rlk's keys.

    Raises:
        PlanError: if the environment is missing or has other spaces, the activation is one that no
            file of rlk can hold, or something does not fit.
        BadFile: if a file is damaged.
    """
    model, lost = _loaded(origin)
    try:
        if env is None:
            raise _no_environment(origin, model)
        _refuse_function(origin, model, changes or {})
        found = read_normalize(normalize) if normalize is not None else None
        if found is not None:
            plugins, changes = (*plugins, NORMALIZE), {**found.settings, **(changes or {})}
        else:
            lost.append(
                "the statistics of a VecNormalize, if it was trained in one, are in a file of "
                "their own: --normalize FILE"
            )
        spec = spec_of(
            as_json(model.agent.plan),
            default_kernel(),
            env=env,
            plugins=plugins,
            changes=changes,
        )
        return Imported(_agent(origin, model, spec, found), tuple(lost))
    finally:
        model.agent.close()


def _agent(
    origin: Origin, model: BaseRLModel, spec: RunSpec, normalize: SavedNormalize | None
) -> Agent:
    """The agent for a spec, with the parameters of the model."""
    plan = resolve(default_kernel(), spec)
    _check_spaces(origin, model, plan)
    agent = Agent(plan, spec)
    try:
        agent.load_parameters(model.agent.get_parameters())
        agent.run.clock.timesteps = model.num_timesteps
        if normalize is not None:
            put_statistics(agent, normalize)
    except BaseException:
        agent.close()
        raise
    return agent


def _loaded(origin: Origin) -> tuple[BaseRLModel, list[str]]:
    """The model as its class loads it, and the parts of its file that are not used."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = origin.kind.load(origin.path)
    lost = ["optimisers, random streams and the replay begin anew"]
    messages = [one.message for one in said]
    for names in (one.names for one in messages if isinstance(one, LeftOut)):
        lost.append(
            f"functions and objects are not read: {', '.join(names)}. They have their defaults; "
            f"use --set KEY=VALUE (rlk plugins show {origin.kind.algo}) or --plugin NAME "
            "(hindsight-replay, normal-noise)"
        )
    own = [str(one) for one in messages if not isinstance(one, LeftOut)]
    begun = f"{origin.path}: "
    if issubclass(origin.kind, GAIL):
        lost.append("the learnt reward is left out: it learns on as TRPO, from the environment's")
    else:
        lost += [text.removeprefix(begun) for text in own if text.startswith(begun)]
    return model, lost


def _refuse_function(origin: Origin, model: BaseRLModel, changes: Mapping[str, Any]) -> None:
    """Raise PlanError for an activation that rlk has no name for, unless it is changed."""
    found = getattr(model.agent.plan.policy.config, "act_fun", None)
    if callable(found) and "policy.act_fun" not in changes:
        raise PlanError(
            f"{origin.path} has the activation {getattr(found, '__name__', found)}, which no file "
            "of rlk can hold. Use the model in Python: "
            f"{origin.package}.{origin.kind.__name__}.load({str(origin.path)!r}, env=…)."
        )


def _no_environment(origin: Origin, model: BaseRLModel) -> PlanError:
    return PlanError(
        f"{origin.path} does not say what it was trained in, as no file of {origin.library} does. "
        f"Name it by --env ID; observations are {describe(model.observation_space)}, actions "
        f"{describe(model.action_space)}."
    )


def _check_spaces(origin: Origin, model: BaseRLModel, plan: Plan) -> None:
    """Raise PlanError if the spaces of the environment, without masks, differ from the model's."""
    spaces = {"observation_space": plan.policy_space, "action_space": plan.action_space}
    either = takes_either_axis(plan.policy.config)
    for name, here in spaces.items():
        there, bounds = getattr(model, name), name == "action_space"
        if alike(there, here, bounds=bounds, either_axis=either):
            continue
        begun = (
            f"{origin.path} was trained with the {name} {there}, and that of {plan.env.name!r} "
            f"is {here}."
        )
        if alike(there, here, bounds=bounds, either_axis=True):
            raise PlanError(
                f"{begun} {plan.policy.title} has no CNN, so that its weights depend on the axis "
                "of the channels. Put the environment in a wrapper that turns its images: "
                "--plugin transpose-image makes channels first."
            )
        raise PlanError(
            f"{begun} Name another --env, or put in the wrappers that its environment was in: "
            "--plugin NAME (rlk plugins list --kind wrappers)."
        )
