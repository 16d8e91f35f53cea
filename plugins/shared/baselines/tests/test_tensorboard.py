"""What models write for TensorBoard and at which timesteps, and the counts of a call of learn."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import rlk_sb3
from rlk_baselines import A2C, DQN, PPO2, logger
from rlk_baselines.common.callbacks import BaseCallback
from rlk_baselines.common.vec_env import DummyVecEnv


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """(timestep, value) of every tag, of all runs below a folder."""
    found: dict[str, list[tuple[int, float]]] = {}
    for run in sorted(folder.iterdir()):
        events = EventAccumulator(str(run), size_guidance={"scalars": 0}).Reload()
        for tag in events.Tags()["scalars"]:
            pairs = [(event.step, event.value) for event in events.Scalars(tag)]
            found.setdefault(tag, []).extend(pairs)
    return found


def steps(folder: Path, tag: str) -> list[int]:
    return [step for step, _ in scalars(folder)[tag]]


def test_an_episode_is_written_where_it_ended(counting, tmp_path: Path) -> None:
    env = DummyVecEnv([lambda: counting(3), lambda: counting(4, reward=0.5)])
    A2C("MlpPolicy", env, n_steps=8, tensorboard_log=str(tmp_path)).learn(32)
    expected = [(6, 3.0), (8, 2.0), (12, 3.0), (16, 2.0), (18, 3.0)]
    expected += [(24, 3.0), (24, 2.0), (30, 3.0), (32, 2.0)]
    assert scalars(tmp_path)["episode_reward"] == expected


def test_no_episode_of_a_long_collection_is_left_out(counting, tmp_path: Path) -> None:
    env = DummyVecEnv([lambda: counting(1)] * 4)
    PPO2("MlpPolicy", env, n_steps=64, tensorboard_log=str(tmp_path)).learn(256)
    assert len(steps(tmp_path, "episode_reward")) == 256


@pytest.mark.parametrize(
    ("kind", "keywords", "total", "expected"),
    [
        (PPO2, {"n_steps": 128}, 384, [128, 256, 384]),
        (A2C, {}, 250, [100, 200, 250]),
        (DQN, {"learning_starts": 150, "train_freq": 1}, 420, [200, 300, 400, 420]),
    ],
)
def test_losses_are_written_whatever_the_interval_of_rows(
    kind: Any, keywords: dict[str, int], total: int, expected: list[int], counting, tmp_path: Path
) -> None:
    model = kind("MlpPolicy", counting(10**9), tensorboard_log=str(tmp_path), **keywords)
    model.learn(total, log_interval=10**6)
    assert steps(tmp_path, "train/loss") == expected
    assert steps(tmp_path, "train/learning_rate") == expected


def test_what_is_written_are_means_of_the_updates_since_the_last(counting, tmp_path: Path) -> None:
    model = A2C("MlpPolicy", counting(), seed=0, tensorboard_log=str(tmp_path / "log"))
    logger.configure(str(tmp_path / "rows"), ["csv"])
    try:
        model.learn(200, log_interval=1)
    finally:
        logger.reset()
    rows = logger.read_csv(str(tmp_path / "rows" / "progress.csv"))["value_loss"].to_numpy()
    written = [value for _, value in scalars(tmp_path / "log")["train/value_loss"]]
    assert np.allclose(written, [rows[:20].mean(), rows[20:].mean()], rtol=1e-3)


def test_models_of_sb3_write_by_the_interval_of_rows(counting, tmp_path: Path) -> None:
    model = rlk_sb3.A2C("MlpPolicy", counting(), tensorboard_log=str(tmp_path))
    model.learn(500, log_interval=50)
    assert steps(tmp_path, "train/loss") == [250, 500]


class Waiting(BaseCallback):
    """Records at every step the number of the update, from the callback's variables."""

    def __init__(self) -> None:
        super().__init__()
        self.updates: list[int] = []

    def _on_step(self) -> bool:
        self.updates.append(self.locals["update"])
        return True


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that is seven seconds further whenever rows look at it, which each does once."""
    seconds = itertools.count(70, 7)
    clock = SimpleNamespace(perf_counter=lambda: next(seconds))
    monkeypatch.setattr("rlk_baselines.log_rows.rows.time", clock)


@pytest.mark.parametrize("reset", [True, False])
def test_rows_count_from_where_learn_was_called(
    reset: bool, counting, ticking, tmp_path: Path
) -> None:
    model, callback = A2C("MlpPolicy", counting(), n_steps=4), Waiting()
    model.learn(40)
    logger.configure(str(tmp_path), ["csv"])
    try:
        model.learn(8, log_interval=1, callback=callback, reset_num_timesteps=reset)
    finally:
        logger.reset()
    table = logger.read_csv(str(tmp_path / "progress.csv"))
    assert table["iterations"].tolist() == [1, 2] and table["n_updates"].tolist() == [1, 2]
    assert table["total_timesteps"].tolist() == ([4, 8] if reset else [44, 48])
    # 13 or 14 episodes of three steps were over before.
    assert table["episodes"].tolist()[-1] <= 3
    assert table["time_elapsed"].tolist() == [7, 14]
    assert callback.updates == [1] * 4 + [2] * 4


def test_rows_of_sb3_continue_where_those_of_stable_baselines3_do(counting, ticking) -> None:
    model = rlk_sb3.DQN("MlpPolicy", counting(), learning_starts=10, train_freq=1)
    seen: list[dict[str, float]] = []

    class Keep(rlk_sb3.common.logger.KVWriter):
        def write(self, key_values: Any, key_excluded: Any, step: int = 0) -> None:
            seen.append(dict(key_values))

        def close(self) -> None:
            pass

    model.set_logger(rlk_sb3.common.logger.Logger(None, [Keep()]))
    model.learn(30)
    before = len(seen)
    model.learn(60, reset_num_timesteps=False)
    updates = seen[-1]["train/n_updates"]
    assert seen[-1]["time/episodes"] == 30 and updates == model.agent.run.clock.updates
    times = [row["time/time_elapsed"] for row in seen[before:]]
    assert times == [7 * (row + 1) for row in range(len(times))]
    model.learn(30)
    assert seen[-1]["time/episodes"] == 10 and seen[-1]["train/n_updates"] > updates


def test_a_folder_that_cannot_be_made_is_reported_before_training(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("a file")
    model = A2C("MlpPolicy", "CartPole-v1", tensorboard_log=str(tmp_path / "log"))
    with pytest.raises(NotADirectoryError, match="log"):
        model.learn(10)
    assert model.num_timesteps == 0


def test_points_of_losses_are_as_many_steps_of_each_environment_apart(
    counting, tmp_path: Path
) -> None:
    env = DummyVecEnv([lambda: counting(10**9)] * 2)
    A2C("MlpPolicy", env, tensorboard_log=str(tmp_path)).learn(500, log_interval=10**6)
    assert steps(tmp_path, "train/loss") == [200, 400, 500]


@pytest.mark.parametrize("is_full", [False, True])
def test_what_callbacks_log_is_written_and_parameters_if_asked(
    is_full: bool, counting, tmp_path: Path
) -> None:
    class Logs(BaseCallback):
        def _on_step(self) -> None:  # type: ignore[override]
            self.logger.logkv("mine", 10 * self.num_timesteps)

    log = {"tensorboard_log": str(tmp_path), "full_tensorboard_log": is_full}
    model = A2C("MlpPolicy", counting(3), n_steps=4, **log)
    model.learn(8, callback=Logs(), log_interval=1)
    assert scalars(tmp_path)["mine"] == [(4, 40.0), (8, 80.0)]
    (run,) = tmp_path.iterdir()
    written = {*EventAccumulator(str(run)).Reload().Tags()["tensors"]}
    names = {*model.get_parameters()}
    assert len(names) == 12 and written & names == (names if is_full else set())


def test_a_callback_is_that_of_its_call_of_learn_alone(counting) -> None:
    called: list[int] = []
    model = A2C("MlpPolicy", counting(3), n_steps=4)
    model.learn(4, callback=lambda variables, _: called.append(1))
    model.agent.learn(8)
    assert len(called) == 4


def test_only_episodes_of_the_call_that_writes_are_written(counting, tmp_path: Path) -> None:
    model = A2C("MlpPolicy", counting(2), n_steps=4).learn(8)
    model.tensorboard_log = str(tmp_path)
    model.learn(4, reset_num_timesteps=False)
    assert scalars(tmp_path)["episode_reward"] == [(10, 2.0), (12, 2.0)]
