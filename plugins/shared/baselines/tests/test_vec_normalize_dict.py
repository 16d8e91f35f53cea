"""`VecNormalize` of Dict observations, as in Stable-Baselines3."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import Env, spaces

from rlk.errors import PlanError
from rlk_baselines import DQN, PPO2
from rlk_baselines.common.callbacks import BaseCallback, EvalCallback
from rlk_baselines.common.vec_env import DummyVecEnv, VecNormalize, sync_envs_normalization
from rlk_sb3 import PPO, SAC, HerReplayBuffer
from rlk_testing.tools.stable_baselines_pickles import stand_in

BOX = spaces.Box(-np.inf, np.inf, (2,), np.float32)


class Parts(Env[Any, Any]):
    """Observes the number of steps: as a position, as a velocity, and as an integer."""

    def __init__(self, length: int = 3) -> None:
        self.observation_space = spaces.Dict(
            {"place": BOX, "speed": BOX, "room": spaces.Discrete(9)}
        )
        self.action_space = spaces.Discrete(2)
        self.length, self.steps = length, 0

    def _shown(self) -> Any:
        place = np.array([self.steps, 7.0], np.float32)
        return {"place": place, "speed": 10 * place, "room": self.steps}

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.steps = 0
        return self._shown(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        return self._shown(), 5.0, self.steps == self.length, False, {}


class Goals(Parts):
    """The same steps towards a goal that is only reached in hindsight."""

    def __init__(self) -> None:
        super().__init__()
        keys = ("observation", "achieved_goal", "desired_goal")
        self.observation_space = spaces.Dict(dict.fromkeys(keys, BOX))
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)  # type: ignore[assignment]

    def _shown(self) -> Any:
        place = super()._shown()["place"]
        return {"observation": 10 * place, "achieved_goal": place, "desired_goal": 0 * place}

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        return -(achieved_goal != desired_goal).any(-1).astype(np.float32)

    def step(self, action: Any) -> Any:
        self.steps += 1
        return self._shown(), -1.0, False, self.steps == self.length, {}


def parts(**keywords: Any) -> VecNormalize:
    return VecNormalize(DummyVecEnv([Parts, Parts]), **keywords)


def test_every_box_has_its_own_statistics() -> None:
    env = parts()
    env.reset()
    obs = env.step([0, 0])[0]
    # Rows of reset (0, 7) and step (1, 7), two of each, over a prior of weight 1e-4.
    mean = 2 * 1 / 4.0001
    assert set(env.obs_rms) == {"place", "speed"}
    assert env.obs_rms["place"].mean[0] == pytest.approx(mean)
    assert env.obs_rms["speed"].mean[0] == pytest.approx(10 * mean)
    for key, step in (("place", 1), ("speed", 10)):
        rms = env.obs_rms[key]
        expected = (step - rms.mean[0]) / np.sqrt(rms.var[0] + 1e-8)
        assert obs[key][:, 0] == pytest.approx([expected] * 2, rel=1e-5)
        assert obs[key].dtype == np.float32
    assert obs["room"].tolist() == [1, 1]
    original = env.get_original_obs()
    assert original["place"].tolist() == [[1, 7], [1, 7]]
    assert np.allclose(env.unnormalize_obs(obs)["speed"], original["speed"], atol=1e-4)
    env.step([0, 0])
    infos = env.step([0, 0])[3]
    last = {"place": np.array([3, 7]), "speed": np.array([30, 70]), "room": 3}
    for key, part in env.normalize_obs(last).items():
        assert np.allclose(infos[0]["terminal_observation"][key], part, atol=0.2)


@pytest.mark.parametrize("kind", [list, iter])
def test_keys_may_be_chosen(kind: Any) -> None:
    env = parts(norm_obs_keys=kind(["speed"]))
    obs = env.reset()
    assert env.norm_obs_keys == ["speed"] and set(env.obs_rms) == {"speed"}
    assert obs["place"].tolist() == [[0, 7], [0, 7]]
    assert obs["speed"].tolist() != [[0, 70], [0, 70]]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (["spead"], r"'spead', which is not there. It takes keys that are a Box: place, speed"),
        (["room"], r"'room', which is Discrete\(9\). It takes keys .* a Box: place, speed"),
    ],
)
def test_a_key_that_is_not_there_or_no_box_is_refused(keys: Any, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        parts(norm_obs_keys=keys)


def test_keys_are_refused_for_anything_but_a_dict(counting: Any) -> None:
    with pytest.raises(PlanError, match=r"keys of a Dict.*Leave norm_obs_keys out"):
        VecNormalize(DummyVecEnv([counting]), norm_obs_keys=["place"])


def test_other_observations_are_left_alone_if_only_rewards_are_normalised() -> None:
    class Number(Parts):
        def __init__(self) -> None:
            super().__init__()
            self.observation_space = spaces.Discrete(9)  # type: ignore[assignment]

        def _shown(self) -> Any:
            return self.steps

    env = VecNormalize(DummyVecEnv([Number]), norm_obs=False)
    assert env.reset().tolist() == [0]
    assert env.step([0])[1] != 5.0
    with pytest.raises(PlanError, match=r"Discrete\(9\).*norm_obs=False"):
        VecNormalize(DummyVecEnv([Number]))


def test_an_image_that_is_normalised_is_shown_as_numbers() -> None:
    class Pictures(Parts):
        def __init__(self) -> None:
            super().__init__()
            image = spaces.Box(0, 255, (36, 36, 3), np.uint8)
            self.observation_space = spaces.Dict({"image": image, "place": BOX})

        def _shown(self) -> Any:
            shown = np.full((36, 36, 3), 9 * self.steps, np.uint8)
            return {"image": shown, "place": super()._shown()["place"]}

    env = VecNormalize(DummyVecEnv([Pictures]), clip_obs=4.0)
    assert env.observation_space["image"] == spaces.Box(-4.0, 4.0, (36, 36, 3), np.float32)
    assert env.observation_space.contains({k: v[0] for k, v in env.reset().items()})
    env = VecNormalize(DummyVecEnv([Pictures]), norm_obs_keys=["place"])
    assert env.observation_space == env.venv.observation_space


class Bytes(Parts):
    """Observes integers: an image, or the memory of a game."""

    def __init__(self, *shape: int) -> None:
        super().__init__(length=20)
        self.observation_space = spaces.Box(0, 255, shape, np.uint8)  # type: ignore[assignment]
        self.rng = np.random.default_rng(0)

    def _shown(self) -> Any:
        shape: Any = self.observation_space.shape
        return self.rng.integers(0, 256, shape, np.uint8)


@pytest.mark.parametrize("shape", [(36, 36, 3), (5,)])
def test_models_learn_from_whole_numbers_as_they_are_normalised(shape: Any) -> None:
    env = VecNormalize(DummyVecEnv([lambda: Bytes(*shape)]), clip_obs=4.0)
    assert env.observation_space == spaces.Box(-4.0, 4.0, shape, np.float32)
    model = PPO2("CnnPolicy" if len(shape) == 3 else "MlpPolicy", env, n_steps=16, seed=0)
    model.learn(16)
    learnt_from = next(model.agent.run.algorithm.batches(model.agent.run.storage)).observation
    assert learnt_from.dtype == torch.float32
    assert learnt_from.min() < -0.5 and 0.5 < learnt_from.max() <= 4.0
    only_rewards = VecNormalize(DummyVecEnv([lambda: Bytes(*shape)]), norm_obs=False)
    assert only_rewards.observation_space.dtype == np.uint8


def test_statistics_are_saved_copied_and_continue(tmp_path: Path) -> None:
    env = parts(norm_obs_keys=["place"])
    env.reset()
    env.step([0, 0])
    env.save(tmp_path / "stats.pkl")
    loaded = VecNormalize.load(tmp_path / "stats.pkl", DummyVecEnv([Parts]))
    other = parts(norm_obs_keys=["place"], training=False)
    sync_envs_normalization(env, other)
    for found in (loaded, other):
        assert set(found.obs_rms) == {"place"} and found.norm_obs_keys == ["place"]
        assert found.obs_rms["place"].mean.tolist() == env.obs_rms["place"].mean.tolist()
    env.save_running_average(tmp_path)
    again = parts(norm_obs_keys=["place"])
    again.load_running_average(tmp_path)
    assert again.obs_rms["place"].count == env.obs_rms["place"].count


def test_a_file_of_stable_baselines3_is_read(tmp_path: Path) -> None:
    with (
        stand_in("stable_baselines3.common.vec_env.vec_normalize.VecNormalize") as vector,
        stand_in("stable_baselines3.common.running_mean_std.RunningMeanStd") as statistics,
    ):
        moments, there = statistics(), vector()
        vars(moments).update(mean=np.array([1.0, 2.0]), var=np.array([4.0, 9.0]), count=5.0)
        vars(there).update(
            dict.fromkeys(("training", "norm_obs", "norm_reward"), True),
            clip_obs=10.0,
            clip_reward=4.0,
            gamma=0.9,
            epsilon=1e-8,
            norm_obs_keys=["speed"],
            obs_rms={"speed": moments},
            ret_rms=moments,
        )
        (tmp_path / "stats.pkl").write_bytes(pickle.dumps(there))
    found = VecNormalize.load(tmp_path / "stats.pkl", DummyVecEnv([Parts]))
    assert found.norm_obs_keys == ["speed"]
    obs = found.normalize_obs({"place": np.zeros(2), "speed": np.array([5.0, 5.0])})
    assert obs["place"].tolist() == [0.0, 0.0] and obs["speed"].tolist() == [2.0, 1.0]


def test_statistics_of_other_observations_are_refused(counting: Any, tmp_path: Path) -> None:
    parts().save(tmp_path / "parts.pkl")
    VecNormalize(DummyVecEnv([counting])).save(tmp_path / "box.pkl")
    with pytest.raises(ValueError, match="these statistics are of"):
        VecNormalize.load(tmp_path / "parts.pkl", DummyVecEnv([counting]))
    with pytest.raises(ValueError, match="these statistics are of"):
        VecNormalize.load(tmp_path / "box.pkl", DummyVecEnv([Parts]))


def test_a_model_learns_and_is_evaluated_by_them() -> None:
    env, evaluation = parts(), VecNormalize(DummyVecEnv([Parts]), training=False)
    model = PPO2("MultiInputPolicy", env, n_steps=8, seed=0)
    model.learn(32, callback=EvalCallback(evaluation, eval_freq=8, n_eval_episodes=1))
    assert evaluation.obs_rms["place"].count > 8


def test_a_replay_keeps_what_the_environment_gave() -> None:
    seen: list[Any] = []

    class Looks(BaseCallback):
        def _on_step(self) -> bool:
            seen.append((self.locals["obs_"], self.locals["new_obs_"]))
            return True

    env = VecNormalize(DummyVecEnv([Parts]))
    model = DQN("MultiInputPolicy", env, learning_starts=4, batch_size=4, seed=0)
    model.learn(7, callback=Looks())
    assert [float(before["place"][0]) for before, _ in seen] == [0, 1, 2, 0, 1, 2, 0]
    assert [float(after["place"][0]) for _, after in seen] == [1, 2, 3, 1, 2, 3, 1]
    before, _, _, after, _ = model.replay_buffer.sample(64)
    pairs = zip(before["place"][:, 0], after["place"][:, 0], strict=True)
    assert set(pairs) == {(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)}
    normalised = model.agent.run.storage.sample(64).observation
    for step in range(3):
        shown = {key: np.asarray(part)[None] for key, part in seen[step][0].items()}
        expected = env.normalize_obs({key: part.reshape(1, -1) for key, part in shown.items()})
        rows = np.flatnonzero(normalised["room"] == step)
        for key in ("place", "speed"):
            assert len(rows) and np.allclose(normalised[key][rows], expected[key])
            assert normalised[key].dtype == torch.float32


def test_hindsight_compares_goals_as_the_environment_gave_them() -> None:
    env = VecNormalize(DummyVecEnv([Goals]), norm_obs_keys=["observation", "achieved_goal"])
    model = SAC(
        "MultiInputPolicy",
        env,
        replay_buffer_class=HerReplayBuffer,
        learning_starts=20,
        buffer_size=200,
        batch_size=8,
        seed=0,
    ).learn(60)
    batch = model.replay_buffer.sample(200)
    before = batch.observations
    assert set(batch.rewards[:, 0].tolist()) == {-1.0, 0.0}
    assert set(before["observation"][:, 0].tolist()) == {0.0, 10.0, 20.0}
    assert set(before["achieved_goal"][:, 0].tolist()) == {0.0, 1.0, 2.0}
    assert model.agent.run.clock.updates > 0


def test_it_is_what_its_documentation_there_shows(tmp_path: Path) -> None:
    env = parts(norm_obs=True, norm_reward=True, clip_obs=10.0, norm_obs_keys=["place"])
    model = PPO("MultiInputPolicy", env, n_steps=8, batch_size=8, seed=0).learn(16)
    model.save(tmp_path / "model")
    env.save(tmp_path / "stats.pkl")
    again = VecNormalize.load(tmp_path / "stats.pkl", DummyVecEnv([Parts]))
    again.training, again.norm_reward = False, False
    loaded = PPO.load(tmp_path / "model", env=again)
    obs = again.reset()
    assert loaded.predict(obs, deterministic=True)[0].shape == (1,)
