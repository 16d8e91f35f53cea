"""Replaces a worker that is lost by a new one, so that training continues.

The episode of each of its environments ends as truncated, with reward 0 and the observation before
the step (the result of the step is unknown), and the next episode begins in a new environment with
a new seed. This transition is the only one that did not come from an environment.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rlk.episode_ends import LOST
from rlk.errors import EnvironmentFailed
from rlk_subprocess.worker_handle import WorkerHandle, WorkerLost
from rlk_subprocess.worker_pool import WorkerPool
from rlk_vector_environments import rows
from rlk_vector_environments.making import check_equal_spaces
from rlk_vector_environments.sent_failures import Failure, raise_failures
from rlk_vector_environments.state_values import digest

#: The tag of the number of restarted workers, in a run's rows of metrics.
TAG = "rollout/worker_restarts"


class RestartingPool(WorkerPool):
    """A pool that replaces the workers that are lost in a step.

    A worker is lost if it died, does not answer in time, or has an environment that raised an
    exception. If it is lost again in its first step, the run ends, because another restart would
    not help.

    Attributes:
        count: how many workers were restarted so far.
    """

    def __init__(self, env_fns: Sequence[Callable[[], Any]], *settings: Any) -> None:
        super().__init__(env_fns, *settings)
        self.count = 0
        self._attributes: dict[str, dict[int, Any]] = {}  # by name and index
        self._of_states: list[int | None] = [None] * len(env_fns)

    def remember(self, name: str, values: Mapping[int, Any]) -> None:
        """Set that attribute of these environments again if they are made again."""
        self._attributes.setdefault(name, {}).update(values)

    def follow(self, states: Sequence[Any]) -> None:
        """Derive the next seeds from these states, so that a resumed run does not repeat any."""
        self._of_states = [int(digest(one), 16) for one in enumerate(states)]

    def metrics(self) -> Mapping[str, float]:
        """The metrics that a run logs."""
        return {TAG: float(self.count)}

    def ask_to_step(self, turn: int) -> list[WorkerHandle]:
        """As `WorkerPool.ask_to_step`."""
        asked = super().ask_to_step(turn)
        for worker in asked:
            worker.slot = turn
        return asked

    def answer(self, worker: WorkerHandle) -> Any:
        """As `WorkerPool.answer`; in a step, a worker that is lost is replaced.

        Raises:
            EnvironmentFailed: also if a worker cannot be replaced.
        """
        if worker.slot is None:
            return super().answer(worker)
        try:
            answer = self.receive(worker, alone=True)
            if isinstance(answer, Failure) and answer.kind == "failed":
                raise WorkerLost(worker, str(answer.exception()))
        except WorkerLost as lost:
            return self._replace(lost, worker.slot)
        worker.slot, worker.is_fresh = None, False
        return answer

    def _replace(self, lost: WorkerLost, turn: int) -> Any:
        """Start another worker; returns an answer to this step in place of the lost one's."""
        if lost.worker.is_fresh:
            again = "It had taken the place of another one only a step before"
            self.give_up(WorkerLost(lost.worker, f"{lost}\n{again}."))
        warnings.warn(
            f"{lost}\nAnother worker takes its place (restart_workers); the episodes that its "
            "environments were in end as truncated.",
            RuntimeWarning,
            stacklevel=2,
        )
        self.count += 1
        try:
            worker = self._start_again(lost.worker)
            self._set_attributes(worker)
            infos = self._reset(worker, turn)
        except EnvironmentFailed as error:
            why = f"{lost}\nAnother could not take its place: {error}"
            self.give_up(WorkerLost(lost.worker, why))
        self._end_episodes(worker, turn)
        return {index: {LOST: True} for index in worker.indices}, infos

    def _start_again(self, lost: WorkerHandle) -> WorkerHandle:
        """Start a worker for the environments of one that has ended; they have to be reset.

        Raises:
            EnvironmentFailed: if they cannot be made again, or their spaces differ now.
        """
        place = next(i for i, one in enumerate(self.workers) if one.start == lost.start)
        for one in {lost, self.workers[place]}:  # Ctrl-C may have come after an earlier call
            one.kill()
        worker = self._start(lost.start, lost.stop)
        try:
            made = self.receive(worker, alone=True)
            raise_failures([made])
            check_equal_spaces(made, lost.start, self.descriptions[0])
            self._send_memory(worker)
            self.receive(worker, alone=True)
        except BaseException:
            worker.kill()
            raise
        worker.is_ready = worker.is_fresh = True
        self.workers[place] = worker
        return worker

    def _set_attributes(self, worker: WorkerHandle) -> None:
        for name, values in self._attributes.items():
            own = {index: values[index] for index in worker.indices if index in values}
            self.ask(worker, ("set_attr", name, own))
            raise_failures([self.receive(worker, alone=True)])

    def _reset(self, worker: WorkerHandle, turn: int) -> list[tuple[int, dict[str, Any]]]:
        """Start new episodes with new seeds; returns the infos of this step."""
        seeds = {index: self._new_seed(index) for index in worker.indices}
        self.ask(worker, ("reset", turn, seeds, None))
        infos: list[tuple[int, dict[str, Any]]] = self.receive(worker, alone=True)
        raise_failures([infos])
        for index, seed in seeds.items():
            self.seeds[index] = seed
        return infos

    def _new_seed(self, index: int) -> int | None:
        """A seed derived from the environment's own, which would give the same episode again.

        One whose state was restored has none that is known: then the state takes its place.
        """
        source = self.seeds[index]
        source = self._of_states[index] if source is None else source
        if source is None:
            return None
        return int(np.random.SeedSequence([source, self.count]).generate_state(1)[0]) >> 1

    def _end_episodes(self, worker: WorkerHandle, turn: int) -> None:
        own = slice(worker.start, worker.stop)
        arrays = self.arrays
        slot, before = arrays.slots[turn], arrays.slots[turn ^ 1]
        slot.reward[own], slot.terminated[own], slot.truncated[own] = 0.0, False, True
        for numbers in slot.kept.values():
            numbers[own] = 0.0
        final = rows.window(arrays.final, worker.start, worker.stop)
        rows.copy_into(final, rows.window(before.observation, worker.start, worker.stop))
