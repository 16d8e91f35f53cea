"""Writes rows of metrics, and curves for TensorBoard, while a model learns."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rlk import hookimpl
from rlk_baselines import logger
from rlk_baselines.log_rows.log_formats import valid_float_value
from rlk_baselines.log_rows.row_names import named
from rlk_baselines.log_rows.tensorboard import ScalarWriter

if TYPE_CHECKING:
    from rlk.running.metrics import Means
    from rlk.running.run import Run
    from rlk_baselines.common.base_class import BaseRLModel
    from rlk_baselines.learning import Call

#: Steps of each environment between two points of a loss curve. Writing a point takes as long as an
#: update of A2C.
_BETWEEN_POINTS = 100


class Rows:
    """Writes rows of metrics to `rlk_baselines.logger` and for TensorBoard.

    Attributes:
        before: by tag, the counts at the start of the current call of `learn`.
    """

    def __init__(self) -> None:
        self.before: dict[str, float] = {}

    def begin(self, model: BaseRLModel, call: Call, run: Run) -> None:
        """Note the time and the counts at the start of a call of `learn`."""
        self._started = time.perf_counter()
        self.before = {
            "time/iterations": run.clock.iterations,
            "time/episodes": run.clock.episodes,
            "train/n_updates": run.clock.updates_taken,
        }

    def of_the_call(self, row: Mapping[str, float]) -> dict[str, float]:
        """A row in which time and counts are those since the start of the call of `learn`."""
        found = {tag: value - self.before.get(tag, 0) for tag, value in row.items()}
        if "time/time_elapsed" in found:
            found["time/time_elapsed"] = time.perf_counter() - self._started
        return found

    def write(
        self, model: BaseRLModel, call: Call | None, run: Run, row: Mapping[str, float]
    ) -> None:
        """Write a row by the names of Stable Baselines, with the values that callbacks logged."""
        row = row if call is None else self.of_the_call(row)
        own = dict(logger.getkvs())
        prints = model.verbose > 0 and run.communicator.rank == 0
        if prints or own or logger.is_configured():
            for key, value in named(row, run.plan.algorithm.name).items():
                logger.logkv(key, value)
            logger.dumpkvs(to_stdout=prints)
        if call is None or call.writer is None:
            return
        numbers = {tag: value for tag, value in own.items() if valid_float_value(value)}
        others = row if call.curves is None else call.curves.left_of(row, run)
        call.writer.add_scalars({**numbers, **others}, run.timesteps)
        if model.full_tensorboard_log:
            for name, values in model.get_parameters().items():
                call.writer.add_histogram(name, values, run.timesteps)

    def curves(self, writer: ScalarWriter, means: Means) -> Curves | None:
        """What writes to TensorBoard independently of rows, or None if nothing does."""
        return Curves(writer, means)


class Curves:
    """Writes the return of every episode for TensorBoard, and mean losses at regular intervals.

    Args:
        writer: the writer of TensorBoard events.
        means: the means of the updates' metrics since the latest point.
    """

    def __init__(self, writer: ScalarWriter, means: Means) -> None:
        self._writer, self._means = writer, means
        self._at = self._seen_episodes = 0
        self._names: set[str] = set()

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        self._at = run.timesteps

    @hookimpl
    def rlk_rollout_start(self, run: Run) -> None:
        self._seen_episodes = run.clock.episodes

    @hookimpl
    def rlk_step(self, run: Run) -> None:
        n_new, self._seen_episodes = run.clock.episodes - self._seen_episodes, run.clock.episodes
        if n_new:
            for return_, _ in list(run.metrics.recent_episodes)[-n_new:]:
                self._writer.add_scalar("episode_reward", return_, run.timesteps, waits=True)

    @hookimpl
    def rlk_update_end(self, run: Run) -> None:
        self._write(run, is_last=False)

    @hookimpl
    def rlk_training_end(self, run: Run) -> None:
        self._write(run, is_last=True)

    def _write(self, run: Run, *, is_last: bool) -> None:
        """Write a point, if one is due or it is the last one, and any waiting events."""
        steps = (run.timesteps - self._at) / (run.n_envs * run.communicator.size)
        if steps < _BETWEEN_POINTS and not is_last:
            return
        self._at = run.timesteps
        if not self._means:
            self._writer.flush()
            return
        self._names |= self._means.totals.keys()
        numbers = {f"train/{name}": mean for name, mean in self._means.take().items()}
        self._writer.add_scalars({**numbers, **_scheduled(run)}, run.timesteps)

    def left_of(self, row: Mapping[str, float], run: Run) -> dict[str, float]:
        """A row without the metrics that these curves have."""
        names = self._names | self._means.totals.keys()
        own = {*(f"train/{name}" for name in names), *_scheduled(run)}
        return {tag: value for tag, value in row.items() if tag not in own}


def _scheduled(run: Run) -> dict[str, float]:
    """The current values of scheduled settings, such as the learning rate, by tag."""
    found = run.scheduled()
    return {tag: found[tag] for tag in found if tag.startswith("train/")}
