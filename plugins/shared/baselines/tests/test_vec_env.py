from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec

from rlk.errors import BadFile, EnvironmentFailed, PlanError, RlkError
from rlk_baselines import gym
from rlk_baselines.common.vec_env import (
    AlreadySteppingError,
    DummyVecEnv,
    NotSteppingError,
    SubprocVecEnv,
    VecCheckNan,
    VecEnvWrapper,
    VecFrameStack,
    VecNormalize,
    VecVideoRecorder,
    sync_envs_normalization,
    unwrap_vec_normalize,
)
from rlk_baselines.common.vec_env.vector_view import infos_of
from rlk_baselines.environments.five_values import ShownEnv


def test_an_episode_begins_anew_and_its_last_observation_is_in_the_info(counting) -> None:
    env = DummyVecEnv([lambda: counting(2), lambda: counting(3)])
    assert env.reset().tolist() == [[0, 7], [0, 7]]
    env.step([0, 1])
    obs, rewards, dones, infos = env.step([0, 1])
    assert obs.tolist() == [[0, 7], [2, 7]]
    assert rewards.tolist() == [1.0, 1.0] and dones.tolist() == [True, False]
    assert infos[0].pop("terminal_observation").tolist() == [2, 7]
    assert infos == [
        {"steps": 2, "nested": {"action": 0}, "TimeLimit.truncated": False},
        {"steps": 2, "nested": {"action": 1}},
    ]


@pytest.mark.parametrize("vector", [DummyVecEnv, partial(SubprocVecEnv, start_method="fork")])
@pytest.mark.parametrize(
    "info", [{"x": 1, "_x": 0}, {"_x": "a", "x": {"y": 1, "_y": 2.0}}, {"final_obs": 7}]
)
def test_keys_that_begin_as_a_mask_stay_in_the_infos(
    counting, vector: Any, info: dict[str, Any]
) -> None:
    class Told(counting):
        def step(self, action: Any) -> Any:
            observation, reward, done, _ = super().step(action)
            return observation, reward, done, dict(info)

    env = vector([lambda: Told(2), lambda: Told(1)])
    env.reset()
    first, last = env.step([0, 1])[3]
    assert first == info
    assert last.pop("terminal_observation").tolist() == [1, 7]
    assert last == {**info, "TimeLimit.truncated": False}
    env.close()


def test_actions_of_another_number_than_environments_are_refused(counting) -> None:
    env = DummyVecEnv([counting, counting])
    env.reset()
    with pytest.raises(ValueError, match=r"shape \(1,\), not \(2,\): one row for each env"):
        env.step([0])


def test_what_a_step_gave_stays_when_others_follow(counting) -> None:
    env = DummyVecEnv([counting])
    first = env.reset()
    second, rewards, _, _ = env.step([0])
    env.set_attr("reward", 9.0)
    env.step([0])
    assert first.tolist() == [[0, 7]] and second.tolist() == [[1, 7]] and rewards.tolist() == [1]


def test_a_truncated_episode_is_marked_and_one_that_ended_by_itself_is_not(counting) -> None:
    env = DummyVecEnv([lambda: counting(1, truncated=True), lambda: counting(1)])
    env.reset()
    *_, infos = env.step([0, 0])
    assert [info["TimeLimit.truncated"] for info in infos] == [True, False]
    both = *np.zeros((2, 1, 2)), np.array([True]), np.array([True]), {"final_obs": np.ones((1, 2))}
    assert infos_of(1, both)[0]["TimeLimit.truncated"] is False, "the last state is terminal"


def test_environments_of_gymnasium_give_four_values_too() -> None:
    env = DummyVecEnv([lambda: gymnasium.make("CartPole-v1", max_episode_steps=1)])
    assert env.reset().shape == (1, 4)
    _, rewards, dones, infos = env.step([0])
    assert (rewards.tolist(), dones.tolist()) == ([1.0], [True])
    assert infos[0]["TimeLimit.truncated"] and infos[0]["terminal_observation"].shape == (4,)


def test_seeds_reach_the_environments_with_the_next_reset(counting) -> None:
    env = DummyVecEnv([counting, counting])
    assert env.seed(5) == [5, 6]
    env.reset()
    env.reset()
    assert env.get_attr("seeds") == [[5], [6]]


def test_attributes_and_methods_are_reached_by_index(counting) -> None:
    env = DummyVecEnv([counting, counting])
    env.set_attr("length", 9, indices=1)
    assert env.get_attr("length") == [3, 9] and env.get_attr("length", 1) == [9]
    assert env.env_method("double", 4, indices=[0]) == [8]
    assert [type(one) for one in env.envs] == [counting, counting]


def test_steps_do_not_overlap(counting) -> None:
    env = DummyVecEnv([counting])
    env.reset()
    with pytest.raises(NotSteppingError):
        env.step_wait()
    env.step_async([0])
    with pytest.raises(AlreadySteppingError):
        env.step_async([0])
    assert env.reset().tolist() == [[0, 7]], "a reset discards the step"
    assert env.step([0])[0].tolist() == [[1, 7]]


