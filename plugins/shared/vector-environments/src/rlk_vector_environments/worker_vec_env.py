"""The learner's side of a vector environment whose environments are in workers.

The backend determines what the workers are (processes, MPI ranks). `worker_side.py` is the
workers' side. N is the number of environments.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import gymnasium as gym
import numpy as np

from rlk.errors import EnvironmentFailed
from rlk.records import Array
from rlk_vector_environments import arguments, failures, infos, making, rows
from rlk_vector_environments.arguments import Indices
from rlk_vector_environments.same_step import Result, SameStepVecEnv
from rlk_vector_environments.sent_failures import raise_failures
from rlk_vector_environments.step_arrays import StepArrays
from rlk_vector_environments.worker_side import ENDED, QUIET

Wait = Callable[[list[Any], list[tuple[Any, Any]], int], None]


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


def take_answers(
    workers: Workers, waiting: list[Any], answers: list[tuple[Any, Any]], turn: int
) -> None:
    """Take all answers of a step; it may be called again after Ctrl-C.

    Args:
        workers: of the vector environment.
        waiting: those that have been asked, the last first; they are removed from it.
        answers: gets their answers, apart from those that only report the step.
        turn: the slot of the step.

    Raises:
        EnvironmentFailed: if a worker is lost.
    """
    while waiting:
        answer = workers.answer(waiting[-1])
        worker = waiting.pop()
        if answer != QUIET:
            answers.append((worker, answer))


class WorkerVecEnv(SameStepVecEnv):
    """A vector environment (`SameStepVecEnv`) whose environments are elsewhere.

    If workers keep numbers of every info, `infos["kept"]` has them after every step, as `info.KEY`
    -> float32 [N]; where an episode ended, those of its last step.

    Args:
        workers: they have made the environments, and are shut down with this object.
        wait: called as `take_answers` without its first argument, and takes its place.

    Raises:
        EnvironmentFailed: if the environments differ in their spaces; in a step, if one raises, or
            a kept info is no number.
        rlk.errors.PlanError: for a space that cannot be stored in arrays.
    """

    def __init__(self, workers: Workers, wait: Wait | None = None) -> None:
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
        self._wait = functools.partial(take_answers, workers) if wait is None else wait
        self._turn = 0
        self._waiting: list[Any] = []
        self._answers: list[tuple[Any, Any]] = []

    # ---- stepping ------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Start new episodes: observations [N, ...] and infos.

        Args:
            seed: an int seeds environment i with `seed + i`; a list has one seed for each; None
                leaves the random generators unchanged, as later automatic resets do.
            options: for the reset of every environment. `reset_mask`, bool [N], resets only those.

        Raises:
            EnvironmentFailed: if one raises an exception, its observation does not fit its space,
                or a worker died.
        """
        seeds, selected, options = arguments.resolve_reset(self.num_envs, seed, options)
        self._check_open()
        if self._waiting:
            self.step_wait()
        slots, turn = self._arrays.slots, self._turn
        if len(selected) < self.num_envs:
            rows.copy_into(slots[turn].observation, slots[turn ^ 1].observation)
        chosen = {index: seeds[index] for index in selected}
        for index, seed in chosen.items():
            self._workers.seeds[index] = self._workers.seeds[index] if seed is None else seed
        answers = self._ask(
            lambda worker, indices: ("reset", turn, {i: chosen[i] for i in indices}, options),
            selected,
        )
        self._turn ^= 1
        entries = [entry for answer in answers for entry in answer]
        return rows.view(slots[turn].observation), infos.gather(self.num_envs, entries)

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
        self._wait(waiting, answers, self._turn)
        observation, reward, terminated, truncated, kept = self._arrays.slots[self._turn]
        self._turn ^= 1
        found: dict[str, Any] = {}
        if answers or kept:
            self._answers = []
            found = self._gather(answers, terminated | truncated, kept)
        return rows.view(observation), reward, terminated, truncated, found

    def _gather(
        self, answers: list[tuple[Any, Any]], over: Array, kept: dict[str, Array]
    ) -> dict[str, Any]:
        """The step's infos from the workers' answers; raises the exception of an environment."""
        raise_failures([answer for _, answer in answers])
        last: dict[int, dict[str, Any]] = {}
        entries: list[tuple[int, dict[str, Any]]] = []
        for _, answer in answers:
            if answer != ENDED:
                last.update(answer[0])
                entries.extend(answer[1])
        final = self._arrays.final
        ends = [(i, rows.read(final, i), last.get(i, {})) for i in np.flatnonzero(over).tolist()]
        return infos.of_step(self.num_envs, kept, ends, entries)

    # ---- reaching into the environments --------------------------------------------------------

    def call_at(self, indices: Indices, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The same for the environments with these indices."""
        return self._collect(indices, lambda worker, chosen: ("call", name, chosen, args, kwargs))

    def get_attr(self, name: str, *, indices: Indices | None = None) -> tuple[Any, ...]:
        """That attribute of every environment, or of those with these indices; never calls it."""
        return self._collect(indices, lambda worker, chosen: ("get_attr", name, chosen))

    def set_attr(self, name: str, values: Any, *, indices: Indices | None = None) -> None:
        """Set an attribute: a list or tuple has one value for each; any other value is for all."""
        selected = arguments.resolve_indices(self.num_envs, indices)
        by_index = dict(zip(selected, arguments.spread(values, len(selected)), strict=True))
        self._ask(
            lambda worker, chosen: ("set_attr", name, {i: by_index[i] for i in chosen}), selected
        )

    def render(self) -> tuple[Any, ...]:
        """The frame of every environment; `rlk_vector_environments.tiling.tile` joins them."""
        return self._collect(None, lambda worker, chosen: ("render",))

    def get_state(self) -> list[dict[str, Any] | None]:
        """The state of every environment, or None if one of them cannot be captured."""
        return list(self._collect(None, lambda worker, chosen: ("get_state",)))

    def set_state(self, states: Sequence[dict[str, Any]]) -> None:
        """Restore the states that `get_state` returned; the latest observation is not restored.

        Raises:
            Unsupported: (of rlk_vector_environments.env_state) for the state of another kind of
                environment.
        """
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
