"""The contract of a logger: a callback that receives the rows of a run."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from rlk.errors import PlanError
from rlk.saving import checkpoint, saved_files
from rlk_testing.contracts.callback import CallbackContract
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.tools.torch_threads import one_thread

if TYPE_CHECKING:
    from rlk.agent import Agent

ROWS: tuple[dict[str, float], ...] = (
    {"time/total_timesteps": 8, "rollout/ep_rew_mean": 1.5},
    {"time/total_timesteps": 16, "rollout/ep_rew_mean": 2.0, "train/loss": 0.25},
    {"time/total_timesteps": 24, "train/loss": float("nan"), "eval/mean_reward": float("inf")},
    {},
)
#: Rows whose number no other row has.
MARKED: Mapping[str, float] = {"rollout/ep_rew_mean": 918_273.0}
LATER: Mapping[str, float] = {"rollout/ep_rew_mean": 827_364.0}


def keeps_to_the_folder(suite: LoggerContract) -> bool:
    """Whether the logger writes nothing but files in the folder of a run."""
    return not suite.writes_elsewhere


class LoggerContract(CallbackContract):
    """What every logger must do, in addition to what every callback must.

    A logger that needs a folder says so in `rlk_check_plan`. What it opens when training starts, it
    closes through `run.on_close`.

    Attributes:
        writes_elsewhere: True for a logger that keeps files of its own in the working directory,
            with and without a folder of the run, as clients of tracking services do.
    """

    kind = "loggers"
    writes_elsewhere: ClassVar[bool] = False

    @pytest.fixture(autouse=True)
    def _works_in_a_folder_of_its_own(
        self, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Checks leave nothing in the directory that pytest was started in."""
        monkeypatch.chdir(tmp_path_factory.mktemp("works_here"))

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

    def test_it_takes_rows_whose_keys_come_and_go_and_non_finite_numbers(self) -> None:
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
        with self.agent(out=str(tmp_path)) as agent:
            agent.learn(self.timesteps)
            saved = agent.save(tmp_path / "model")
        with self.resumed(saved, tmp_path) as agent:
            agent.learn(self.timesteps, reset_num_timesteps=False)

    def test_rows_after_its_checkpoint_are_not_repeated_by_a_resumed_run(
        self, tmp_path: Path
    ) -> None:
        """Looks at text: readers of binary files, as TensorBoard, leave out what is repeated."""
        with self.agent(out=str(tmp_path)) as agent:
            agent.learn(self.timesteps)
            path = tmp_path / "checkpoints" / str(agent.num_timesteps)
            saved = saved_files.save(agent.run, path, checkpoint.run_state)
            self._train_and_write(agent, MARKED)
        before = _mentions(tmp_path, MARKED)
        with self.resumed(saved, tmp_path) as agent:
            self._train_and_write(agent, MARKED)
        assert _mentions(tmp_path, MARKED) == before, (
            "a run that was killed after its last checkpoint and resumed writes rows twice, or "
            "loses some: save how much belongs to the checkpoint (rlk_save, rlk_load), and cut the "
            "file there when training starts"
        )

    def test_its_files_have_every_row_of_two_trainings_once_the_run_is_closed(
        self, tmp_path: Path
    ) -> None:
        """Looks at text, as above: a logger whose files have neither row as text passes."""
        with self.agent(out=str(tmp_path)) as agent:
            for row in (MARKED, LATER):
                agent.learn(self.timesteps, reset_num_timesteps=False)
                agent.run.notify("rlk_training_start")
                for name, write in agent.run.listeners["rlk_write_row"]:
                    if name == self.entry().name:  # files of other loggers have no marks
                        write(run=agent.run, row=dict(row))
                agent.run.end(None)
        first, second = _mentions(tmp_path, MARKED), _mentions(tmp_path, LATER)
        assert first or not second, (
            "the rows of the first call of `learn` are gone after the second: when training "
            "starts, go on in the file that this run has written (rlk_training_start is called "
            "at every call of `learn`)"
        )
        assert second or not first, (
            "the last row of the run is not in its files: write what is still held back when the "
            "run is closed (run.on_close)"
        )

    @contextlib.contextmanager
    def resumed(self, saved: Path, out: Path) -> Iterator[Agent]:
        """An agent with the logger that continues a saved run in its folder, closed afterwards."""
        from rlk.making import load

        name = self.entry().name
        again: dict[str, Any] = {"env": self.env, "out": str(out), "plugins": (name,)}
        if self.settings:
            again[name] = dict(self.settings)
        with one_thread(), load(saved, kernel=self.kernel(), **again) as agent:
            yield agent

    def _train_and_write(self, agent: Agent, row: Mapping[str, float]) -> None:
        """Train on, and then write one more row."""
        agent.learn(self.timesteps, reset_num_timesteps=False)
        agent.run.notify("rlk_training_start")
        agent.run.notify("rlk_write_row", row=dict(row))
        agent.run.end(None)

    @applies(keeps_to_the_folder)
    def test_a_run_with_a_folder_writes_there_alone(self, tmp_path: Path) -> None:
        super().test_a_run_with_a_folder_writes_there_alone(tmp_path)

    @applies(keeps_to_the_folder)
    def test_a_run_without_a_folder_writes_nothing(self) -> None:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(Path(folder)):
            try:
                with self.agent(out=None) as agent:
                    agent.learn(self.timesteps)
            except PlanError as error:
                assert "--out" in str(error), (
                    "it needs a folder: say so, and how to give it one (--out)"
                )
            assert list(Path(folder).rglob("*")) == [], "the run has out=None"


def _mentions(folder: Path, row: Mapping[str, float]) -> dict[str, int]:
    """How often each file in a folder has the numbers of a row as text, if it has any."""
    numbers = [re.escape(f"{number:.0f}".encode()) for number in row.values()]
    counts = {
        str(path.relative_to(folder)): len(re.findall(b"|".join(numbers), path.read_bytes()))
        for path in folder.rglob("*")
        if path.is_file()
    }
    return {path: count for path, count in counts.items() if count}
