"""Writes the rows of metrics of one model to its own logger."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rlk_baselines.log_rows.rows import Rows
from rlk_sb3 import latest_episodes
from rlk_sb3.common.log_formats import (
    HumanOutputFormat,
    KVWriter,
    TensorBoardOutputFormat,
)
from rlk_sb3.common.logger import Logger

if TYPE_CHECKING:
    from rlk.running.metrics import Means
    from rlk.running.run import Run
    from rlk_baselines.learning import Call
    from rlk_baselines.log_rows.tensorboard import ScalarWriter


_UPDATES = "train/n_updates"
_RATE_OF_ACTOR = "train/learning_rate_actor"
#: Numbers that Stable-Baselines3 writes without decimals.
_WHOLE = ("time/fps", "time/time_elapsed")


class OwnRows(Rows):
    """Writes the rows of one model; rlk's tags are the keys of Stable-Baselines3.

    Attributes:
        logger: the logger of the rows.
        is_given: whether the program passed it to `set_logger`. If not, every call of `learn` makes
            a logger, which prints, and writes TensorBoard events, depending on the model's
            `verbose` and `tensorboard_log`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.logger = Logger(None, [])
        self.is_given = False

    def begin(self, model: Any, call: Call, run: Run) -> None:
        """As in `Rows`, but updates count over all calls, and episodes continue with timesteps."""
        episodes = self.before.get("time/episodes", 0)
        super().begin(model, call, run)
        self.before[_UPDATES] = 0
        if not call.reset_num_timesteps:
            self.before["time/episodes"] = episodes
        if self.is_given:
            return
        formats: list[KVWriter] = []
        if call.writer is not None:
            formats.append(TensorBoardOutputFormat(call.writer))
        if model.verbose > 0 and model.agent.run.communicator.rank == 0:
            formats.append(HumanOutputFormat(sys.stdout))
        folder = None if call.writer is None else str(call.writer.folder)
        self.logger = Logger(folder, formats)

    def write(self, model: Any, call: Call | None, run: Run, row: Mapping[str, float]) -> None:
        row = latest_episodes.with_means(model, row if call is None else self.of_the_call(row))
        if _UPDATES in row:
            row = {**row, **model.numbers_of_training()}
        if _RATE_OF_ACTOR in row:  # there, all optimisers have one learning rate
            row = {"train/learning_rate": row[_RATE_OF_ACTOR], **row}
        for tag, value in row.items():
            self.logger.record(tag, int(value) if tag in _WHOLE else value)
        self.logger.dump(run.timesteps)
        # As in Stable-Baselines3, callbacks find the latest update's numbers at any time.
        self.logger.keep({tag: row[tag] for tag in row if tag.startswith("train/")})

    def curves(self, writer: ScalarWriter, means: Means) -> None:
        """None: losses and returns are only in rows."""
