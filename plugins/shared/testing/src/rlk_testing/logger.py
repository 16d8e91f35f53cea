"""The contract of a logger: a callback that receives the rows of a run."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlk.errors import PlanError
from rlk_testing.contract import one_thread
from rlk_testing.observer import CallbackContract, inside

if TYPE_CHECKING:
    from rlk.agent import Agent

ROWS: tuple[dict[str, float], ...] = (
    {"time/total_timesteps": 8, "rollout/ep_rew_mean": 1.5},
    {"time/total_timesteps": 16, "rollout/ep_rew_mean": 2.0, "train/loss": 0.25},
    {"time/total_timesteps": 24, "train/loss": float("nan"), "eval/mean_reward": float("inf")},
    {},
)


class LoggerContract(CallbackContract):
    """What every logger must do, in addition to what every callback must.

    A logger that needs a folder says so in `rlk_check_plan`. What it opens when training starts, it
    closes through `run.on_close`.
    """

    kind = "loggers"

    @contextlib.contextmanager
    def agent(self, *, without: bool = False, **settings: Any) -> Iterator[Agent]:
        """An agent with the logger and with a folder for output, which some loggers need."""
        with tempfile.TemporaryDirectory() as folder:
            given = settings if "out" in settings or without else {**settings, "out": folder}
            with super().agent(without=without, **given) as agent:
                yield agent

    def test_rows_of_a_run_reach_it(self) -> None:
        with self.agent() as agent:
            mine = agent.run.hooks.get(self.entry().name)
            assert type(mine) is type(self.made()), "the run has no logger of this type"
            assert hasattr(getattr(mine, "rlk_write_row", None), "rlk_impl")

    def test_it_takes_rows_whose_keys_come_and_go_and_numbers_that_are_none(self) -> None:
        with self.agent() as agent:
            agent.run.notify("rlk_training_start")
            for row in ROWS:
                agent.run.notify("rlk_write_row", row=dict(row))

    def test_it_leaves_the_row_as_it_was_for_the_next_logger(self) -> None:
        with self.agent() as agent:
            agent.run.notify("rlk_training_start")
            row = dict(ROWS[1])
            agent.run.notify("rlk_write_row", row=row)
            assert row == ROWS[1]

    def test_a_run_without_a_row_can_be_closed(self) -> None:
        with self.agent() as agent:
            agent.run.notify("rlk_training_start")

    def test_a_resumed_run_opens_it_again_in_the_same_folder(self, tmp_path: Path) -> None:
        from rlk.making import load

        name = self.entry().name
        with self.agent(out=str(tmp_path)) as agent:
            agent.learn(self.timesteps)
            saved = agent.save(tmp_path / "model")
        again: dict[str, Any] = {"env": self.env, "out": str(tmp_path), "plugins": (name,)}
        if self.settings:
            again[name] = dict(self.settings)
        with one_thread(), load(saved, kernel=self.kernel(), **again) as agent:
            agent.learn(self.timesteps, reset_num_timesteps=False)

    def test_a_run_without_a_folder_writes_nothing(self) -> None:
        with tempfile.TemporaryDirectory() as folder, inside(Path(folder)):
            try:
                with self.agent(out=None) as agent:
                    agent.learn(self.timesteps)
            except PlanError as error:
                assert "out" in str(error), (
                    "it needs a folder: say so, and how to give it one (--out)"
                )
            assert list(Path(folder).rglob("*")) == [], "the run has out=None"
