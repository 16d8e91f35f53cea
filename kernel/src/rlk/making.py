"""Agents from keywords and from saved files, and those of this process that are open."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import torch

from rlk.agent import Agent
from rlk.errors import PlanError
from rlk.files import AnyPath, users_path
from rlk.planning.keywords import given_keywords
from rlk.planning.resolve import resolve
from rlk.planning.spec import ENV_PREFIX, RunSpec, make_spec
from rlk.protocols import State
from rlk.registry.kernel import Kernel, default_kernel
from rlk.restoring.saved_plan import spec_of
from rlk.restoring.saved_records import SavedPlan
from rlk.restoring.saved_spaces import check_spaces_of_saved
from rlk.restoring.spaces_alone import spaces_alone
from rlk.running import access
from rlk.running.made_agents import made_agents
from rlk.saving import checkpoint, plugin_states, saved_files
from rlk.saving.changed_parts import changed_acting, refused_as_other_policy
from rlk.saving.restored_parts import bad_if_it_fails, part_of
from rlk.saving.run_folder import check_out, continues_in
from rlk.settings import changed
from rlk.structure import structured
from rlk.terminal import is_terminal

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def make(
    algo: str,
    *unnamed: Any,
    env: Any = None,
    plugins: Iterable[Any] | None = None,
    config: Any = None,
    kernel: Kernel | None = None,
    n_envs: int | None = None,
    total_timesteps: int | None = None,
    seed: int | None = None,
    device: str | torch.device | None = None,
    n_threads: int | None = None,
    log_interval: int | None = None,
    verbose: int | None = None,
    out: AnyPath | None = None,
    preset: str | None = None,
    policy: Any = None,
    distribution: Any = None,
    noise: Any = None,
    vec_env: Any = None,
    storage: Any = None,
    collector: Any = None,
    optimiser: Any = None,
    serializer: Any = None,
    settings: Mapping[str, Any] = {},
    **hyperparameters: Any,
) -> Agent:
    """An agent from keywords.

    It has the documented defaults of its algorithm. `rlk run` applies tuned settings if there are
    some for the environment; here you ask for them: `preset='zoo'`. With `verbose=1` it prints
    what `rlk run` prints; without `out` it writes nothing. What is None is left open.

    Agents may be made and trained in several threads. Those that train at once keep to their seeds,
    unless a custom module draws from torch's global generator, as dropout does.

    Args:
        algo: the algorithm's name.
        unnamed: refused: a policy and an environment are keywords.
        config: an instance of its config class, instead of keywords (`DQNConfig(…)`). What equals
            the default of the class counts as left out, so a preset may set it.
        kernel: where components come from; None means everything that is installed.
        env: an id, `module:Class`, `./file.py:Class`, a class or function that makes one, or one.
        plugins: names, which settings may follow (`NAME:key=value`), `no:NAME`, classes, objects.
        n_envs: environments stepped together; one vector step is n_envs timesteps.
        total_timesteps: environment steps of training, over all environments.
        seed: of everything random; None draws one.
        device: auto, cpu, cuda, cuda:1, …
        n_threads: torch's threads; None is one for a small network.
        log_interval: iterations (on-policy) or episodes (off-policy) between rows of metrics.
        verbose: 0 prints nothing.
        out: the folder of the run.
        preset: where tuned settings come from; `auto` takes some if there are any.
        policy, distribution, noise, vec_env, storage, collector, optimiser, serializer: the
            component of each slot: a name, a class, or a table of settings for the algorithm's
            own: `policy={"layers": [64]}`.
        settings: settings by dotted key, of components and of the environment:
            `settings={"policy.layers": [64], "env.gravity": 5.0}`. A table that a program has may
            hold other keywords, too.
        hyperparameters: of the algorithm: `help(DQNConfig)`, or `rlk plugins show dqn`.

    Raises:
        PlanError: if something does not exist or does not fit, or `out` is not empty.
    """
    given = given_keywords(locals(), settings, hyperparameters)  # locals: the arguments alone
    if unnamed:
        keys = ("policy", "env") if len(unnamed) > 1 else ("env",)
        words = [f"{key}={value!r:.80}" for key, value in zip(keys, unnamed, strict=False)]
        raise PlanError(f"rlk.make takes keywords: rlk.make({', '.join([repr(algo), *words])}, …)")
    if config is not None and not attrs.has(type(config)):
        raise PlanError(
            "config must be an instance of the algorithm's config class, such as DQNConfig(…), got "
            f"{config!r:.80}. Pass settings alone as keywords: rlk.make({algo!r}, gamma=0.98)."
        )
    kernel = kernel or default_kernel()
    spec = make_spec(algo, {**changed(config), **_plain(given)})
    return Agent(_plan(kernel, spec), spec)


def load(
    path: AnyPath,
    *,
    env: Any = None,
    plugins: Iterable[Any] | None = None,
    kernel: Kernel | None = None,
    best: bool = False,
    to_act: bool = False,
    n_envs: int | None = None,
    total_timesteps: int | None = None,
    seed: int | None = None,
    device: str | torch.device | None = None,
    n_threads: int | None = None,
    log_interval: int | None = None,
    verbose: int | None = None,
    out: AnyPath | None = None,
    preset: str | None = None,
    policy: Any = None,
    distribution: Any = None,
    noise: Any = None,
    vec_env: Any = None,
    storage: Any = None,
    collector: Any = None,
    optimiser: Any = None,
    serializer: Any = None,
    settings: Mapping[str, Any] = {},
    **hyperparameters: Any,
) -> Agent:
    """An agent from a model, a checkpoint, or a run folder.

    What is None stays as it was saved. Other settings of parts that a policy acts by, and functions
    that were not passed again, which no file can hold, are named in `Agent.differs`; of the latter,
    `learn` warns.

    Args:
        path: the file or the folder.
        env: an environment other than the saved one, with the same spaces; needed to train if that
            was an object or a file.
        plugins: plugins that were passed as objects or files, again; `no:NAME` leaves one out.
        kernel: where components come from; None means everything that is installed.
        best: for a run folder, the best model of its evaluations.
        to_act: take a checkpoint as a model, without the parts that only training needs (noises,
            decorators, …), or with the algorithm's own ones in their places (storage, optimisers,
            …), of which `learn` warns. Where the environment is not there, its spaces suffice.
        out: the folder of a new run or, to continue the run in it, the folder that `path` is in;
            then its callbacks and loggers continue, too.
        n_envs, total_timesteps, seed, device, n_threads, log_interval, verbose, preset: as in
            `make`.
        policy, distribution, noise, vec_env, storage, collector, optimiser, serializer: likewise.
        settings: likewise, by dotted key; functions are passed again here.
        hyperparameters: of the algorithm, to change.

    Raises:
        BadFile: if the file is damaged or not one of rlk's.
        PlanError: if it names something that does not exist, the environment has spaces of another
            kind or size or other bounds, or `out` holds another run, or is given with `to_act`.
    """
    changes = _plain(given_keywords(locals(), settings, hyperparameters))  # locals: as in `make`
    env, plugins = changes.pop("env", None), changes.pop("plugins", None)
    kernel, path = kernel or default_kernel(), users_path(path)
    if to_act and changes.get("out"):
        raise PlanError(
            f"out={str(changes['out'])!r} is a folder to train in, and to_act is for an agent that "
            "only acts. Leave out one of them."
        )
    saved = saved_files.read_manifest(path, kernel, best=best)["plan"]
    goes_on = continues_in(changes.get("out"), path)
    request = {"plugins": plugins, "changes": changes, "resumes": goes_on}
    # A process that does something other than train ends here, before it reads a replay.
    if to_act and env is None:
        plan, spec = _planned_to_act(saved, kernel, path, request)
    else:
        plan, spec = _planned(saved, kernel, path, {**request, "env": env, "to_act": to_act})
    state = saved_files.read(path, kernel, best=best)
    state = checkpoint.as_model(state) if to_act else state
    return _agent(plan, spec, state, path, changes)


def from_state(
    state: State,
    path: Path,
    *,
    env: Any = None,
    plugins: Iterable[Any] | None = None,
    kernel: Kernel | None = None,
    **changes: Any,
) -> Agent:
    """An agent from a state that a serializer read from `path`; the rest is as in `load`."""
    kernel, changes = kernel or default_kernel(), _plain(changes)
    saved = state["manifest"]["plan"]
    spec = spec_of(saved, kernel, env=env, plugins=plugins, changes=changes)
    return _agent(_plan(kernel, spec, path), spec, state, path, changes)


def restore(agent: Agent, state: State) -> None:
    """Put a saved state into an agent that was just made; `differs` says what then differs.

    Raises:
        BadFile: if the state does not fit; the agent is closed after any error.
    """
    try:
        before = (*agent.spec.notes, *map(str, agent.spec.learns_without))
        agent.differs = [*before, *checkpoint.restore(agent.run, state)]
        agent.missing = plugin_states.missing(agent.run, state)
    except BaseException:
        agent.close()
        raise


def open_agents() -> list[Agent]:
    """The agents that this process made and has not closed, the oldest first.

    Those that no variable holds any more are among them: a notebook keeps what its cells display.
    `for agent in rlk.open_agents(): agent.close()` frees what they hold.
    """
    return [
        agent
        for agent in made_agents()
        if not agent.run.closed and not access.is_of_another_process(agent.run)
    ]


def _planned(
    saved: State, kernel: Kernel, path: Path, request: Mapping[str, Any]
) -> tuple[Plan, RunSpec]:
    """The plan and the spec of a saved plan; `request` are keywords of `spec_of`."""
    spec = spec_of(saved, kernel, **request)
    return _plan(kernel, spec, path), spec


def _planned_to_act(
    saved: State, kernel: Kernel, path: Path, request: Mapping[str, Any]
) -> tuple[Plan, RunSpec]:
    """As `_planned`; if that fails, with the spaces of the environment alone.

    A keyword of the environment that is given asks for the environment itself.
    """
    request = {**request, "to_act": True}
    try:
        return _planned(saved, kernel, path, request)
    except PlanError as error:
        env = spaces_alone(structured(SavedPlan, saved, "the saved plan").env, str(error))
        if env is None or any(key.startswith(ENV_PREFIX) for key in request["changes"]):
            raise
        return _planned(saved, kernel, path, {**request, "env": env})


def _plain(given: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords with a device's name instead of a torch.device."""
    return {k: str(one) if isinstance(one, torch.device) else one for k, one in given.items()}


def _agent(
    plan: Plan, spec: RunSpec, state: State, path: Path, changes: Mapping[str, Any]
) -> Agent:
    """The agent of that plan, with the state from the file; a seed in `changes` takes effect."""
    saved, built = state["manifest"]["plan"], f"{path}: the run that it describes cannot be built"
    check_spaces_of_saved(saved["env"], plan, str(path))
    with refused_as_other_policy(saved, plan), bad_if_it_fails(built):
        agent = Agent(plan, spec, part_of(state, "parameters"))
    restore(agent, state)
    agent.differs += [sentence for _, sentence in changed_acting(saved, plan)]
    if changes.get("seed") is not None:
        agent.set_random_seed(plan.seed)
    return agent


def _plan(kernel: Kernel, spec: RunSpec, loaded: Path | None = None) -> Plan:
    """The plan of a program's run; one that prints on a terminal shows its progress."""
    plan = resolve(kernel, spec, terminal=is_terminal(sys.stderr))
    code = plan.hooks().only("rlk_take_over", plan=plan)
    if code is not None:  # this process did something other than train, and the program ends
        raise SystemExit(code)
    check_out(plan, loaded)
    return plan
