"""`no-steps`: a collector for algorithms that learn from data that the storage already holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rlk.abilities import GivesObservations, offers
from rlk.errors import RlkError
from rlk.protocols import State
from rlk_running_statistics import begin_statistics

if TYPE_CHECKING:
    from rlk.running.run import Run


class NoSteps:
    """Advances the clock; no environment is stepped, so no listener of steps is called.

    A collection of an algorithm that is offline is one pass over the storage, each of its
    transitions a timestep. That of any other algorithm has the timesteps that it would have with
    steps, so that all that counts timesteps, such as schedules and `learning_starts`, means the
    same.

    A policy that normalises observations and has none yet takes the statistics of the storage's.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self._is_offline = run.plan.algorithm.component.collects == "offline"

    def collect(self) -> bool:
        """Count one collection.

        Raises:
            RlkError: if the storage holds nothing to learn from, or no statistics can be taken of
                its observations, which a policy would normalise by.
        """
        run = self.run
        stored = len(run.storage)
        if not stored:
            raise RlkError(
                f"{run.plan.collector.title} adds nothing to {run.plan.storages[0].title}, which "
                "holds nothing to learn from. Let the run begin with transitions (--plugin "
                "demonstrations:expert_path=FILE, --plugin replay-start:run=RUN), or use another "
                "collector (--collector steps)."
            )
        begin_statistics(run.policy, self._observations, run.communicator)
        each = stored if self._is_offline else run.algorithm.steps_per_collect() * run.n_envs
        run.clock.timesteps += each * run.communicator.size
        return True

    def _observations(self) -> Iterable[Any]:
        run = self.run
        storage: Any = run.storage
        if not offers(storage, GivesObservations):
            raise RlkError(
                f"{run.plan.policy.title} normalises observations, but with "
                f"{run.plan.collector.title} it sees none, and {run.plan.storages[0].title} does "
                "not return those that it holds (rlk.abilities.GivesObservations). Normalise the "
                "data instead, or use --collector steps."
            )
        return storage.observations()

    def forget(self) -> None:
        """Nothing to forget."""

    def state_dict(self) -> State:
        return {}

    def load_state_dict(self, state: State) -> None:
        """Nothing to restore."""
