"""Details of callbacks that programs for Stable Baselines 2.10 rely on."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rlk.errors import PlanError
from rlk_baselines import A2C, logger
from rlk_baselines.common.callbacks import (
    BaseCallback,
    CheckpointCallback,
    ConvertCallback,
    EvalCallback,
    EventCallback,
    EveryNTimesteps,
    StopTrainingOnRewardThreshold,
)
from rlk_baselines.common.evaluation import evaluate_policy


class Collections(BaseCallback):
    """Overrides one method, and not `_on_step`."""

    def __init__(self) -> None:
        super().__init__()
        self.ends = 0

    def _on_rollout_end(self) -> None:
        self.ends += 1


class Best(EventCallback):
    """An event of a program's own, at every step."""

    best_mean_reward = 0.0

    def _on_step(self) -> bool:
        self.best_mean_reward += 1.0
        return self._on_event()


def test_a_callback_need_not_look_at_single_steps(counting) -> None:
    callback = Collections()
    assert callback.model is None
    model = A2C("MlpPolicy", counting(), n_steps=5).learn(20, callback=callback)
    assert callback.ends == 4 and callback.n_calls == 20 and callback.model is model


def test_a_callback_reaches_the_attributes_of_the_current_logger(counting, tmp_path) -> None:
    callback = Collections()
    A2C("MlpPolicy", counting(), n_steps=5).learn(5, callback=callback)
    callback.logger.logkv_mean("mine", 2.0)
    assert callback.logger.name2val == {"mine": 2.0} and callback.logger.name2cnt == {"mine": 1}
    callback.logger.name2val.clear()
    callback.logger.name2cnt.clear()
    assert callback.logger.dir is None and callback.logger.level == logger.INFO
    logger.configure(str(tmp_path), ["csv"])
    assert callback.logger.dir == str(tmp_path)
    assert [type(one) for one in callback.logger.output_formats] == [logger.CSVOutputFormat]
    logger.reset()
    assert not hasattr(callback.logger, "nothing")


def test_no_function_stops_no_training(counting) -> None:
    model = A2C("MlpPolicy", counting(), n_steps=5)
    assert model.learn(10, callback=ConvertCallback(None)).num_timesteps == 10


def test_a_threshold_may_belong_to_an_event_of_the_programs_own(counting) -> None:
    model = A2C("MlpPolicy", counting(), n_steps=5)
    model.learn(50, callback=Best(StopTrainingOnRewardThreshold(7.0)))
    assert model.num_timesteps == 7
    with pytest.raises(PlanError, match="callback_on_new_best"):
        model.learn(50, callback=EveryStep(StopTrainingOnRewardThreshold(7.0)))


class EveryStep(EventCallback):
    """An event without a best return."""

    def _on_step(self) -> bool:
        return self._on_event()


def test_a_callback_every_n_timesteps_counts_anew_with_the_timesteps(counting) -> None:
    inner = Collections()
    callback = EveryNTimesteps(10, inner)
    model = A2C("MlpPolicy", counting(), n_steps=5).learn(35, callback=callback)
    assert inner.n_calls == 3
    model.learn(25, callback=callback)
    assert inner.n_calls == 5
    model.learn(15, callback=callback, reset_num_timesteps=False)
    assert inner.n_calls == 7  # at 30 and 40 of 25 + 15


def test_a_callback_every_n_timesteps_waits_for_as_many_after_each_call() -> None:
    called: list[int] = []
    model: Any = SimpleNamespace(num_timesteps=0)
    every = EveryNTimesteps(5, ConvertCallback(lambda *_: called.append(model.num_timesteps)))
    every.model = every.callback.model = model
    for model.num_timesteps in range(3, 25, 3):  # of three environments
        every.on_step()
    assert called == [6, 12, 18, 24]


@pytest.mark.parametrize(("rank", "expected"), [(0, ["m_2_steps.zip", "m_4_steps.zip"]), (1, [])])
def test_rank_0_writes_checkpoints_at_its_interval(
    tmp_path: Path, rank: int, expected: list[str]
) -> None:
    saved: list[str] = []
    agent = SimpleNamespace(run=SimpleNamespace(communicator=SimpleNamespace(rank=rank)))
    model: Any = SimpleNamespace(agent=agent, save=lambda path: saved.append(Path(path).name))
    callback = CheckpointCallback(2, str(tmp_path), name_prefix="m")
    callback.model = model
    for model.num_timesteps in range(1, 6):
        assert callback.on_step()
    assert saved == expected


def test_the_callback_of_an_evaluation_sees_the_steps_before_its_own(counting) -> None:
    seen: list[tuple[int, int]] = []

    def callback(local: dict[str, Any], _: Any) -> None:
        seen.append((local["i"], local["episode_length"]))

    model = A2C("MlpPolicy", counting())
    _, lengths = evaluate_policy(
        model, counting(), n_eval_episodes=2, callback=callback, return_episode_rewards=True
    )
    assert seen == [(i, step) for i in range(2) for step in range(lengths[i])]


@pytest.mark.parametrize("deterministic", [True, False])
def test_an_evaluation_takes_samples_if_it_is_told_to(counting, deterministic: bool) -> None:
    asked: set[bool] = set()

    class Asked(A2C):
        def predict(self, *arguments: Any, **keywords: Any) -> Any:
            asked.add(keywords["deterministic"])
            return super().predict(*arguments, **keywords)

    evaluation = EvalCallback(counting(), eval_freq=5, deterministic=deterministic, verbose=0)
    Asked("MlpPolicy", counting()).learn(5, callback=evaluation)
    assert asked == {deterministic}