def test_frames_are_tiled(counting) -> None:
    env = DummyVecEnv([counting] * 3)
    env.reset()
    env.step([0, 0, 0])
    image = env.render(mode="rgb_array")
    assert image.shape == (8, 12, 3) and image[0, 0, 0] == 1 and image[7, 11, 0] == 0


def test_workers_give_what_a_loop_gives(counting) -> None:
    vectors = [DummyVecEnv([counting] * 2), SubprocVecEnv([counting] * 2, start_method="fork")]
    found = []
    for env in vectors:
        steps = [env.reset().tolist()]
        for _ in range(4):
            obs, rewards, dones, infos = env.step([1, 0])
            steps.append([obs.tolist(), rewards.tolist(), dones.tolist(), repr(infos)])
        found.append((steps, env.env_method("double", 2), env.render("rgb_array").tolist()))
        env.close()
    assert found[0] == found[1]


def test_a_wrapper_reaches_what_is_inside_and_says_where_it_is_hidden(counting) -> None:
    class Plain(VecEnvWrapper):
        def reset(self):
            return self.venv.reset()

        def step_wait(self):
            return self.venv.step_wait()

    inner = Plain(DummyVecEnv([counting]))
    inner.mark = 1
    outer = Plain(inner)
    assert outer.mark == 1 and outer.unwrapped is inner.venv and len(outer.envs) == 1
    inner.venv.mark = 2
    with pytest.raises(AttributeError, match="several"):
        _ = Plain(outer).mark
    outer.far, inner.venv.far = 1, 2
    with pytest.raises(AttributeError, match="several"):
        _ = Plain(outer).far


# ---- wrappers ------------------------------------------------------------------------------------


def test_frames_are_stacked_the_newest_last_and_an_episode_begins_with_zeros(counting) -> None:
    env = VecFrameStack(DummyVecEnv([lambda: counting(2)]), n_stack=2)
    assert env.observation_space.shape == (4,)
    assert env.reset().tolist() == [[0, 0, 0, 7]]
    assert env.step([0])[0].tolist() == env.stackedobs.tolist() == [[0, 7, 1, 7]]
    obs, _, _, infos = env.step([0])
    assert obs.tolist() == [[0, 0, 0, 7]]
    assert infos[0]["terminal_observation"].tolist() == [1, 7, 2, 7]


def test_a_stack_begins_anew_with_a_reset_and_those_returned_do_not_change(counting) -> None:
    env = VecFrameStack(DummyVecEnv([counting]), n_stack=2)
    env.reset()[:] = 50.0
    found = env.step([0])[0]
    assert env.reset().tolist() == [[0, 0, 0, 7]], "nothing of the episode that was cut off"
    assert found.tolist() == [[0, 7, 1, 7]], "what is returned belongs to the program"


def test_observations_and_rewards_are_normalised(counting) -> None:
    env = VecNormalize(DummyVecEnv([lambda: counting(9), lambda: counting(9, reward=3.0)]))
    env.reset()
    obs, rewards, _, _ = env.step([0, 0])
    # Rows of reset (0, 7) and step (1, 7), two of each, over a prior of weight 1e-4.
    mean = 2 * 1 / 4.0001
    assert env.obs_rms.mean[0] == pytest.approx(mean)
    expected = (1 - mean) / np.sqrt(env.obs_rms.var[0] + 1e-8)
    assert obs[0, 0] == pytest.approx(expected, rel=1e-5)
    assert env.get_original_obs().tolist() == [[1, 7], [1, 7]]
    assert env.get_original_reward().tolist() == [1.0, 3.0]
    assert rewards == pytest.approx(np.array([1, 3]) / np.sqrt(env.ret_rms.var + 1e-8))


def test_statistics_stay_when_it_is_not_training(counting) -> None:
    env = VecNormalize(DummyVecEnv([counting]), training=False)
    env.reset()
    env.step([0])
    assert env.obs_rms.count == env.ret_rms.count == 1e-4


def test_statistics_are_saved_and_copied(counting, tmp_path: Path) -> None:
    env = VecNormalize(DummyVecEnv([counting]), clip_obs=5.0)
    env.reset()
    env.step([0])
    env.save(save_path=tmp_path / "stats.pkl")
    loaded = VecNormalize.load(tmp_path / "stats.pkl", DummyVecEnv([counting]))
    assert loaded.clip_obs == 5.0 and loaded.obs_rms.mean.tolist() == env.obs_rms.mean.tolist()
    other = VecNormalize(DummyVecEnv([counting]))
    sync_envs_normalization(VecCheckNan(env), VecCheckNan(other))
    assert other.obs_rms.mean.tolist() == env.obs_rms.mean.tolist()
    assert unwrap_vec_normalize(VecCheckNan(env)) is env
    assert unwrap_vec_normalize(env.venv) is None


