"""From a Plan to a live Run: every part is made here, handed to the next, and wrapped once."""

from __future__ import annotations

from typing import Any

import torch
from gymnasium.vector import AutoresetMode

from rlk import spaces
from rlk.errors import PlanError
from rlk.optimise import OneProcess, Optimiser, wrapped
from rlk.planning.environment import MakeEnv
from rlk.planning.plan import Plan
from rlk.records import Field, Schema
from rlk.registry.hooks import LIFECYCLE, Hooks
from rlk.running.run import Run
from rlk.running.seeding import Streams

#: Networks up to this many parameters train faster on one thread.
ONE_THREAD_MAX_PARAMETERS = 1_000_000


def build(plan: Plan) -> Run:
    """A Run of everything in the plan; whatever was opened is closed again if it fails."""
    plan.load_factories()
    run = Run(plan, plan.hooks())
    try:
        _assemble(run)
    except BaseException:
        run.close()
        raise
    return run


def _assemble(run: Run) -> None:
    plan, hooks = run.plan, run.hooks
    run.communicator = hooks.first("rlk_make_communicator", run=run) or OneProcess()
    run.streams = Streams(plan.seed, run.communicator.rank)
    run.device = _device(plan)
    run.env = make_vec_env(plan, hooks, plan.n_envs, training=True)
    run.distribution = plan.distribution and plan.distribution.make(plan.action_space)
    run.optimise = Optimiser(run.communicator)
    factory: Any = plan.algorithm.load()
    heads = factory.heads(plan.algorithm.config, run)
    with run.streams.globally("init"):
        policy = plan.policy.make()
        made = hooks.first("rlk_make_policy", run=run, heads=heads)
        if made is None:
            made = policy.build(plan.observation_space, heads)
    for module in hooks.all("rlk_filter_observation", run=run):
        made.add_filter(module)
    run.policy = made.to(run.device)
    run.parameters = policy.flatten(run.policy)
    _prepare_torch(run)
    run.algorithm = factory(plan.algorithm.config, run)
    run.actor = run.make_actor()
    if plan.noise is not None:
        run.actor = plan.noise.make(run).wrap(run.actor, run.policy)
    # What an algorithm itself does to explore comes last: noise is none on a random action.
    run.actor = getattr(run.algorithm, "explore", lambda inner: inner)(run.actor)
    run.storage = _make_storage(run)
    run.collector = hooks.first("rlk_make_collector", run=run) or plan.collector.make(run)
    run.collect = wrapped(run.collector.collect, hooks.all("rlk_wrap_collector", run=run))
    run.update = wrapped(run.algorithm.update, hooks.all("rlk_wrap_update", run=run))
    run.listeners = {hook: [listen for _, listen in hooks.listeners(hook)] for hook in LIFECYCLE}
    run.parameters.check()


def make_vec_env(
    plan: Plan, hooks: Hooks, n_envs: int, *, training: bool, out: Any = None, **extra: Any
) -> Any:
    """A vector environment with the plan's wrappers. One that was passed, or that a hook made, a
    backend that has `adopt(env, info_keys=…)` brings into the form that `protocols.py` tells of.

    Args:
        hooks: the run's; wrappers of the vector may activate in it what their environments share.
        training: whether wrappers learn (statistics) and record; for evaluation they do neither.
        out: the run's folder for wrappers that write; None is the plan's.
        extra: keywords for the environment (`render_mode`)."""
    backend: Any = plan.vec_env.load()
    keep = {"info_keys": plan.info_keys} if training and plan.info_keys else {}
    if plan.env.is_vector and training:
        env = plan.env.made
    else:
        env = hooks.first("rlk_make_vec_env", plan=plan, n_envs=n_envs, training=training)
    if env is None:
        make = MakeEnv(plan.env, plan.wrappers, extra)
        config = {} if plan.vec_env.config is None else {"config": plan.vec_env.config}
        env = backend([make] * n_envs, **config, **keep)
    elif hasattr(backend, "adopt"):
        env = backend.adopt(env, **keep)
    mode = AutoresetMode(env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP))
    if mode != AutoresetMode.SAME_STEP:
        raise PlanError(
            f"vector environment {type(env).__name__} does not restart episodes in the step that "
            "ends them. Make it with autoreset_mode=AutoresetMode.SAME_STEP."
        )
    for choice in plan.wrappers:
        if choice.component.scope == "vector":
            env = choice.make(env, training=training, out=out or plan.out, hooks=hooks)
    return env


def _make_storage(run: Run) -> Any:
    """The base storage, opened, with its decorators around its stages."""
    plan, made = run.plan, []
    infos = {f"info.{key}": Field(()) for key in plan.info_keys}
    schema = Schema(
        observation_space=plan.observation_space,
        action_space=plan.action_space,
        n_envs=plan.n_envs,
        n_steps=run.algorithm.steps_per_collect(),
        gamma=float(getattr(plan.algorithm.config, "gamma", 1.0)),
        device=run.device,
        total_timesteps=plan.total_timesteps,
        rng=run.streams.numpy("storage"),
        progress=run.clock.progress,
        extras={**run.algorithm.extras(), **infos},
        make_env=lambda: _spare_env(run),
    )
    for choice in plan.storages:
        one = run.hooks.first("rlk_make_storage", run=run, choice=choice)
        made.append(choice.make() if one is None else one)  # not `or`: an empty storage is false
    base, *decorators = made
    base.open(schema)
    for decorator in decorators:
        decorator.open(base, schema)
        base.decorate(decorator)
    return base


def _spare_env(run: Run) -> Any:
    """An environment to ask questions of; where a finished one was passed, that (never step it)."""
    env = run.plan.env
    if env.size is not None:
        return run.env if env.is_vector else env.made
    made = MakeEnv(env, run.plan.wrappers)()
    run.on_close.append(made.close)
    return made


def _device(plan: Plan) -> Any:
    """The torch device; `auto` takes a GPU only where it pays, which is for images."""
    if plan.device == "auto":
        images = spaces.is_image(plan.observation_space)
        return "cuda" if images and torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=plan.device)
    except (RuntimeError, AssertionError) as error:  # not known to torch, or not in this machine
        cause = str(error).splitlines()[0]
        raise PlanError(f"device {plan.device!r} cannot be used: {cause}") from None
    return plan.device


def _prepare_torch(run: Run) -> None:
    """Torch's threads, as told, else one for a small network (more only cost there); its memory."""
    small = run.parameters.flat.numel() <= ONE_THREAD_MAX_PARAMETERS
    if run.plan.n_threads is not None or (small and not spaces.is_image(run.observation_space)):
        torch.set_num_threads(run.plan.n_threads or 1)
    # Once 31 MB were freed, glibc keeps up to 62, which spares SAC 200 page faults in each step.
    torch.empty(31 << 20, dtype=torch.uint8)
