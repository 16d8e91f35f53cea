"""From a Plan to a live Run: every part is made here, handed to the next, and wrapped once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from rlk.abilities import AsksEnvironment, Explores, HasMetrics, offers
from rlk.one_process import OneProcess
from rlk.optimise import Optimiser
from rlk.protocols import Stateful
from rlk.registry.answers import check_given
from rlk.running.device import choose_device, keep_memory
from rlk.running.folder_owner import OwnedFolder
from rlk.running.listeners import look_up_listeners
from rlk.running.plan_file import keep_plan
from rlk.running.policy import make_policy
from rlk.running.run import Run
from rlk.running.seeding import Streams
from rlk.running.storage import make_add, make_storages
from rlk.running.torch_modes import refuse_other_defaults
from rlk.running.vec_env import make_vec_env, metrics_of
from rlk.wrapping import wrapped

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.protocols import Actor, Communicator


def build(
    plan: Plan, saved: Mapping[str, Any] | None = None, out: OwnedFolder | None = None
) -> Run:
    """Build a Run from a plan; if that fails, everything that was opened is closed again.

    Args:
        plan: the plan.
        saved: the parameters that will be loaded; the file's plan may ask for far more.
        out: the plan's folder, if it was taken before; the run releases it when it is closed.

    Raises:
        BadFile: if the plan's policy has more parameters than are saved.
        PlanError: if torch's default dtype or device is another than rlk's, a part does not fit, or
            another process owns the folder.
    """
    refuse_other_defaults()
    plan.load_factories()
    run = Run(plan, plan.hooks())
    try:
        with torch.inference_mode(False):  # what is made in that mode can never learn
            _assemble(run, saved, out)
    except BaseException:
        run.close()
        raise
    return run


def _assemble(run: Run, saved: Mapping[str, Any] | None, out: OwnedFolder | None) -> None:
    """Make the parts of a run, each from those before it."""
    plan, hooks = run.plan, run.hooks
    run.own_folder(out)
    keep_plan(run)
    run.communicator = _make_communicator(run)
    run.streams = Streams(plan.seed, run.communicator.rank)
    run.device = choose_device(plan)
    run.env = make_vec_env(plan, hooks, plan.n_envs, training=True)
    run.env_metrics = metrics_of(run.env)
    run.distribution = plan.distribution and plan.distribution.make(plan.action_space)
    run.optimise = Optimiser(run.communicator)
    run.policy, run.modes, run.parameters = make_policy(run, saved)
    keep_memory()
    run.algorithm = plan.algorithm.called(plan.algorithm.load(), plan.algorithm.config, run)
    run.actors, run.noises = _make_training_actors(run)
    run.actor = run.actors[-1]
    storages = make_storages(run)
    run.storage = storages[0]
    run.metric_sources += [one.metrics for one in storages if offers(one, HasMetrics)]
    run.on_change_env += [
        one.environment_changed for one in storages if offers(one, AsksEnvironment)
    ]
    run.add = make_add(run)
    run.collector = hooks.only("rlk_make_collector", run=run) or plan.collector.make(run)
    run.collect = wrapped(run.collector.collect, hooks.all("rlk_wrap_collector", run=run), 0)
    run.update = wrapped(run.algorithm.update, hooks.all("rlk_wrap_update", run=run), 2)
    run.listeners = look_up_listeners(hooks, run.failed_writes)
    hooks.all("rlk_built", run=run)
    run.parameters.check()


def _make_communicator(run: Run) -> Communicator:
    """The communicator of several ranks or of one process, inside its wrappers."""
    communicator = run.hooks.only("rlk_make_communicator", run=run) or OneProcess()
    for name, wrap in run.hooks.answers("rlk_wrap_communicator", run=run):
        communicator = wrap(communicator)
        check_given(f"plugin {name!r}", "wrap_communicator", communicator)
    return communicator


def _make_training_actors(run: Run) -> tuple[list[Actor], dict[str, Stateful]]:
    """The collector's actors, the innermost first, and the noises that have a state, by name.

    The algorithm's own exploration is outermost, because noise must not change an action that is
    already random.
    """
    actors, noises = [run.make_actor()], {}
    for choice in run.plan.noises:
        noise = choice.make(run)
        actors.append(noise.wrap(actors[-1], run.policy))
        check_given(choice.title, "wrap", actors[-1])
        if offers(noise, Stateful):
            noises[choice.name] = noise
    algorithm: Any = run.algorithm
    if offers(algorithm, Explores):
        actors.append(algorithm.explore(actors[-1]))
        check_given(run.plan.algorithm.title, "explore", actors[-1])
    return actors, noises
