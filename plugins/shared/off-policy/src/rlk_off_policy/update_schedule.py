"""When an off-policy algorithm updates, and how often. Imports no torch.

One vector step is `n_envs` timesteps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from rlk.errors import PlanError
from rlk.protocols import State
from rlk_off_policy.settings import TrainFreq, parse_train_freq

if TYPE_CHECKING:
    from rlk.running.run import Run


class UpdateSettings(Protocol):
    """The settings that `UpdateSchedule` reads from the config of an algorithm."""

    @property
    def train_freq(self) -> TrainFreq: ...
    @property
    def gradient_steps(self) -> int: ...
    @property
    def learning_starts(self) -> int: ...
    @property
    def batch_size(self) -> int: ...


class UpdateSchedule:
    """Every `train_freq`, `gradient_steps` updates, once there is enough to learn from.

    Updates begin when `learning_starts` timesteps are collected and `batch_size` transitions are
    stored; on several ranks, on each of them, as all must make the same updates. If
    `gradient_steps` is -1, there is one update for each timestep collected since updates were last
    due; those before `learning_starts` do not count.

    Args:
        settings: of the algorithm.
        run: provides the clock, the number of environments and the communicator.

    Raises:
        PlanError: if it would wait for episodes, and the run's collector steps no environment.
    """

    def __init__(self, settings: UpdateSettings, run: Run) -> None:
        self._settings, self._clock, self._n_envs = settings, run.clock, run.n_envs
        self._communicator = run.communicator
        self._every_rank_has_a_batch = False
        self._steps, self._episodes = parse_train_freq(settings.train_freq)
        plan = run.plan
        if self._episodes and plan.collector.component.steps_nothing:
            raise PlanError(
                f"{plan.algorithm.title}: train_freq={settings.train_freq!r} waits for episodes to "
                f"end, but {plan.collector.title} steps no environment. Use --set train_freq=1."
            )
        self._timesteps_collected = 0
        self._episodes_collected = 0
        self._episodes_seen = 0  # the clock's count at the last check

    def steps_per_collect(self) -> int:
        """Vector steps in one collection: 1 if episodes are counted."""
        return self._steps or 1

    def is_new_collection(self) -> bool:
        """Whether nothing has been collected yet since the last updates."""
        return self._timesteps_collected == 0

    def ends_collection(self) -> bool:
        """Whether `updates_due`, called now, counts what was collected as complete."""
        return self._episodes_collected + self._new_episodes() >= self._episodes

    def updates_due(self, stored: int) -> int:
        """How many updates to make now, after a collection.

        Args:
            stored: transitions that can be sampled.
        """
        self._timesteps_collected += self.steps_per_collect() * self._n_envs
        if self._episodes and not self._count_episodes():
            return 0
        collected, self._timesteps_collected = self._timesteps_collected, 0
        settings = self._settings
        if self._clock.timesteps < settings.learning_starts or not self._is_enough(stored):
            return 0
        return settings.gradient_steps if settings.gradient_steps > 0 else collected

    def _is_enough(self, stored: int) -> bool:
        """Whether there is a batch on every rank; ranks are asked until there has been one.

        Counts differ after a training that a listener stopped on one rank within a collection.
        """
        enough = stored >= self._settings.batch_size
        if self._every_rank_has_a_batch:
            return enough
        lacking = self._communicator.gather(None if enough else stored)
        self._every_rank_has_a_batch = all(one is None for one in lacking)
        return self._every_rank_has_a_batch

    def _count_episodes(self) -> bool:
        """Count the episodes that have ended; whether they are enough for updates, and used up."""
        self._episodes_collected += self._new_episodes()
        self._episodes_seen = self._clock.episodes
        if self._episodes_collected < self._episodes:
            return False
        self._episodes_collected = 0
        return True

    def _new_episodes(self) -> int:
        """Episodes that ended since the last check."""
        return self._clock.episodes - self._episodes_seen

    def state_dict(self) -> State:
        return {
            "timesteps_collected": self._timesteps_collected,
            "episodes_collected": self._episodes_collected,
            "episodes_seen": self._episodes_seen,
        }

    def load_state_dict(self, state: State) -> None:
        self._timesteps_collected = int(state["timesteps_collected"])
        self._episodes_collected = int(state["episodes_collected"])
        self._episodes_seen = int(state["episodes_seen"])
