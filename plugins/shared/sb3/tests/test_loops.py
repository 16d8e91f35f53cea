"""When schedules are evaluated, and when rollouts begin and end, as in Stable-Baselines3."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlk_baselines import DQN as DQN210
from rlk_baselines import PPO2
from rlk_baselines.common.callbacks import BaseCallback as BaseCallback210
from rlk_sb3 import A2C, DQN, PPO, SAC
from rlk_sb3.common.callbacks import BaseCallback
from rlk_sb3.common.logger import KVWriter, Logger
from rlk_sb3_contrib import TRPO

SIZES = {"policy_kwargs": {"net_arch": [4]}}


class Rates(KVWriter):
    """Keeps the learning rates of all rows, and the clip ranges."""

    def __init__(self) -> None:
        self.found: list[float] = []
        self.clip_ranges: list[float] = []

    def write(self, key_values: dict[str, Any], key_excluded: Any, step: int = 0) -> None:
        rate = "train/learning_rate"
        of_values = f"{rate}_vf"  # of TRPO, whose policy has no rate that is scheduled
        self.found.append(float(key_values[of_values if of_values in key_values else rate]))
        self.clip_ranges.append(float(key_values.get("train/clip_range", 0)))


def rates_of(model: Any, timesteps: int, **keywords: Any) -> list[float]:
    rates = Rates()
    model.set_logger(Logger(None, [rates]))
    model.learn(timesteps, log_interval=1, **keywords)
    return rates.found


@pytest.mark.parametrize("kind", [A2C, PPO, TRPO])
def test_updates_use_the_value_after_their_collection(kind: Any, counting: Any) -> None:
    small = {} if kind is A2C else {"batch_size": 16}
    model = kind(
        "MlpPolicy", counting(), n_steps=16, learning_rate=lambda left: left, **small, **SIZES
    )
    assert rates_of(model, 64) == [0.75, 0.5, 0.25, 0.0]
    assert rates_of(model, 64, reset_num_timesteps=False) == [0.375, 0.25, 0.125, 0.0]
    assert rates_of(model, 32) == [0.5, 0.0]


def test_a_loaded_model_continues_its_schedule(counting: Any, tmp_path: Path) -> None:
    keywords: dict[str, Any] = {"learning_rate": lambda left: left}
    model = PPO("MlpPolicy", counting(), n_steps=16, batch_size=16, **keywords, **SIZES)
    model.learn(32).save(tmp_path / "model")
    loaded = PPO.load(tmp_path / "model", env=counting(), **keywords)
    assert rates_of(loaded, 32, reset_num_timesteps=False) == [0.25, 0.0]


def test_clip_ranges_and_off_policy_models_follow_too(counting: Any) -> None:
    rates = Rates()
    clips = {"clip_range": lambda left: 0.4 * left, "n_steps": 16, "batch_size": 16}
    model: Any = PPO("MlpPolicy", counting(), **clips, **SIZES)
    model.set_logger(Logger(None, [rates]))
    model.learn(32, log_interval=1)
    assert rates.clip_ranges == pytest.approx([0.2, 0.0])
    off = {"learning_starts": 0, "batch_size": 4, "buffer_size": 300, "train_freq": 10}
    for kind, env in ((SAC, "Pendulum-v1"), (DQN, counting())):
        model = kind("MlpPolicy", env, learning_rate=lambda left: left, **off, **SIZES)
        used: list[float] = []

        class Starts(BaseCallback):
            def _on_rollout_start(self, model: Any = model, used: Any = used) -> None:
                used.append(model.agent.run.optimise.learning_rates())

            def _on_step(self) -> bool:
                return True

        model.learn(20, callback=Starts())
        found = [set(one.values()) for one in (*used, model.agent.run.optimise.learning_rates())]
        assert found[1:] == [{0.5}, {0.0}]


class Rollouts(BaseCallback):
    """Notes when rollouts start and end."""

    def __init__(self) -> None:
        super().__init__()
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.collected: list[int] = []

    def _on_rollout_start(self) -> None:
        self.starts.append(self.num_timesteps)

    def _on_step(self) -> bool:
        self.collected.append(self.locals["num_collected_steps"])
        return True

    def _on_rollout_end(self) -> None:
        self.ends.append(self.num_timesteps)


@pytest.mark.parametrize("learning_starts", [0, 100])
def test_episodes_between_updates_are_one_rollout(counting: Any, learning_starts: int) -> None:
    off = {"learning_starts": learning_starts, "batch_size": 4, "buffer_size": 300}
    model = DQN("MlpPolicy", counting(3), train_freq=(2, "episode"), **off, **SIZES)
    seen = Rollouts()
    model.learn(12, callback=seen)
    assert (seen.starts, seen.ends) == ([0, 6], [6, 12])
    assert seen.collected == [1, 2, 3, 4, 5, 6] * 2
    model.learn(8, callback=(again := Rollouts()))
    assert (again.starts, again.ends) == ([0, 6], [6])
    model.learn(8, callback=(again := Rollouts()), reset_num_timesteps=False)
    assert (again.starts[0], again.ends) == (8, [12])


def test_every_step_is_a_rollout_of_a_model_that_updates_after_each(counting: Any) -> None:
    off = {"learning_starts": 0, "batch_size": 4, "buffer_size": 300, "train_freq": 1}
    seen = Rollouts()
    DQN("MlpPolicy", counting(3), **off, **SIZES).learn(3, callback=seen)
    assert (seen.starts, seen.ends) == ([0, 1, 2], [1, 2, 3])


def test_actions_of_dqn_are_random_before_learning_starts(counting: Any, tmp_path: Path) -> None:
    taken: list[int] = []

    class Steps(BaseCallback):
        def _on_step(self) -> bool:
            taken.append(int(self.locals["actions"][0]))
            return True

    off = {"batch_size": 4, "buffer_size": 300, "learning_rate": 0.0}
    greedy = {"exploration_initial_eps": 0.0, "exploration_final_eps": 0.0}
    model = DQN("MlpPolicy", counting(40), learning_starts=20, seed=0, **off, **greedy, **SIZES)
    model.save(tmp_path / "model")
    for one in (model, DQN.load(tmp_path / "model", env=counting(40), learning_starts=12)):
        taken.clear()
        one.learn(40, callback=Steps())
        starts = one.learning_starts
        assert 4 < sum(taken[:starts]) < starts - 4, "about half of them"
        best = [int(one.predict(np.array([t, 7.0]), deterministic=True)[0]) for t in range(40)]
        assert taken[starts:] == best[starts:]
    assert (
        DQN210("MlpPolicy", counting(), learning_starts=20).agent.plan.noises[0].config.warm_up == 0
    )


def test_models_of_stable_baselines_2_keep_the_value_before_the_collection(counting: Any) -> None:
    used: list[float] = []

    class Ends(BaseCallback210):
        def _on_rollout_end(self) -> None:
            used.append(self.model.agent.run.scheduled()["train/learning_rate"])

    model = PPO2(
        "MlpPolicy", counting(), n_steps=16, nminibatches=1, learning_rate=lambda left: left
    )
    model.learn(64, callback=Ends())
    assert used == [1.0, 0.75, 0.5, 0.25]
    assert model.agent.run.scheduled()["train/learning_rate"] == 0.25
