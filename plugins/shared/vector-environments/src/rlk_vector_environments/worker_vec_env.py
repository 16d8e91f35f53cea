"""The learner's side of a vector environment whose environments are in workers.

The backend determines what the workers are (processes, MPI ranks). `worker_side.py` is the
workers' side. N is the number of environments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import gymnasium as gym
import numpy as np

from rlk.errors import EnvironmentFailed
from rlk_vector_environments import arguments, failures, making, rows
from rlk_vector_environments.arguments import Indices
from rlk_vector_environments.same_step import Result, SameStepVecEnv
from rlk_vector_environments.sent_failures import raise_failures
from rlk_vector_environments.step_arrays import StepArrays
from rlk_vector_environments.stepping import Infos
from rlk_vector_environments.worker_side import ENDED, QUIET


class Worker(Protocol):
    """A worker."""

    start: int  #: the index of its first environment
    stop: int  #: the index after its last


def environments(worker: Worker) -> str:
    """Names the environments of a worker."""
    if worker.stop - worker.start == 1:
        return f"environment {worker.start}"
    return f"environments {worker.start} to {worker.stop - 1}"


def environments_are(worker: Worker) -> str:
    """Names them as the subject of a sentence with its verb."""
    return f"{environments(worker)} {'is' if worker.stop - worker.start == 1 else 'are'}"


def told_seeds(worker: Worker, seeds: Sequence[int | None]) -> str:
    """A sentence for the error about a worker: how its environments were seeded, if they were."""
    own = seeds[worker.start : worker.stop]
    return "" if None in own else f" Seeds of the latest reset: {', '.join(map(str, own))}."


class Workers(Protocol):
    """All workers of one vector environment."""

    descriptions: list[making.Description]  #: of every environment
    #: Of every environment, from its latest reset with a seed; None after `set_state`, too.
    seeds: list[int | None]
    lost: str | None  #: why the workers are gone, or None

    @property
    def workers(self) -> Sequence[Worker]:
        """The workers in the order of their environments."""

    def share_memory(
        self, n: int, observation_space: gym.Space[Any], action_space: gym.Space[Any]
    ) -> StepArrays:
        """Tell all workers the layout of a step of the N environments; the learner's arrays."""

    def ask(self, worker: Any, command: Any) -> None:
        """Send the name of a method of `EnvironmentGroup` and its arguments."""

    def ask_to_step(self, turn: int) -> list[Any]:
        """Start a step into that slot in every worker; the workers to wait for, the last first."""

    def answer(self, worker: Any) -> Any:
        """Wait for a worker's result of `worker_side.reply`; EnvironmentFailed if it is lost."""

    def shutdown(self, grace_seconds: float = ...) -> None:
        """Close the environments within this time; may be called again."""


