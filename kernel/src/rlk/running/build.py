"""From a Plan to a live Run: every part is made here, handed to the next, and wrapped once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from rlk.abilities import (
    AsksEnvironment,
    Decorated,
    Discounts,
    Explores,
    Filterable,
    HasMetrics,
    offers,
)
from rlk.errors import BadFile, BrokenPlugin, PlanError
from rlk.optimise import OneProcess, Optimiser, wrapped
from rlk.planning.environment import MakeEnv
from rlk.protocols import Stateful, methods
from rlk.records import Field, Schema
from rlk.registry.answers import check_given
from rlk.running.device import choose_device, prepare_torch
from rlk.running.listeners import look_up_listeners
from rlk.running.modes import Modes
from rlk.running.run import Run
from rlk.running.seeding import Streams
from rlk.running.vec_env import make_vec_env, metrics_of, stack_size
from rlk.settings import unstructure

if TYPE_CHECKING:
    from rlk.planning.choice import Choice
    from rlk.planning.plan import Plan
    from rlk.protocols import Actor

#: Settings of a policy may make as many parameters before its size is looked at, which takes time.
_LARGE = 20_000_000


def build(plan: Plan, saved: Mapping[str, Any] | None = None) -> Run:
    """A Run of everything in the plan; what was opened is closed again if building fails.

    Args:
        plan: what it is made of.
        saved: the parameters that it will take up, of a file that may ask for far more.

    Raises:
        BadFile: if the plan's policy has more parameters than are saved.
    """
    plan.load_factories()
    run = Run(plan, plan.hooks())
    try:
        _assemble(run, saved)
    except BaseException:
        run.close()
        raise
    return run


def _assemble(run: Run, saved: Mapping[str, Any] | None) -> None:
    """Make the parts of a run, each of those that come before it."""
    plan, hooks = run.plan, run.hooks
    run.own_folder()
    run.communicator = hooks.first("rlk_make_communicator", run=run) or OneProcess()
    run.streams = Streams(plan.seed, run.communicator.rank)
    run.device = choose_device(plan)
    run.env = make_vec_env(plan, hooks, plan.n_envs, training=True)
    run.env_metrics = metrics_of(run.env)
    run.distribution = plan.distribution and plan.distribution.make(plan.action_space)
    run.optimise = Optimiser(run.communicator)
    _make_policy(run, saved)
    prepare_torch(run)
    run.algorithm = plan.algorithm.called(plan.algorithm.load(), plan.algorithm.config, run)
    run.actors = _training_actors(run)
    run.actor = run.actors[-1]
    run.storage = _make_storage(run)
    run.collector = hooks.first("rlk_make_collector", run=run) or plan.collector.make(run)
    run.collect = wrapped(run.collector.collect, hooks.all("rlk_wrap_collector", run=run), 0)
    run.update = wrapped(run.algorithm.update, hooks.all("rlk_wrap_update", run=run), 2)
    run.listeners = look_up_listeners(hooks, run.failed_writes)
    run.parameters.check()


def _make_policy(run: Run, saved: Mapping[str, Any] | None) -> None:
    """The policy with its filters, on its device, and its flat parameters."""
    plan, hooks = run.plan, run.hooks
    algorithm = plan.algorithm
    heads = algorithm.called(algorithm.load().heads, algorithm.config, run)
    check_given(algorithm.title, "heads", heads)
    if saved is not None and _squares(unstructure(plan.policy.config)) > _LARGE:
        _check_size(run, heads, saved)
    with run.streams.globally("init"):
        builder = plan.policy.make()
        policy = hooks.first("rlk_make_policy", run=run, heads=heads)
        if policy is None:
            policy = builder.build(plan.policy_space, heads)
            check_given(plan.policy.title, "build", policy)
    filters = hooks.all("rlk_filter_observation", run=run)
    if filters and not offers(policy, Filterable):
        raise PlanError(f"{plan.policy.title} takes no filters of observations. Use another.")
    for module in filters:
        policy.add_filter(module)
    run.policy = policy.to(run.device)
    run.modes = Modes(run.policy)
    run.parameters = builder.flatten(run.policy)


def _squares(setting: Any) -> int:
    """The sum of the squares of all whole numbers in a setting: layers as wide as they are."""
    if isinstance(setting, Mapping):
        return sum(map(_squares, setting.values()))
    if isinstance(setting, list):
        return sum(map(_squares, setting))
    return setting * setting if isinstance(setting, int) else 0


def _check_size(run: Run, heads: Any, saved: Mapping[str, Any]) -> None:
    """BadFile for a policy of more parameters than are saved, before it takes any memory."""
    try:
        with torch.device("meta"):
            policy = run.plan.policy.make().build(run.plan.policy_space, heads)
    except (NotImplementedError, RuntimeError):
        return  # it computes with what it is made of: its own size is all that can be known
    size = sum(one.numel() for one in policy.parameters() if one.requires_grad)
    known = sum(one.numel() for one in saved.values() if isinstance(one, torch.Tensor))
    if size > known:
        raise BadFile(
            f"the policy of this file's plan has {size:,} parameters, but the file holds {known:,}."
        )


def _training_actors(run: Run) -> list[Actor]:
    """What the collector acts with: the policy's actor, inside noises, inside exploration.

    What the algorithm itself does to explore comes last, because no noise belongs on an action that
    is random already.
    """
    actors = [run.make_actor()]
    for choice in run.plan.noises:
        noise = choice.make(run)
        actors.append(noise.wrap(actors[-1], run.policy))
        check_given(choice.title, "wrap", actors[-1])
        if offers(noise, Stateful):
            run.noises[choice.name] = noise
    algorithm: Any = run.algorithm
    if offers(algorithm, Explores):
        actors.append(algorithm.explore(actors[-1]))
        check_given(run.plan.algorithm.title, "explore", actors[-1])
    return actors


def _make_storage(run: Run) -> Any:
    """The base storage, opened, with its decorators around its stages."""
    made = [_make_one_storage(run, choice) for choice in run.plan.storages]
    run.metric_sources += [one.metrics for one in made if offers(one, HasMetrics)]
    run.on_change_env += [one.environment_changed for one in made if offers(one, AsksEnvironment)]
    base, *decorators = made
    if decorators and not offers(base, Decorated):
        titles = " and ".join(choice.title for choice in run.plan.storages[1:])
        raise PlanError(f"{run.plan.storages[0].title} takes no decorator, but there is {titles}.")
    schema = _schema(run)
    base.open(schema)
    for decorator in decorators:
        decorator.open(base, schema)
        base.decorate(decorator)
    return base


def _make_one_storage(run: Run, choice: Choice) -> Any:
    made = run.hooks.first("rlk_make_storage", run=run, choice=choice)
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
    """What the storages are opened with."""
    plan, config = run.plan, run.plan.algorithm.config
    infos = {f"info.{key}": Field(()) for key in plan.info_keys}
    extras = run.algorithm.extras()
    check_given(plan.algorithm.title, "extras", extras)
    return Schema(
        observation_space=plan.observation_space,
        action_space=plan.action_space,
        n_envs=plan.n_envs,
        n_steps=_steps_per_collect(run),
        gamma=float(config.gamma) if offers(config, Discounts) else 1.0,
        device=run.device,
        rng=run.streams.numpy("storage"),
        clock=run.clock,
        extras={**extras, **infos},
        make_env=lambda: _spare_env(run),
        stack_size=stack_size(run.env),
    )


def _steps_per_collect(run: Run) -> int:
    """What the algorithm says; with none, a run would collect for ever."""
    steps = run.algorithm.steps_per_collect()
    check_given(run.plan.algorithm.title, "steps_per_collect", steps)
    return steps


def _spare_env(run: Run) -> Any:
    """An environment to ask questions of; where there is no single one, the vector: never step it.

    One that was passed finished is asked itself.
    """
    env = run.plan.env
    if env.is_vector or run.plan.vec_env.component.scope == "vector":
        return run.env
    if env.is_finished:
        return env.made
    made = MakeEnv(env, run.plan.wrappers)()
    run.on_close.append(made.close)
    return made
