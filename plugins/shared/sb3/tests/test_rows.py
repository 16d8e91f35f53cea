"""The rows of a model go to its own logger, by the keys of Stable-Baselines3."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rlk_baselines import logger as logger_of_210
from rlk_sb3 import A2C, DDPG, DQN, PPO, SAC, TD3
from rlk_sb3.common.callbacks import BaseCallback, EvalCallback
from rlk_sb3.common.logger import HumanOutputFormat, KVWriter, Logger, configure
from rlk_sb3_contrib import RecurrentPPO

SMALL: dict[str, Any] = {"n_steps": 16, "batch_size": 16, "n_epochs": 1}


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def scalars(folder: Path) -> dict[str, list[int]]:
    """Tag -> the steps at which it was written."""
    accumulator = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator"
    ).EventAccumulator(str(folder))
    accumulator.Reload()
    tags = accumulator.Tags()["scalars"]
    return {tag: [event.step for event in accumulator.Scalars(tag)] for tag in tags}


class Kept(KVWriter):
    """A custom format."""

    def __init__(self) -> None:
        self.rows: list[tuple[dict[str, Any], int]] = []

    def write(self, key_values: Any, key_excluded: Any, step: int = 0) -> None:
        self.rows.append((key_values, step))


def test_every_model_has_a_logger_of_its_own(counting, tmp_path: Path) -> None:
    first, second = (PPO("MlpPolicy", counting(), **SMALL) for _ in range(2))
    for name, model in (("first", first), ("second", second)):
        made = configure(str(tmp_path / name), ["csv"])
        model.set_logger(made)
        assert model.logger is made
    first.learn(16)
    second.learn(32)
    steps = {
        name: [row["time/total_timesteps"] for row in rows_of(tmp_path / name / "progress.csv")]
        for name in ("first", "second")
    }
    assert steps == {"first": ["16"], "second": ["16", "32"]}


def test_keys_and_steps_are_those_of_its_logger(counting, tmp_path: Path) -> None:
    class Recording(BaseCallback):
        def _on_step(self) -> bool:
            assert self.logger is self.model.logger
            self.logger.record("mine/steps", self.num_timesteps, exclude="csv")
            self.logger.record_mean("mine/mean", self.n_calls % 2)
            return True

    model = PPO("MlpPolicy", counting(), **SMALL)
    model.set_logger(configure(str(tmp_path), ["csv", "json", "tensorboard"]))
    model.learn(32, callback=Recording())
    model.logger.close()
    (row, _) = rows_of(tmp_path / "progress.csv")
    assert row.keys() >= {"rollout/ep_rew_mean", "train/loss", "time/total_timesteps", "mine/mean"}
    assert not row.keys() & {"ep_reward_mean", "loss", "mine/steps"}
    (line, _) = map(json.loads, (tmp_path / "progress.json").read_text().splitlines())
    assert (line["mine/steps"], line["mine/mean"]) == (16, pytest.approx(0.5))
    found = scalars(tmp_path)
    assert found["rollout/ep_rew_mean"] == found["train/loss"] == found["mine/steps"] == [16, 32]


def test_a_model_prints_what_its_verbosity_says_or_its_logger_does(
    counting, capsys: pytest.CaptureFixture[str]
) -> None:
    PPO("MlpPolicy", counting(), **SMALL).learn(16)
    assert capsys.readouterr().out == ""
    model = PPO("MlpPolicy", counting(), verbose=1, **SMALL).learn(16)
    printed = capsys.readouterr().out
    assert "| rollout/" in printed and "|    ep_rew_mean" in printed
    kept = Kept()
    model.set_logger(Logger(None, [kept]))
    model.logger.info("words for people")
    model.learn(16)
    assert capsys.readouterr().out == ""
    assert [(row["time/total_timesteps"], step) for row, step in kept.rows] == [(16, 16)]


@pytest.mark.parametrize("use_sde", [False, True])
def test_rows_have_the_deviation_of_actions_and_updates_as_they_are_counted_there(use_sde) -> None:
    kept = {cls: Kept() for cls in (PPO, A2C, DQN)}
    ppo = PPO("MlpPolicy", "Pendulum-v1", n_steps=32, batch_size=8, n_epochs=3, use_sde=use_sde)
    a2c = A2C("MlpPolicy", "CartPole-v1", n_steps=4)
    dqn = DQN("MlpPolicy", "CartPole-v1", buffer_size=64, learning_starts=4, gradient_steps=2)
    for model, kind in ((ppo, PPO), (a2c, A2C), (dqn, DQN)):
        model.set_logger(Logger(None, [kept[kind]]))
        model.learn(64, log_interval=1)
    rows = [row for row, _ in kept[PPO].rows]
    assert [row["train/n_updates"] for row in rows] == [3, 6]
    log_std = ppo.policy.get_parameter("pi.out.log_std")
    assert rows[-1]["train/std"] == pytest.approx(float(log_std.exp().mean()))
    assert rows[0]["train/std"] != rows[1]["train/std"]
    assert [row["train/n_updates"] for row, _ in kept[A2C].rows] == [*range(1, 17)]
    assert "train/std" not in kept[A2C].rows[0][0]
    counts = [row["train/n_updates"] for row, _ in kept[DQN].rows if "train/n_updates" in row]
    assert counts and all(count % 2 == 0 for count in counts)


@pytest.mark.parametrize("use_sde", [False, True])
def test_rows_of_sac_have_the_deviation_of_state_dependent_exploration(use_sde: bool) -> None:
    kept = Kept()
    small: dict[str, Any] = {"batch_size": 4, "buffer_size": 50, "learning_starts": 4}
    model = SAC("MlpPolicy", "Pendulum-v1", use_sde=use_sde, **small)
    model.set_logger(Logger(None, [kept]))
    model.learn(8)
    ((row, _),) = kept.rows
    assert row.get("train/std") == (
        pytest.approx(float(model.policy.get_parameter("pi.out.log_std").exp().mean()))
        if use_sde
        else None
    )


def test_what_one_model_has_recorded_is_not_in_the_row_of_another(counting, tmp_path: Path) -> None:
    class Ending(BaseCallback):
        def _on_step(self) -> bool:
            return True

        def _on_training_end(self) -> None:
            self.logger.record("first/only", 1.0)

    for name, callback in (("one", Ending()), ("two", None)):
        model = PPO("MlpPolicy", counting(), tensorboard_log=str(tmp_path), **SMALL)
        model.learn(16, callback=callback, tb_log_name=name)
    assert model.logger.get_dir() == str(tmp_path / "two_1")
    found = scalars(tmp_path / "two_1")
    assert found["rollout/ep_rew_mean"] == [16] and "first/only" not in found


@pytest.mark.parametrize(
    ("kind", "policy", "keywords", "folder"),
    [
        (A2C, "MlpPolicy", {}, "A2C_1"),
        (A2C, "MlpPolicy", {"tb_log_name": ""}, "_1"),
        (RecurrentPPO, "MlpLstmPolicy", {}, "RecurrentPPO_1"),
    ],
)
def test_a_derived_class_logs_to_the_folder_of_its_model(
    kind: Any, policy: str, keywords: dict[str, str], folder: str, counting: Any, tmp_path: Path
) -> None:
    class Mine(kind):  # type: ignore[misc]
        pass

    Mine(policy, counting(), tensorboard_log=str(tmp_path)).learn(4, **keywords)
    assert [one.name for one in tmp_path.iterdir()] == [folder]


def test_an_evaluation_is_a_row_of_its_own_time(counting, tmp_path: Path) -> None:
    model = PPO("MlpPolicy", counting(), tensorboard_log=str(tmp_path), **SMALL)
    model.learn(16, callback=EvalCallback(counting(), eval_freq=5, n_eval_episodes=1, verbose=0))
    found = scalars(tmp_path / "PPO_1")
    assert found["eval/mean_reward"] == found["eval/mean_ep_length"] == [5, 10, 15]


def test_a_logger_by_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = Kept()
    logger = Logger(str(tmp_path), [kept, HumanOutputFormat(str(tmp_path / "log.txt"))])
    logger.record("a", 1)
    logger.record_mean("b", 2.0)
    logger.record_mean("b", 4.0)
    logger.record_mean("b", None)
    logger.record("c", np.arange(2), exclude=("log", "stdout"))
    assert logger.name_to_value["b"] == 3.0
    logger.dump(7)
    assert (kept.rows[0][0]["b"], kept.rows[0][1]) == (3.0, 7) and not logger.name_to_value
    logger.debug("quiet")
    logger.warn("heard", 1)
    logger.close()
    written = (tmp_path / "log.txt").read_text()
    assert "| a | 1 |" in written and "c" not in written and "quiet" not in written
    assert "heard 1" in written
    configure(str(tmp_path / "new"), ["stdout"])
    assert capsys.readouterr().out == ""
    with pytest.raises(ValueError, match="unknown format 'yaml'"):
        configure(str(tmp_path), ["yaml"])


def test_a_format_that_a_program_writes_to_itself(tmp_path: Path) -> None:
    writer = configure(str(tmp_path), ["json"]).output_formats[0]
    writer.write({"a": 1, "b": 2, "c": 3}, {"a": None, "b": "json", "c": ("csv",)}, 7)
    writer.close()
    assert json.loads((tmp_path / "progress.json").read_text()) == {"a": 1, "c": 3}


def test_a_table_may_go_into_an_open_file(capsys: pytest.CaptureFixture[str]) -> None:
    file, file_of_210 = io.StringIO(), io.StringIO()
    logger = Logger(None, [HumanOutputFormat(file)])
    logger.record("a", 1)
    logger.dump()
    logger.info("words")
    old = logger_of_210.Logger(None, [logger_of_210.HumanOutputFormat(file_of_210)])
    old.logkv("a", 1)
    old.dumpkvs(to_stdout=False)
    old.log("words")
    for one in (logger, old):
        one.close()
    for written in (file.getvalue(), file_of_210.getvalue()):
        assert "| a | 1 |" in written and written.endswith("words\n")
    assert capsys.readouterr().out == ""


def test_files_hold_every_value_that_was_recorded(tmp_path: Path) -> None:
    long = "a_key_of_more_than_20_letters"
    values = {f"{long}_1": 1, f"{long}_2": 2, "note": 'one, "two"', "array": np.arange(2)}
    old = logger_of_210.Logger(
        None, [logger_of_210.make_output_format(one, str(tmp_path)) for one in ("log", "csv")]
    )
    for key, value in values.items():
        old.logkv(key, value)
    old.dumpkvs()
    old.close()
    assert (tmp_path / "log.txt").read_text().count(long[:20]) == 2
    (row,) = rows_of(tmp_path / "progress.csv")
    assert row == {key: str(value) for key, value in values.items()}
    new = configure(str(tmp_path / "sb3"), ["json", "csv"])
    new.record("tensor", torch.tensor(0.5))
    new.record("note", values["note"])
    for _ in range(2):
        new.dump()
        new.record("note", values["note"])
    new.close()
    lines = (tmp_path / "sb3" / "progress.json").read_text().splitlines()
    assert [json.loads(line).get("tensor") for line in lines] == [0.5, None]
    assert [one["note"] for one in rows_of(tmp_path / "sb3" / "progress.csv")] == 2 * [
        values["note"]
    ]


@pytest.mark.parametrize("wrong", [3, None, "logs"])
def test_what_is_no_logger_is_refused(wrong: Any) -> None:
    model = A2C("MlpPolicy", "CartPole-v1")
    with pytest.raises(ValueError, match=r"set_logger takes a Logger, as .*configure\(folder"):
        model.set_logger(wrong)


@pytest.mark.parametrize("kind", [DDPG, SAC, TD3])
def test_rows_of_off_policy_models_have_their_learning_rate(kind: Any, tmp_path: Path) -> None:
    small: dict[str, Any] = {"batch_size": 4, "buffer_size": 50, "learning_starts": 4}
    model = kind("MlpPolicy", "Pendulum-v1", learning_rate=lambda left: 1e-3 * left, **small)
    model.set_logger(configure(str(tmp_path), ["json"]))
    model.learn(20)
    model.logger.close()
    (row,) = map(json.loads, (tmp_path / "progress.json").read_text().splitlines())
    assert row["train/learning_rate"] == row["train/learning_rate_actor"] < 1e-3


def test_of_epochs_that_target_kl_ended_early_the_minibatches_that_were_taken_count() -> None:
    """One of four in each collection; the second one of each is refused."""
    kept, keywords = Kept(), {"n_steps": 32, "batch_size": 8, "n_epochs": 3, "target_kl": 1e-9}
    model = PPO("MlpPolicy", "CartPole-v1", seed=0, **keywords)  # type: ignore[arg-type]
    model.set_logger(Logger(None, [kept]))
    model.learn(160, log_interval=1)
    assert [row["train/n_updates"] for row, _ in kept.rows] == [1, 1, 1, 1, 2]
