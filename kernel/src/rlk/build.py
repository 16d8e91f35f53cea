"""From a Plan to a live Run: every part is made here, handed to the next, and wrapped once."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import attrs
from gymnasium.vector import AutoresetMode

from rlk import policy, spaces
from rlk.collect import StepCollector
from rlk.environment import MakeEnv
from rlk.errors import PlanError, RlkError
from rlk.optimise import Group, OneProcess, Optimiser
from rlk.parameters import FlatParameters
from rlk.plan import Choice, Plan
from rlk.plugins import Hooks
from rlk.protocols import Distribution
from rlk.records import Field, Schema
from rlk.run import Run
from rlk.schedules import ScheduleLike, as_schedule
from rlk.seeding import Streams

#: Networks up to this many parameters train faster on one thread.
ONE_THREAD_MAX_PARAMETERS = 1_000_000


@attrs.define
class Context:
    """What an algorithm is given to build itself with; `run` is under construction."""

    run: Run
    observation_space: Any  #: of one environment
    action_space: Any  #: of one environment
    n_envs: int  #: stepped together
    device: Any  #: of the policy
    distribution: Distribution | None  #: of the actions
    total_timesteps: int  #: of the run
    policy: Any = None  #: None while `heads` is asked
    parameters: FlatParameters | None = None  #: of the policy

    def schedule(self, value: ScheduleLike) -> Any:
        """A scheduled number as a 0-dim tensor that the loop fills before every collection."""
        return self.run.schedule(as_schedule(value))

    def group(
        self,
        name: str,
        prefixes: tuple[str, ...] | None = None,
        *,
        learning_rate: ScheduleLike,
        max_grad_norm: float | None = None,
        parameters: FlatParameters | None = None,
        **options: Any,
    ) -> None:
        """Declare what `optimise(name, …)` moves.

        Args:
            prefixes: names of the policy's submodules, a contiguous range; None is all of it.
            learning_rate: number, schedule string or callable.
            max_grad_norm: clip the gradient's norm; None does not.
            parameters: of another module than the policy (an entropy coefficient).
            options: for the optimiser (`eps=1e-5`, `betas=…`)."""
        flat, run = parameters or self.parameters, self.run
        assert flat is not None
        views, memory = flat.select(prefixes)
        group = Group(name, views, memory, self.schedule(learning_rate), max_grad_norm, options)
        step = run.hooks.first("rlk_make_optimiser", run=run, group=group)
        if step is None:
            step = run.plan.optimisers.get(f"{name}_optimiser", run.plan.optimiser).make(group)
        run.optimise.add(group, step, run.hooks.all("rlk_wrap_loss", run=run, group=name))


@attrs.frozen
class NoiseContext:
    """What a noise component is given: the action space, its stream, and how far the run is."""

    action_space: Any
    n_envs: int
    rng: Any
    progress: Callable[[], float]


def build(plan: Plan) -> Run:
    """A Run of everything in the plan; whatever was opened is closed again if it fails."""
    run = Run(plan, active_hooks(plan))
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
    run.device = pick_device(plan)
    run.env = make_vec_env(plan, hooks, plan.n_envs, training=True)
    run.distribution = plan.distribution and plan.distribution.make(plan.action_space)
    run.optimise = Optimiser(run.communicator)
    shapes = plan.observation_space, plan.action_space, plan.n_envs
    context = Context(run, *shapes, run.device, run.distribution, plan.total_timesteps)
    factory: Any = plan.algorithm.component.load()
    heads = factory.heads(plan.algorithm.config, context)
    with run.streams.globally("init"):
        made = hooks.first("rlk_make_policy", run=run, heads=heads)
        if made is None:
            made = policy.build_policy(plan.policy.make(), heads, plan.observation_space)
    for module in hooks.all("rlk_filter_observation", run=run):
        made.add_filter(module)
    run.policy = context.policy = made.to(run.device)
    run.parameters = context.parameters = FlatParameters(run.policy)
    set_threads(plan, run.parameters)
    run.algorithm = factory(plan.algorithm.config, context)
    run.actor = hooks.first("rlk_make_actor", run=run) or run.algorithm.actor()
    if plan.noise is not None:
        rng = run.streams.numpy("noise")
        noise = NoiseContext(plan.action_space, plan.n_envs, rng, run.clock.progress)
        run.actor = plan.noise.make(noise).wrap(run.actor, run.policy)
    # What an algorithm itself does to explore comes last: noise is none on a random action.
    run.actor = getattr(run.algorithm, "explore", lambda inner: inner)(run.actor)
    run.storage = make_storage(run)
    run.collector = hooks.first("rlk_make_collector", run=run) or StepCollector(run)
    run.collect = _wrapped(run.collector.collect, hooks.all("rlk_wrap_collector", run=run))
    run.update = _wrapped(run.algorithm.update, hooks.all("rlk_wrap_update", run=run))
    run.loggers = [choice.make() for choice in plan.loggers]
    run.listen()
    run.parameters.check()


def active_hooks(plan: Plan) -> Hooks:
    """A plugin manager with everything that is active in a plan."""
    hooks = Hooks()
    for choice in (*plan.extensions, *plan.callbacks):
        hooks.activate(choice.make(), choice.name, f"{choice.dist} {choice.version}")
    for name, plugin in plan.objects.items():
        hooks.activate(plugin, name)
    return hooks


def make_vec_env(
    plan: Plan, hooks: Hooks, n_envs: int, *, training: bool, out: Any = None, **extra: Any
) -> Any:
    """A vector environment with the plan's wrappers.

    One that was passed, or that a hook made, a backend that has `adopt(env, info_keys=…)` brings
    into the form that `protocols.py` tells of.

    Args:
        hooks: the run's; wrappers of the vector may activate in it what their environments share.
        training: whether wrappers learn (statistics) and record; for evaluation they do neither.
        out: the run's folder for wrappers that write; None is the plan's.
        extra: keywords for the environment (`render_mode`)."""
    backend: Any = plan.vec_env.component.load()
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


def make_storage(run: Run) -> Any:
    """The base storage, opened, with its decorators around its stages."""
    plan = run.plan
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
        extras={
            **run.algorithm.extras(),
            **{f"info.{key}": Field(()) for key in plan.info_keys},
        },
        make_env=lambda: spare_env(run),
    )
    base, *decorators = [_made_storage(run, choice) for choice in plan.storages]
    base.open(schema)
    for decorator in decorators:
        decorator.open(base, schema)
        base.decorate(decorator)
    return base


def spare_env(run: Run) -> Any:
    """An environment to ask questions of; where a finished one was passed, that (never step it)."""
    env = run.plan.env
    if env.size is not None:
        return run.env if env.is_vector else env.made
    made = MakeEnv(env, run.plan.wrappers)()
    run.on_close.append(made.close)
    return made


def _made_storage(run: Run, choice: Choice) -> Any:
    made = run.hooks.first("rlk_make_storage", run=run, choice=choice)
    return choice.make() if made is None else made  # not `or`: an empty storage is false


def pick_device(plan: Plan) -> Any:
    """The torch device; `auto` takes a GPU only where it pays, which is for images.

    Raises:
        PlanError: for a device that torch does not know or this machine has not."""
    import torch

    if plan.device == "auto":
        images = spaces.is_image(plan.observation_space)
        return "cuda" if images and torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=plan.device)
    except (RuntimeError, AssertionError) as error:
        cause = str(error).splitlines()[0]
        raise PlanError(f"device {plan.device!r} cannot be used: {cause}") from None
    return plan.device


def set_threads(plan: Plan, parameters: FlatParameters) -> None:
    """Torch's threads: as told, else one for a small network (more only cost there)."""
    import torch

    small = parameters.flat.numel() <= ONE_THREAD_MAX_PARAMETERS
    if plan.n_threads is not None:
        torch.set_num_threads(plan.n_threads)
    elif small and not spaces.is_image(plan.observation_space):
        torch.set_num_threads(1)


def _wrapped(function: Callable[..., Any], wrappers: list[Any]) -> Callable[..., Any]:
    made: Any = reduce(lambda inner, wrapper: wrapper(inner), wrappers, function)
    if not callable(made):
        raise RlkError(f"a plugin's wrapper returned {type(made).__name__}, not a function")
    return made  # type: ignore[no-any-return]