def test_a_file_with_code_in_it_is_refused_and_nothing_of_it_runs(counting, tmp_path: Path) -> None:
    path = tmp_path / "stats.pkl"
    path.write_bytes(b"cos\nsystem\n(S'touch %s/ran'\ntR." % str(tmp_path).encode())
    with pytest.raises(BadFile, match=r"os\.system"):
        VecNormalize.load(path, DummyVecEnv([counting]))
    assert not (tmp_path / "ran").exists()


def test_numbers_that_are_not_finite_are_found(counting) -> None:
    env = VecCheckNan(DummyVecEnv([lambda: counting(reward=float("nan"))]), raise_exception=True)
    env.reset()
    with pytest.raises(ValueError, match=r"NaN in rewards.*environment.*last actions"):
        env.step([0])
    with pytest.raises(ValueError, match=r"inf in actions.*RL model"):
        env.step(np.array([np.inf]))
    env = VecCheckNan(DummyVecEnv([lambda: counting(reward=float("inf"))]))
    env.reset()
    with pytest.warns(UserWarning, match="inf in rewards"):
        env.step([0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.step([0])


def test_numbers_are_looked_for_in_parts_and_infinity_only_if_asked(counting) -> None:
    env = VecCheckNan(DummyVecEnv([counting]), raise_exception=True, check_inf=False)
    found = (np.zeros((1, 1)), {"a": np.array([[np.inf]]), "b": np.array([[np.inf]])})
    env.venv.reset = lambda: found
    assert env.reset() is found
    found[1]["b"][:] = np.nan
    with pytest.raises(ValueError, match=r"found NaN in observations\[1\]\['b'\]\. It came"):
        env.reset()


def test_actions_of_an_earlier_episode_did_not_lead_to_a_number_of_a_reset(counting) -> None:
    env = VecCheckNan(DummyVecEnv([counting]), raise_exception=True)
    env.reset()
    env.step([0])
    env.venv.reset = lambda: np.array([[np.nan, 7.0]])
    with pytest.raises(ValueError, match="the last observations were") as failed:
        env.reset()
    assert "actions" not in str(failed.value)


def test_a_video_has_its_first_and_last_step_in_its_name(counting, tmp_path: Path) -> None:
    pytest.importorskip("imageio_ffmpeg")
    env = VecVideoRecorder(
        DummyVecEnv([lambda: gym.make("CartPole-v1")]), str(tmp_path), lambda step: step == 0, 3
    )
    env.reset()
    for _ in range(4):
        env.step([0])
    env.close()
    assert [path.name for path in tmp_path.iterdir()] == ["rl-video-step-0-to-step-3.mp4"]


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        (np.zeros((8, 8), np.uint8), None),
        (np.zeros((8, 8, 3)), r"rendered float64 \[8, 8, 3\]"),
        ([], "rendered list"),
        (None, "rendered NoneType"),
    ],
)
def test_a_video_of_other_images(counting, tmp_path: Path, frame: Any, told: str | None) -> None:
    pytest.importorskip("imageio_ffmpeg")

    class Renders(counting):
        def render(self, mode: str = "human") -> Any:
            return frame

    env = VecVideoRecorder(DummyVecEnv([Renders]), str(tmp_path), lambda step: step == 0, 3)
    if told is None:
        env.reset()
        for _ in range(4):
            env.step([0])
        assert [path.suffix for path in tmp_path.iterdir()] == [".mp4"]
        return
    with pytest.raises(RlkError, match=told):
        env.reset()
    env.close()
    assert list(tmp_path.iterdir()) == []


# ---- what is refused -----------------------------------------------------------------------------


def test_an_environment_in_the_place_of_a_function_is_refused(counting) -> None:
    with pytest.raises(PlanError, match="lambda: env"):
        DummyVecEnv([counting()])


def test_a_step_of_other_values_is_refused(counting) -> None:
    class Three(counting):
        def step(self, action):
            return self.reset(), 0.0, False

    env = ShownEnv(Three())
    env.reset()
    with pytest.raises(EnvironmentFailed, match=r"3 values; expected \(observation, reward, done"):
        env.step(0)


def test_an_environment_that_says_how_long_episodes_are_is_cut_off_there(counting) -> None:
    env = ShownEnv(gym.wrappers.TimeLimit(counting(9), 2))
    env.reset()
    assert env.step(0)[2:4] == (False, False) and env.step(0)[2:4] == (False, True)


def test_an_old_environment_that_gymnasium_made_loses_the_wrappers_that_fail_for_it(
    counting, monkeypatch
):
    class Old(gym.Env):
        observation_space, action_space = counting().observation_space, counting().action_space

        def reset(self):
            return np.zeros(2, np.float32)

        def step(self, action):
            return np.zeros(2, np.float32), 0.0, False, {}

    old = EnvSpec("rlk_tests/Old-v0", Old, max_episode_steps=2)
    monkeypatch.setitem(gymnasium.registry, old.id, old)
    env = gym.make("rlk_tests/Old-v0")
    env.reset()
    env.step(0)
    assert env.step(0)[2:] == (True, {"TimeLimit.truncated": True})
    assert ShownEnv(gymnasium.make("rlk_tests/Old-v0")).reset()[1] == {}
