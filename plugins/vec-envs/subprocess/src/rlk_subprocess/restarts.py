"""Replaces a worker that is lost by a new one, so that training continues.

The episode of each of its environments ends as truncated, with reward 0 and the observation before
the step (the result of the step is unknown), and the next episode begins in a new environment with
a new seed. This transition is the only one that did not come from an environment.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rlk.episode_ends import LOST
from rlk.errors import EnvironmentFailed
from rlk_subprocess.worker_handle import WorkerHandle, WorkerLost
from rlk_subprocess.worker_pool import WorkerPool
from rlk_vector_environments import rows
from rlk_vector_environments.sent_failures import Failure, raise_failures
from rlk_vector_environments.state_values import digest
from rlk_vector_environments.worker_side import QUIET

#: The tag of the number of restarted workers, in a run's rows of metrics.
TAG = "rollout/worker_restarts"


class Restarts:
    """Waits for the workers of a step, and replaces those that are lost meanwhile.

    A worker is lost if it died, does not answer in time, or has an environment that raised an
    exception. If it is lost again in its first step, the run ends, because another restart would
    not help.

    Args:
        pool: the workers.

    Attributes:
        count: how many workers were restarted so far.
    """

    def __init__(self, pool: WorkerPool) -> None:
        self._pool = pool
        self.count = 0
        self._attributes: dict[str, dict[int, Any]] = {}  # by name and index
        self._of_states: list[int | None] = [None] * len(pool.seeds)

    def remember(self, name: str, values: Mapping[int, Any]) -> None:
        """Set that attribute of these environments again if they are made again."""
        self._attributes.setdefault(name, {}).update(values)

    def follow(self, states: Sequence[Any]) -> None:
        """Derive the next seeds from these states, so that a resumed run does not repeat any."""
        self._of_states = [int(digest(one), 16) for one in enumerate(states)]

    def metrics(self) -> Mapping[str, float]:
        """The metrics that a run logs."""
        return {TAG: float(self.count)}

    def wait(
        self, waiting: list[WorkerHandle], answers: list[tuple[WorkerHandle, Any]], turn: int
    ) -> None:
        """As `take_answers` of `rlk_vector_environments.worker_vec_env`.

        Raises:
            EnvironmentFailed: if a worker is lost that cannot be replaced, or the results of an
                environment do not fit its spaces.
        """
        while waiting:
            try:
                answer = self._pool.receive(waiting[-1])
                if isinstance(answer, Failure) and answer.kind == "failed":
                    raise WorkerLost(waiting[-1], str(answer.exception()))
            except WorkerLost as lost:
                new = self._replace(lost, turn)
                waiting[:] = [worker for worker in waiting if worker is not lost.worker]
                answers[:] = [known for known in answers if known[0] is not lost.worker] + [new]
                continue
            worker = waiting.pop()
            worker.is_fresh = False
            if answer != QUIET:
                answers.append((worker, answer))

    def _replace(self, lost: WorkerLost, turn: int) -> tuple[WorkerHandle, Any]:
        """The new worker, and an answer to this step in place of the lost one's."""
        if lost.worker.is_fresh:
            again = "It had taken the place of another one only a step before"
            self._pool.give_up(WorkerLost(lost.worker, f"{lost}\n{again}."))
        warnings.warn(
            f"{lost}\nAnother worker takes its place (restart_workers); the episodes that its "
            "environments were in end as truncated.",
            RuntimeWarning,
            stacklevel=2,
        )
        self.count += 1
        try:
            worker = self._pool.replace(lost.worker)
            self._set_attributes(worker)
            infos = self._reset(worker, turn)
        except EnvironmentFailed as error:
            why = f"{lost}\nAnother could not take its place: {error}"
            self._pool.give_up(WorkerLost(lost.worker, why))
        self._end_episodes(worker, turn)
        return worker, ({index: {LOST: True} for index in worker.indices}, infos)

    def _set_attributes(self, worker: WorkerHandle) -> None:
        for name, values in self._attributes.items():
            own = {index: values[index] for index in worker.indices if index in values}
            self._pool.ask(worker, ("set_attr", name, own))
            raise_failures([self._pool.receive(worker, alone=True)])

    def _reset(self, worker: WorkerHandle, turn: int) -> list[tuple[int, dict[str, Any]]]:
        """Start new episodes with new seeds; returns the infos of this step."""
        seeds = {index: self._new_seed(index) for index in worker.indices}
        self._pool.ask(worker, ("reset", turn, seeds, None))
        infos: list[tuple[int, dict[str, Any]]] = self._pool.receive(worker, alone=True)
        raise_failures([infos])
        for index, seed in seeds.items():
            self._pool.seeds[index] = seed
        return infos

    def _new_seed(self, index: int) -> int | None:
        """A seed derived from the environment's own, which would give the same episode again.

        One whose state was restored has none that is known: then the state takes its place.
        """
        source = self._pool.seeds[index]
        source = self._of_states[index] if source is None else source
        if source is None:
            return None
        return int(np.random.SeedSequence([source, self.count]).generate_state(1)[0]) >> 1

    def _end_episodes(self, worker: WorkerHandle, turn: int) -> None:
        own = slice(worker.start, worker.stop)
        arrays = self._pool.arrays
        slot, before = arrays.slots[turn], arrays.slots[turn ^ 1]
        slot.reward[own], slot.terminated[own], slot.truncated[own] = 0.0, False, True
        for numbers in slot.kept.values():
            numbers[own] = 0.0
        final = rows.window(arrays.final, worker.start, worker.stop)
        rows.copy_into(final, rows.window(before.observation, worker.start, worker.stop))