class WorkerVecEnv(SameStepVecEnv):
    """A vector environment (`SameStepVecEnv`) whose environments are elsewhere.

    Args:
        workers: they have made the environments, and are shut down with this object.
    """

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        try:
            making.check_equal_spaces(workers.descriptions)
            making.describe_vector(self, workers.descriptions)
            self._arrays = workers.share_memory(
                self.num_envs, self.single_observation_space, self.single_action_space
            )
        except BaseException:
            workers.shutdown()
            raise
        self._waiting: list[Any] = []
        self._answers: list[Any] = []

    # ---- stepping ------------------------------------------------------------------------------

    def _leave_step(self) -> None:
        self._check_open()
        if self._waiting:
            self.step_wait()

    def _reset(self, seeds: Mapping[int, int | None], options: dict[str, Any] | None) -> Infos:
        for index, seed in seeds.items():
            if seed is not None:
                self._workers.seeds[index] = seed
        turn = self._turn
        answers = self._ask(
            lambda worker, indices: ("reset", turn, {i: seeds[i] for i in indices}, options), seeds
        )
        return [entry for answer in answers for entry in answer]

    def step_async(self, actions: Any) -> None:
        """Start the step in all workers; `step_wait` returns its result."""
        self._check_open()
        if self._waiting:
            raise gym.error.AlreadyPendingCallError("step_async was called twice", "step")
        rows.copy_into(self._arrays.actions, actions)
        self._waiting = self._workers.ask_to_step(self._turn)

    def step_wait(self) -> Result:
        """The result of the step that `step_async` started; may be called again after Ctrl-C."""
        waiting, answers = self._waiting, self._answers
        if not waiting:
            raise gym.error.NoAsyncCallError("step_wait needs a step_async before it", "step")
        while waiting:
            answer = self._workers.answer(waiting[-1])
            waiting.pop()
            if answer != QUIET:
                answers.append(answer)
        self._answers = []
        raise_failures(answers)
        if not answers:
            return self._result([], [])
        last: dict[int, dict[str, Any]] = {}
        entries: Infos = []
        for answer in answers:
            if answer != ENDED:
                last.update(answer[0])
                entries.extend(answer[1])
        slot = self._arrays.slots[self._turn]
        over = np.flatnonzero(slot.terminated | slot.truncated).tolist()
        return self._result([(index, last.get(index, {})) for index in over], entries)

    # ---- reaching into the environments --------------------------------------------------------

    def call_at(self, indices: Indices, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        return self._collect(indices, lambda worker, chosen: ("call", name, chosen, args, kwargs))

    def get_attr(self, name: str, *, indices: Indices | None = None) -> tuple[Any, ...]:
        return self._collect(indices, lambda worker, chosen: ("get_attr", name, chosen))

    def set_attr(self, name: str, values: Any, *, indices: Indices | None = None) -> None:
        selected = arguments.resolve_indices(self.num_envs, indices)
        by_index = dict(zip(selected, arguments.spread(values, len(selected)), strict=True))
        self._ask(
            lambda worker, chosen: ("set_attr", name, {i: by_index[i] for i in chosen}), selected
        )

    def render(self) -> tuple[Any, ...]:
        return self._collect(None, lambda worker, chosen: ("render",))

    def get_state(self) -> list[dict[str, Any] | None]:
        return list(self._collect(None, lambda worker, chosen: ("get_state",)))

    def set_state(self, states: Sequence[dict[str, Any]]) -> None:
        given = arguments.spread(list(states), self.num_envs)
        self._ask(
            lambda worker, chosen: ("set_state", given[worker.start : worker.stop]),
            range(self.num_envs),
        )
        self._workers.seeds[:] = [None] * self.num_envs  # those of these states are not known

    def close_extras(self, timeout: float = 5.0, terminate: bool = False, **kwargs: Any) -> None:
        """Close the environments (`Workers.shutdown`).

        Args:
            timeout: seconds that they get to close their environments.
            terminate: do not give them any time.
        """
        if hasattr(self, "_workers"):
            self._workers.shutdown(0.0 if terminate else timeout)

    # ---- asking --------------------------------------------------------------------------------

    def _collect(self, indices: Indices | None, command: Any) -> tuple[Any, ...]:
        """One result for each index, in their order."""
        selected = arguments.resolve_indices(self.num_envs, indices)
        by_index: dict[int, list[Any]] = {}
        for chosen, answer in self._ask_by_worker(command, selected):
            for i, value in zip(chosen, answer, strict=True):
                by_index.setdefault(i, []).append(value)
        return tuple(by_index[i].pop(0) for i in selected)

    def _ask(self, command: Any, indices: Iterable[int]) -> list[Any]:
        return [answer for _, answer in self._ask_by_worker(command, indices)]

    def _ask_by_worker(
        self, command: Callable[[Any, list[int]], Any], indices: Iterable[int]
    ) -> list[tuple[list[int], Any]]:
        """Send `command(worker, its indices)` to every worker concerned; receive all answers."""
        self._check_open()
        if self._waiting:
            raise gym.error.AlreadyPendingCallError("call step_wait first", "step")
        selected = list(indices)
        concerned = []
        for worker in self._workers.workers:
            chosen = [i for i in selected if worker.start <= i < worker.stop]
            if chosen:
                self._workers.ask(worker, command(worker, chosen))
                concerned.append((worker, chosen))
        answers = [(chosen, self._workers.answer(worker)) for worker, chosen in concerned]
        raise_failures([answer for _, answer in answers])
        return answers

    def _check_open(self) -> None:
        if self._workers.lost is not None:
            raise EnvironmentFailed(self._workers.lost)
        if self.closed:
            raise failures.closed()
