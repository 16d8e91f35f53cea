"""The training of a suite that most checks of an algorithm look at: what happened, what it left."""

from __future__ import annotations

import contextlib
import copy
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from rlk.abilities import ForeseesUpdates, offers
from rlk.errors import RlkError
from rlk_testing.acting import Watch
from rlk_testing.contract import global_draws

if TYPE_CHECKING:
    from torch import Tensor

    from rlk.agent import Agent
    from rlk.protocols import Parameters
    from rlk.records import Update
    from rlk.running.run import Run


@attrs.frozen(kw_only=True, eq=False)
class Training:
    """An agent trained, wrote a checkpoint, trained on, and wrote its model.

    Attributes:
        agent: closed by now; what it was asked for and planned can be looked at.
        watch: the updates of both trainings, and how often lifecycle hooks were called.
        updates: those of the first training: (batch, its tensors before, update).
        foreseen: what the algorithm said of them beforehand; None if it does not say.
        hook_calls: the calls of pluggy in the first training, by name.
        iterations, timesteps: by the end of each training.
        drawn: the global generators that the first training and a prediction used, in words.
        replaced: what is wrong with the memory of the parameters; None if nothing is.
        parameters: after each training, float [P].
        named: parameters by name, as `Agent.get_parameters` gives them, at the end.
        state: of the algorithm, at the end.
        acted: observation, deterministic action and state of the policy, one after the other.
        checkpoint: the file of the first training's end. model: the file of the second's.
    """

    agent: Agent
    watch: Watch
    updates: Sequence[tuple[Any, Mapping[str, Any], Update]]
    foreseen: tuple[int, int] | None
    hook_calls: Sequence[str]
    iterations: tuple[int, int]
    timesteps: tuple[int, int]
    drawn: Sequence[str]
    replaced: RlkError | None
    parameters: tuple[Tensor, Tensor]
    named: Mapping[str, Any]
    state: Mapping[str, Any]
    acted: Sequence[tuple[Any, Any, Any]]
    checkpoint: Path
    model: Path
    _folder: tempfile.TemporaryDirectory[str]  # goes with this record


def train_twice(
    agent: Agent, watch: Watch, timesteps: int, observations: Sequence[Any]
) -> Training:
    """Train that agent, among whose plugins `watch` is, and write down what happens.

    Args:
        timesteps: of each of the two trainings. observations: to act on in the end.
    """
    run, folder = agent.run, tempfile.TemporaryDirectory()
    algorithm: Any = run.algorithm
    foresees = offers(algorithm, ForeseesUpdates)
    foreseen = algorithm.updates_ahead(timesteps) if foresees else None
    with global_draws() as drawn, hook_calls(run) as calls:
        agent.learn(timesteps)
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
        updates=updates,
        foreseen=foreseen,
        hook_calls=calls,
        iterations=(iterations, run.clock.iterations),
        timesteps=(first, agent.num_timesteps),
        drawn=[*drawn, *drawn_by_predicting],
        replaced=replaced,
        parameters=(once, run.parameters.flat.clone()),
        named=agent.get_parameters(),
        state=copy.deepcopy(algorithm.state_dict()),
        acted=acted(agent, observations),
        checkpoint=checkpoint,
        model=agent.save(Path(folder.name, "model")),
        folder=folder,
    )


@contextlib.contextmanager
def hook_calls(run: Run) -> Iterator[list[str]]:
    """The names of the hooks that pluggy is asked to call meanwhile."""
    calls: list[str] = []
    undo = run.hooks._manager.add_hookcall_monitoring(
        lambda name, *_: calls.append(name), lambda *_: None
    )
    try:
        yield calls
    finally:
        undo()


def what_replaced(parameters: Parameters) -> RlkError | None:
    """What `Parameters.check` finds wrong."""
    try:
        parameters.check()
    except RlkError as error:
        return error
    return None


def acted(agent: Agent, observations: Sequence[Any]) -> list[tuple[Any, Any, Any]]:
    """(observation, deterministic action, state of the policy after it), one after the other."""
    found, state = [], None
    for observation in observations:
        action, state = agent.predict(observation, state, deterministic=True)
        found.append((observation, action, state))
    return found
