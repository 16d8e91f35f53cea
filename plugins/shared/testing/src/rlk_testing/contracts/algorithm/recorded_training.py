"""One recorded training per suite, which most checks of an algorithm look at."""

from __future__ import annotations

import contextlib
import copy
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from rlk.abilities import state_of
from rlk.errors import RlkError
from rlk_testing.tools.global_generators import global_draws
from rlk_testing.tools.watched_updates import WatchUpdates

if TYPE_CHECKING:
    from torch import Tensor

    from rlk.agent import Agent
    from rlk.protocols import Parameters
    from rlk.records import Update
    from rlk.running.run import Run


@attrs.frozen(kw_only=True, eq=False)
class Training:
    """Record of an agent that trained, saved a checkpoint, trained again and saved its model.

    Attributes:
        agent: already closed; its spec and its plan can still be read.
        watch: the updates of both trainings, and how often each lifecycle hook was called.
        paired: what `WatchBroadcasts` found in the first updates.
        updates: of the first training: (batch, its tensors before the update, update).
        hook_calls: names of the hooks that pluggy called in the first training.
        iterations, timesteps: the counters after each training.
        drawn: messages about global generators that the first training or a prediction used.
        drawn_by_modules: whether the first training drew from torch's global generator, which a run
            borrows while it trains, for modules that draw from no other (dropout).
        idle: what both trainings left as it was: parameters by name, and groups of parameters.
        replaced: the error of `Parameters.check` after the first training; None if it passed.
        parameters: after each training, float [P].
        named: parameters by name, from `Agent.get_parameters` at the end.
        state: of the algorithm at the end, {} if it has none.
        acted: (observation, deterministic action, policy state after it) for one sequence of
            observations, at the end.
        checkpoint: file that was saved after the first training.
        model: file that was saved after the second one.
    """

    agent: Agent
    watch: WatchUpdates
    paired: Mapping[str, int]
    updates: Sequence[tuple[Any, Mapping[str, Any], Update]]
    hook_calls: Sequence[str]
    iterations: tuple[int, int]
    timesteps: tuple[int, int]
    drawn: Sequence[str]
    drawn_by_modules: bool
    idle: Sequence[str]
    replaced: RlkError | None
    parameters: tuple[Tensor, Tensor]
    named: Mapping[str, Any]
    state: Mapping[str, Any]
    acted: Sequence[tuple[Any, Any, Any]]
    checkpoint: Path
    model: Path
    _folder: tempfile.TemporaryDirectory[str]  # deleted together with this record


def train_twice(
    agent: Agent,
    watch: WatchUpdates,
    paired: Mapping[str, int],
    timesteps: int,
    observations: Sequence[Any],
) -> Training:
    """Train an agent twice and record what happens.

    Args:
        watch: one of the agent's plugins.
        paired: what another one of them, `WatchBroadcasts`, finds.
        timesteps: of each of the two trainings.
        observations: to predict actions for at the end.
    """
    run, folder = agent.run, tempfile.TemporaryDirectory()
    algorithm: Any = run.algorithm
    untrained, modules = trainable(run), run.streams.torch("modules")
    drawn_before = modules.get_state()
    with global_draws() as drawn, hook_calls(run) as calls:
        agent.learn(timesteps)
    drawn_by_modules = not modules.get_state().equal(drawn_before)
    iterations, updates = run.clock.iterations, tuple(watch.updates)
    replaced, once = what_replaced(run.parameters), run.parameters.flat.clone()
    first = agent.num_timesteps
    checkpoint = agent.save_checkpoint(Path(folder.name, "checkpoint"))
    agent.learn(timesteps, reset_num_timesteps=False)
    with global_draws() as drawn_by_predicting:
        agent.predict(observations[0])
    return Training(
        agent=agent,
        watch=watch,
        paired=paired,
        updates=updates,
        hook_calls=calls,
        iterations=(iterations, run.clock.iterations),
        timesteps=(first, agent.num_timesteps),
        drawn=[*drawn, *drawn_by_predicting],
        drawn_by_modules=drawn_by_modules,
        idle=[name for name, value in trainable(run).items() if value.equal(untrained[name])],
        replaced=replaced,
        parameters=(once, run.parameters.flat.clone()),
        named=agent.get_parameters(),
        state=copy.deepcopy(state_of(algorithm)),
        acted=acted(agent, observations),
        checkpoint=checkpoint,
        model=agent.save(Path(folder.name, "model")),
        folder=folder,
    )


def trainable(run: Run) -> dict[str, Tensor]:
    """Copies of all parameters by name, and of those of every group as `group NAME`."""
    groups = {f"group {name!r}": group.flat for name, group in run.optimise.groups.items()}
    named = zip(run.parameters.names, run.parameters.select()[0], strict=True)
    return {name: value.detach().clone() for name, value in (*named, *groups.items())}


@contextlib.contextmanager
def hook_calls(run: Run) -> Iterator[list[str]]:
    """A list of the names of the hooks that pluggy is asked to call inside."""
    calls: list[str] = []
    undo = run.hooks._manager.add_hookcall_monitoring(
        lambda name, *_: calls.append(name), lambda *_: None
    )
    try:
        yield calls
    finally:
        undo()


def what_replaced(parameters: Parameters) -> RlkError | None:
    """The error that `Parameters.check` raises; None if it raises none."""
    try:
        parameters.check()
    except RlkError as error:
        return error
    return None


def acted(agent: Agent, observations: Sequence[Any]) -> list[tuple[Any, Any, Any]]:
    """(observation, deterministic action, policy state after it) for a sequence of observations."""
    found, state = [], None
    for observation in observations:
        action, state = agent.predict(observation, state, deterministic=True)
        found.append((observation, action, state))
    return found
