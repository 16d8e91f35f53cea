"""The storage of a run: a base, the decorators of its stages, and their schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from rlk.abilities import Decorated, Discounts, offers
from rlk.errors import BrokenPlugin, NotFinite, PlanError
from rlk.finite import finite
from rlk.planning.environment import MakeEnv
from rlk.records import Field, Schema, Step
from rlk.registry.answers import check_given
from rlk.required_methods import methods
from rlk.running.vec_env import stack_size
from rlk.wrapping import wrapped

if TYPE_CHECKING:
    from rlk.planning.choice import Choice
    from rlk.running.run import Run


def make_storages(run: Run) -> list[Any]:
    """The base storage of a run and then its decorators, all opened, the base with its decorators.

    Raises:
        PlanError: if the base does not accept decorators, and there is one.
        BrokenPlugin: if one of them lacks a method.
    """
    made = [_make_one_storage(run, choice) for choice in run.plan.storages]
    base, *decorators = made
    if decorators and not offers(base, Decorated):
        titles = " and ".join(choice.title for choice in run.plan.storages[1:])
        raise PlanError(f"{run.plan.storages[0].title} takes no decorator, but there is {titles}.")
    schema = _schema(run)
    base.open(schema)
    for decorator in decorators:
        decorator.open(base, schema)
        base.decorate(decorator)
    return made


def make_add(run: Run) -> Callable[[Step], None]:
    """The storage's `add` in the wrappers of plugins, whose rewards are then checked.

    Otherwise numpy would give one reward to every environment, or blame the storage, and an update
    would blame the algorithm for a NaN.
    """
    wrappers, n_envs = run.hooks.all("rlk_wrap_add", run=run), run.n_envs
    add: Callable[[Step], None] = run.storage.add
    if not wrappers:
        return add

    def checked(step: Step) -> None:
        shape = np.shape(step.reward)
        if shape != (n_envs,):
            raise BrokenPlugin(
                f"{_who_wraps(run)} gave the storage a reward of shape {shape}. It must have one "
                f"number for each environment, shape ({n_envs},)."
            )
        if not finite(np.asarray(step.reward)):
            raise NotFinite(
                f"{_who_wraps(run)} gave the storage a reward of {step.reward} at timestep "
                f"{run.timesteps}.\nNothing of this step was stored. Mend the plugin."
            )
        add(step)

    return wrapped(checked, wrappers, 1)


def _who_wraps(run: Run) -> str:
    plugins = " or ".join(map(repr, run.hooks.implementers("rlk_wrap_add")))
    return f"plugin {plugins} (rlk_wrap_add)"


def _make_one_storage(run: Run, choice: Choice) -> Any:
    made = run.hooks.only("rlk_make_storage", run=run, choice=choice)
    made = choice.make() if made is None else made  # not `or`: an empty storage is false
    wanted = methods(choice.kind, choice.component.stages)
    lacks = sorted(name for name in wanted if not hasattr(made, name))
    if lacks:
        raise BrokenPlugin(
            f"{choice.title}: what was made for it ({made!r:.80}) lacks {', '.join(lacks)}. Its "
            "factory, or the plugin that answers rlk_make_storage for it, is to return an object "
            "that has them."
        )
    return made


def _schema(run: Run) -> Schema:
    """The schema that the storages are opened with."""
    plan, config = run.plan, run.plan.algorithm.config
    infos = {f"info.{key}": Field(()) for key in plan.info_keys}
    extras, n_steps = run.algorithm.extras(), run.algorithm.steps_per_collect()
    check_given(plan.algorithm.title, "extras", extras)
    check_given(plan.algorithm.title, "steps_per_collect", n_steps)  # with 0, it collects forever
    return Schema(
        observation_space=plan.observation_space,
        action_space=plan.action_space,
        n_envs=plan.n_envs,
        n_steps=n_steps,
        gamma=float(config.gamma) if offers(config, Discounts) else 1.0,
        device=run.device,
        rng=run.streams.numpy("storage"),
        clock=run.clock,
        extras={**extras, **infos},
        make_env=lambda: _spare_env(run),
        stack_size=stack_size(run.env),
    )


def _spare_env(run: Run) -> Any:
    """An environment to query, never to step; where there is no single one, the vector.

    A finished environment that was passed is used itself.
    """
    env = run.plan.env
    if env.is_vector or run.plan.vec_env.component.makes_only_vectors:
        return run.env
    if env.is_finished:
        return env.passed
    made = MakeEnv(env, run.plan.wrappers)()
    run.on_close.append(made.close)
    return made
