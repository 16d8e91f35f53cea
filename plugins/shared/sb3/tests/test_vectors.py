"""Vector wrappers as in Stable-Baselines3: stacked frames, monitors, transposed images."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from rlk.errors import PlanError
from rlk_baselines.refusals import MissingInfo
from rlk_sb3 import PPO
from rlk_sb3.common.atari_wrappers import AtariWrapper
from rlk_sb3.common.env_util import (
    is_wrapped,
    make_atari_env,
    make_vec_env,
    unwrap_wrapper,
)
from rlk_sb3.common.monitor import Monitor, load_results
from rlk_sb3.common.vec_env import (
    DummyVecEnv,
    SubprocVecEnv,
    VecExtractDictObs,
    VecFrameStack,
    VecMonitor,
    VecNormalize,
    VecTransposeImage,
    is_vecenv_wrapped,
    unwrap_vec_wrapper,
)
from rlk_sb3.common.vec_env.base_vec_env import (
    VecEnvObs,
    VecEnvStepReturn,
    VecEnvWrapper,
)


class Frames(gymnasium.Env[Any, Any]):
    """Observations are filled with the number of the step, from 1; episodes of 3 steps."""

    def __init__(self, space: Any = None) -> None:
        self.observation_space = space or image(3, 36, 40)
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.steps = 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        return self._seen(), 0.5, self.steps == 3, False, {"steps": self.steps}

    def _seen(self) -> Any:
        space = self.observation_space
        if isinstance(space, spaces.Dict):
            return {key: self._filled(part) for key, part in space.spaces.items()}
        return self._filled(space)

    def _filled(self, space: Any) -> Any:
        return np.full(space.shape, self.steps + 1, space.dtype)


def image(*shape: int) -> spaces.Box:
    return spaces.Box(0, 255, shape, np.uint8)


def vector(space: Any = None, n: int = 2) -> Any:
    return DummyVecEnv([lambda: Frames(space) for _ in range(n)])


@pytest.mark.parametrize(
    ("shape", "order", "stacked"),
    [
        ((3, 36, 40), None, (12, 36, 40)),
        ((36, 40, 3), None, (36, 40, 12)),
        ((3, 36, 40), "last", (3, 36, 160)),
        ((36, 40, 3), "first", (144, 40, 3)),
    ],
)
def test_frames_stand_on_the_axis_of_channels_unless_told_otherwise(
    shape: Any, order: Any, stacked: Any
) -> None:
    env = VecFrameStack(vector(image(*shape)), 4, channels_order=order)
    assert env.observation_space == image(*stacked)
    assert env.reset().shape == (2, *stacked)


def test_numbers_stand_on_the_last_axis() -> None:
    env = VecFrameStack(vector(spaces.Box(-9, 9, (2, 3))), 2)
    assert env.observation_space == spaces.Box(-9, 9, (2, 6))


def test_the_newest_frame_is_last_and_episodes_begin_with_zeros() -> None:
    env = VecFrameStack(vector(), 2)
    first = env.reset()
    assert first[:, :, 0, 0].tolist() == [[0, 0, 0, 1, 1, 1]] * 2
    second = env.step([0, 0])[0]
    assert second[:, :, 0, 0].tolist() == [[1, 1, 1, 2, 2, 2]] * 2
    assert env.reset()[:, :, 0, 0].tolist() == [[0, 0, 0, 1, 1, 1]] * 2, "in the middle"
    env.step([0, 0])
    env.step([0, 0])
    last, _, dones, infos = env.step([0, 0])
    assert dones.all()
    assert infos[1]["terminal_observation"].shape == (6, 36, 40)
    assert infos[1]["terminal_observation"][:, 0, 0].tolist() == [3, 3, 3, 4, 4, 4]
    assert last[:, :, 0, 0].tolist() == [[0, 0, 0, 1, 1, 1]] * 2
    assert first[0, :, 0, 0].tolist() == [0, 0, 0, 1, 1, 1]  # what was given stays as it is


def test_every_part_of_a_dict_is_stacked_on_its_own_axis() -> None:
    space = spaces.Dict({"seen": image(3, 36, 40), "speed": spaces.Box(-9, 9, (2,))})
    env = VecFrameStack(vector(space), 2)
    parts = env.observation_space.spaces
    assert (parts["seen"].shape, parts["speed"].shape) == ((6, 36, 40), (4,))
    env.reset()
    for _ in range(3):
        seen, _, _, infos = env.step([0, 0])
    assert seen["speed"].tolist() == [[0, 0, 1, 1]] * 2
    end = infos[0]["terminal_observation"]
    assert end["speed"].tolist() == [3, 3, 4, 4]
    assert end["seen"][:, 0, 0].tolist() == [3, 3, 3, 4, 4, 4]
    orders = {"seen": "last", "speed": None}
    turned = VecFrameStack(vector(space), 2, channels_order=orders)
    assert turned.observation_space.spaces["seen"].shape == (3, 36, 80)


def test_a_model_learns_from_stacked_frames() -> None:
    env = VecFrameStack(vector(), 4)
    model = PPO("CnnPolicy", env, n_steps=4, batch_size=4, n_epochs=1, seed=0).learn(8)
    assert model.observation_space.shape == (12, 36, 40)
    assert model.predict(env.reset())[0].shape == (2,)


def test_what_cannot_be_stacked_is_refused() -> None:
    with pytest.raises(PlanError, match="takes a Box with axes or a Dict of them"):
        VecFrameStack(vector(spaces.Discrete(3)), 2)
    with pytest.raises(PlanError, match="at least 1 frame"):
        VecFrameStack(vector(), 0)
    with pytest.raises(PlanError, match="'first', 'last' or None"):
        VecFrameStack(vector(), 2, channels_order="middle")
    space = spaces.Dict({"seen": image(3, 36, 40)})
    with pytest.raises(PlanError, match=r"has \['saw'\], but the observation space has \['seen'\]"):
        VecFrameStack(vector(space), 2, channels_order={"saw": "last"})


def test_a_monitor_of_a_vector_reports_every_episode_and_writes_it(tmp_path: Path) -> None:
    env = VecMonitor(vector(), str(tmp_path / "seen"), info_keywords=("steps",))
    env.reset()
    infos = [env.step([0, 0])[3] for _ in range(6)]
    assert ["episode" in info[0] for info in infos] == [False, False, True] * 2
    ended = infos[5][1]["episode"]
    assert {key: ended[key] for key in ("r", "l", "steps")} == {"r": 1.5, "l": 3, "steps": 3}
    assert infos[2][0]["episode"]["t"] <= ended["t"]
    assert infos[5][1]["terminal_observation"].shape == (3, 36, 40)
    assert env.episode_count == 4
    env.close()
    assert (tmp_path / "seen.monitor.csv").exists()
    table = load_results(str(tmp_path))
    assert table["r"].tolist() == [1.5] * 4
    assert table["l"].tolist() == [3] * 4
    assert table["steps"].tolist() == [3] * 4


def test_a_monitor_forgets_episodes_that_a_reset_cuts_off() -> None:
    env = VecMonitor(vector())
    env.reset()
    env.step([0, 0])
    assert (env.episode_returns.tolist(), env.episode_lengths.tolist()) == ([0.5, 0.5], [1, 1])
    env.reset()
    for _ in range(3):
        infos = env.step([0, 0])[3]
    assert infos[0]["episode"]["l"] == 3


def test_a_monitor_of_a_vector_sums_up_returns_and_measures_time_as_other_monitors_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env = VecMonitor(vector())
    env.reset()
    env.step([0, 0])
    env.episode_returns += 2.0**24  # from where float32 has no fractions
    an_hour_ago = time.time() - 3600.0
    monkeypatch.setattr(time, "time", lambda: an_hour_ago)
    for _ in range(2):
        infos = env.step([0, 0])[3]
    episode = infos[0]["episode"]
    assert episode["r"] == 2.0**24 + 1.5 and episode["t"] >= 0.0
    env.episode_returns += 1e-9
    for _ in range(3):
        infos = env.step([0, 0])[3]
    assert infos[0]["episode"]["r"] == 1.5


def test_a_monitor_says_what_an_info_lacks() -> None:
    env = VecMonitor(vector(), info_keywords=("lives",))
    env.reset()
    env.step([0, 0])
    env.step([0, 0])
    with pytest.raises(MissingInfo, match="info_keywords names 'lives'"):
        env.step([0, 0])


def test_vectors_tell_which_wrappers_their_environments_are_in() -> None:
    env = VecFrameStack(make_vec_env("CartPole-v1", n_envs=2), 2)
    assert env.env_is_wrapped(Monitor) == [True, True]
    assert env.env_is_wrapped(gymnasium.wrappers.TimeLimit, indices=1) == [True]
    assert env.env_is_wrapped(gymnasium.wrappers.ClipReward) == [False, False]
    assert env.has_attr("x_threshold") and not env.has_attr("nothing_like_it")


def test_what_resets_say_is_kept() -> None:
    class Said(Frames):
        def reset(self, **keywords: Any) -> Any:
            return super().reset(**keywords)[0], {"seed": keywords["seed"]}

    env = VecMonitor(DummyVecEnv([lambda: Said(spaces.Box(-9, 9, (2,)))] * 2))
    env.seed(5)
    env.reset()
    assert env.reset_infos == [{"seed": 5}, {"seed": 6}]


def test_one_part_of_the_observations_is_shown_also_where_an_episode_ends() -> None:
    parts = spaces.Dict({"a": spaces.Box(-9, 9, (2,)), "b": image(3, 36, 40)})
    env = VecExtractDictObs(vector(parts), "a")
    assert env.observation_space == parts["a"]
    assert env.reset().tolist() == [[1.0, 1.0]] * 2
    for _ in range(3):
        observations, _, _, infos = env.step([0, 0])
    assert observations.tolist() == [[1.0, 1.0]] * 2
    assert infos[1]["terminal_observation"].tolist() == [4.0, 4.0]
    with pytest.raises(PlanError, match="with the key 'c'"):
        VecExtractDictObs(vector(parts), "c")


def test_what_was_normalised_is_brought_back() -> None:
    env = VecNormalize(vector(spaces.Box(-9, 9, (2,))))
    env.reset()
    observations, rewards, _, _ = env.step([0, 0])
    np.testing.assert_allclose(env.unnormalize_obs(observations), env.get_original_obs(), rtol=1e-5)
    np.testing.assert_allclose(env.unnormalize_reward(rewards), env.get_original_reward())
    env.norm_obs = env.norm_reward = False
    assert env.unnormalize_obs(observations) is observations
    assert env.unnormalize_reward(rewards) is rewards


def test_a_second_monitor_warns_and_its_numbers_count() -> None:
    with pytest.warns(UserWarning, match="already wrapped with a `Monitor`"):
        env = VecMonitor(VecNormalize(make_vec_env(Frames, n_envs=2), norm_obs=False))
    env.reset()
    for _ in range(3):
        _, rewards, _, infos = env.step([0, 0])
    assert rewards[0] != 0.5
    assert infos[0]["episode"]["r"] != 1.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        VecMonitor(vector())


def test_a_model_learns_from_a_monitored_vector_and_knows_its_returns() -> None:
    env = VecMonitor(vector(spaces.Box(-9, 9, (2,))))
    model = PPO("MlpPolicy", env, n_steps=8, batch_size=8, n_epochs=1, seed=0).learn(16)
    assert [one["r"] for one in model.ep_info_buffer] == [1.5] * 4


def test_images_are_turned_and_the_last_one_too() -> None:
    env = VecTransposeImage(vector(image(36, 40, 3)))
    assert env.observation_space == image(3, 36, 40)
    assert env.reset().shape == (2, 3, 36, 40)
    for _ in range(3):
        observations, _, dones, infos = env.step([0, 0])
    assert dones.all()
    assert observations.shape == (2, 3, 36, 40)
    assert infos[0]["terminal_observation"].shape == (3, 36, 40)
    assert np.all(infos[0]["terminal_observation"] == 4)
    picture = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    assert env.transpose_image(picture)[1, 0, 2] == picture[0, 2, 1]
    assert env.transpose_image(picture[None])[0, 1, 0, 2] == picture[0, 2, 1]


def test_only_images_of_a_dict_are_turned() -> None:
    space = spaces.Dict({"seen": image(36, 40, 3), "speed": spaces.Box(-9, 9, (2, 3))})
    env = VecTransposeImage(vector(space))
    shapes = {key: part.shape for key, part in env.observation_space.spaces.items()}
    assert shapes == {"seen": (3, 36, 40), "speed": (2, 3)}
    assert space.spaces["seen"].shape == (36, 40, 3)
    for seen in (env.reset(), env.step([0, 0])[0]):
        assert {key: one.shape[1:] for key, one in seen.items()} == shapes
    env.step([0, 0])
    end = env.step([0, 0])[3][0]["terminal_observation"]
    assert {key: one.shape for key, one in end.items()} == shapes


def test_what_cannot_be_turned_is_refused_and_may_be_skipped() -> None:
    with pytest.raises(PlanError, match=r"shape \(3, 36, 40\), with channels first"):
        VecTransposeImage(vector())
    with pytest.raises(PlanError, match="part 'seen' of the observations"):
        VecTransposeImage(vector(spaces.Dict({"seen": image(3, 36, 40)})))
    with pytest.raises(PlanError, match="takes images or a Dict with them"):
        VecTransposeImage(vector(spaces.Box(-9, 9, (2,))))
    env = VecTransposeImage(vector(), skip=True)
    assert env.observation_space == image(3, 36, 40)
    assert env.reset().shape == (2, 3, 36, 40)


def test_a_model_learns_from_turned_and_stacked_images() -> None:
    env = VecFrameStack(VecTransposeImage(vector(image(36, 40, 3))), 2)
    model = PPO("CnnPolicy", env, n_steps=4, batch_size=4, n_epochs=1, seed=0).learn(8)
    assert model.observation_space == image(6, 36, 40)


def test_a_documented_wrapper_of_vectors_finds_its_types() -> None:
    class Doubled(VecEnvWrapper):
        def reset(self) -> VecEnvObs:
            return 2 * self.venv.reset()

        def step_wait(self) -> VecEnvStepReturn:
            seen, *rest = self.venv.step_wait()
            return (2 * seen, *rest)

    vector = Doubled(DummyVecEnv([Frames]))
    assert vector.reset().max() == 2 and vector.step([0])[0].max() == 4


def test_wrappers_of_a_vector_are_found() -> None:
    inner = VecMonitor(vector(spaces.Box(-9, 9, (2,))))
    env = VecNormalize(inner)
    assert unwrap_vec_wrapper(env, VecMonitor) is inner
    assert unwrap_vec_wrapper(env, VecNormalize) is env
    assert unwrap_vec_wrapper(env, VecTransposeImage) is None
    assert is_vecenv_wrapped(env, VecMonitor)
    assert not is_vecenv_wrapped(inner, VecNormalize)
    assert not is_vecenv_wrapped(inner.venv, VecMonitor)


def test_a_vector_of_processes_is_monitored() -> None:
    made = make_vec_env("CartPole-v1", n_envs=2, seed=0, vec_env_cls=SubprocVecEnv)
    with pytest.warns(UserWarning, match="already wrapped with a `Monitor`"):
        env = VecMonitor(made)
    assert env.env_is_wrapped(Monitor, indices=[1]) == [True]
    assert not env.has_attr("nothing_like_it")
    env.reset()
    length, dones, infos = 0, np.zeros(2, bool), []
    while not dones[0]:  # pushed to one side, a pole falls within some ten steps
        _, _, dones, infos = env.step([1, 1])
        length += 1
    env.close()
    assert (infos[0]["episode"]["r"], infos[0]["episode"]["l"]) == (length, length)


def test_games_are_in_a_monitor_outside_their_preprocessing() -> None:
    pytest.importorskip("ale_py", reason="ale-py is an extra")
    env = make_vec_env("PongNoFrameskip-v4", 1, wrapper_class=AtariWrapper, monitor_kwargs={})
    inner = env.envs[0]
    assert is_wrapped(inner, AtariWrapper) and is_wrapped(inner, Monitor)
    assert is_wrapped(unwrap_wrapper(inner, Monitor).env, AtariWrapper)
    assert env.reset().shape == (1, 84, 84, 1)


def test_a_monitor_around_a_game_stays_outside_its_preprocessing() -> None:
    pytest.importorskip("ale_py")
    monitor = Monitor(gymnasium.make("PongNoFrameskip-v4"))
    env = AtariWrapper(monitor, screen_size=42)
    assert env is monitor and isinstance(monitor.env, AtariWrapper)
    assert env.observation_space.shape == (42, 42, 1) == env.reset(seed=1)[0].shape
    assert env.step(0)[0].shape == (42, 42, 1) and env.get_total_steps() == 1


def test_an_atari_game_repeats_actions_by_itself() -> None:
    pytest.importorskip("ale_py")
    with pytest.raises(ValueError, match=r"env_kwargs=dict\(repeat_action_probability=0\.25\)"):
        make_atari_env("PongNoFrameskip-v4", 1, wrapper_kwargs={"action_repeat_probability": 0.25})
    env = make_atari_env(
        "PongNoFrameskip-v4",
        1,
        wrapper_kwargs={"action_repeat_probability": 0.0},
        env_kwargs={"repeat_action_probability": 0.25},
    )
    (inner,) = env.get_attr("unwrapped")
    assert inner.ale.getFloat("repeat_action_probability") == 0.25
