"""The contract of a logger: it is opened with a run, given rows, and closed."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlk.errors import PlanError
from rlk.testing.observer import RunContract, inside

if TYPE_CHECKING:
    from rlk.agent import Agent

ROWS: tuple[dict[str, float], ...] = (
    {"time/total_timesteps": 8, "rollout/ep_rew_mean": 1.5},
    {"time/total_timesteps": 16, "rollout/ep_rew_mean": 2.0, "train/loss": 0.25},
    {"time/total_timesteps": 24, "train/loss": float("nan"), "eval/mean_reward": float("inf")},
    {},
)


class LoggerContract(RunContract):
    """What every logger must do. Its factory takes nothing but the config."""

    kind = "loggers"

    @contextlib.contextmanager
    def agent(self, *, without: bool = False, **said: Any) -> Iterator[Agent]:
        """An agent with the logger and, as some loggers need one, a folder of its own."""
        with tempfile.TemporaryDirectory() as folder:
            given = said if "out" in said or without else {**said, "out": folder}
            with super().agent(without=without, **given) as agent:
                yield agent

    @contextlib.contextmanager
    def opened(self, out: Path | None) -> Iterator[Any]:
        """The logger, opened with a run in that folder."""
        said = {} if out is None else {"out": str(out)}
        with self.agent(without=True, **said) as agent:
            logger = self.made()
            logger.open(agent.run)
            try:
                yield logger
            finally:
                logger.close()

    def test_it_has_the_three_methods_of_the_protocol(self) -> None:
        logger = self.made()
        assert all(callable(getattr(logger, name, None)) for name in ("open", "write", "close"))

    def test_it_takes_rows_whose_keys_come_and_go_and_numbers_that_are_none(
        self, tmp_path: Path
    ) -> None:
        with self.opened(tmp_path) as logger:
            for timesteps, row in enumerate(ROWS):
                logger.write(timesteps, row)

    def test_it_leaves_the_row_as_it_was_for_the_next_logger(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as logger:
            row = dict(ROWS[1])
            logger.write(16, row)
            assert row == ROWS[1]

    def test_it_can_be_closed_twice_and_without_a_row(self, tmp_path: Path) -> None:
        with self.opened(tmp_path) as logger:
            logger.close()
            logger.close()

    def test_it_can_be_closed_without_having_been_opened(self) -> None:
        self.made().close()

    def test_a_resumed_run_opens_it_again_in_the_same_folder(self, tmp_path: Path) -> None:
        for timesteps in (8, 16):
            with self.opened(tmp_path) as logger:
                logger.write(timesteps, ROWS[0])

    def test_a_run_without_a_folder_writes_nothing(self, tmp_path: Path) -> None:
        with inside(tmp_path), self.agent(out=None) as agent:
            try:
                agent.learn(self.timesteps)
            except PlanError as error:
                assert "out" in str(error), (
                    "it needs a folder: say so, and how to give it one (--out)"
                )
        assert list(tmp_path.rglob("*")) == [], "the run has out=None"

    def test_rows_of_a_run_reach_it(self, tmp_path: Path) -> None:
        with self.agent(out=str(tmp_path), log_interval=1) as agent:
            mine = [logger for logger in agent.run.loggers if type(logger) is type(self.made())]
            assert mine, "the run has no logger of this type"
            rows: list[dict[str, float]] = []
            write = mine[0].write

            def written(timesteps: int, row: Any) -> None:
                rows.append(dict(row))
                write(timesteps, row)

            mine[0].write = written  # type: ignore[method-assign]
            agent.learn(self.timesteps)
        assert rows and all("time/total_timesteps" in row for row in rows)
