"""The modules and small names of Stable-Baselines3 that programs import."""

from __future__ import annotations

import importlib
import io
import subprocess
import sys
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import PIL.Image
import pytest
import torch
from gymnasium import spaces

from rlk.errors import PlanError
from rlk_sb3 import DQN, PPO, TD3, elsewhere, get_system_info
from rlk_sb3.common import preprocessing, utils
from rlk_sb3.common.atari_wrappers import (
    ClipRewardEnv,
    EpisodicLifeEnv,
    FireResetEnv,
    MaxAndSkipEnv,
    NoopResetEnv,
    StickyActionEnv,
)
from rlk_sb3.common.base_class import maybe_make_env
from rlk_sb3.common.buffers import DictReplayBuffer, ReplayBuffer
from rlk_sb3.common.env_util import is_wrapped, unwrap_wrapper
from rlk_sb3.common.logger import Figure, HParam, Image, configure
from rlk_sb3.common.monitor import Monitor
from rlk_sb3.common.policies import ActorCriticCnnPolicy, BasePolicy
from rlk_sb3.common.torch_layers import create_mlp, get_actor_critic_arch
from rlk_sb3.common.type_aliases import TrainFreq, TrainFrequencyUnit
from rlk_sb3.common.vec_env.patch_gym import _patch_env
from rlk_sb3.ppo.policies import CnnPolicy

#: Module of `rlk_sb3` -> names in it.
IMPORTED = {
    **{f"{name}.{name}": name.upper() for name in ("a2c", "ddpg", "dqn", "ppo", "sac", "td3")},
    **{f"{name}.policies": "MlpPolicy CnnPolicy MultiInputPolicy" for name in ("a2c", "ppo")},
    "dqn.policies": "DQNPolicy MlpPolicy",
    "sac.policies": "SACPolicy MlpPolicy",
    "td3.policies": "TD3Policy CnnPolicy",
    "ddpg.policies": "MultiInputPolicy",
    "her.her_replay_buffer": "HerReplayBuffer",
    "her.goal_selection_strategy": "GoalSelectionStrategy KEY_TO_GOAL_STRATEGY",
    "common.base_class": "BaseAlgorithm",
    "common.on_policy_algorithm": "OnPolicyAlgorithm",
    "common.off_policy_algorithm": "OffPolicyAlgorithm",
    "common.envs.bit_flipping_env": "BitFlippingEnv",
    "common.envs.identity_env": "IdentityEnvBox",
    "common.envs": "IdentityEnv IdentityEnvMultiBinary IdentityEnvMultiDiscrete",
    "common.results_plotter": "plot_results rolling_window ts2xy window_func X_EPISODES",
    "common.running_mean_std": "RunningMeanStd",
    "common.type_aliases": "GymEnv GymStepReturn MaybeCallback Schedule TensorDict PyTorchObs",
    "common.vec_env": "VecExtractDictObs",
    "common.vec_env.base_vec_env": "VecEnv VecEnvWrapper CloudpickleWrapper tile_images",
    "common.vec_env.dummy_vec_env": "DummyVecEnv",
    "common.vec_env.stacked_observations": "StackedObservations",
    "common.vec_env.subproc_vec_env": "SubprocVecEnv",
    "common.vec_env.vec_check_nan": "VecCheckNan",
    "common.vec_env.vec_extract_dict_obs": "VecExtractDictObs",
    "common.vec_env.vec_frame_stack": "VecFrameStack",
    "common.vec_env.vec_monitor": "VecMonitor",
    "common.vec_env.vec_normalize": "VecNormalize",
    "common.vec_env.vec_transpose": "VecTransposeImage",
    "common.vec_env.vec_video_recorder": "VecVideoRecorder",
}


class Game(gymnasium.Env[Any, Any]):
    """Counts frames; the second life, and so the game, ends at frame 9."""

    observation_space = spaces.Box(0, 255, (2, 2, 1), np.uint8)
    action_space = spaces.Discrete(4)

    def __init__(self) -> None:
        self.ale, self.frame = self, 0
        self.actions: list[int] = []

    def get_action_meanings(self) -> list[str]:
        return ["NOOP", "FIRE", "RIGHT", "LEFT"]

    def lives(self) -> int:
        return 2 if self.frame < 5 else 1

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.frame, self.actions, self.options = 0, [], options
        return self.seen(), {}

    def step(self, action: Any) -> Any:
        self.frame += 1
        self.actions.append(action)
        return self.seen(), -3.0, self.frame == 9, False, {"frame": self.frame}

    def seen(self) -> Any:
        return np.full((2, 2, 1), self.frame * 10 * (self.frame % 2), np.uint8)


def test_what_programs_import_is_there() -> None:
    for module, names in IMPORTED.items():
        found = importlib.import_module(f"rlk_sb3.{module}")
        for name in names.split():
            assert hasattr(found, name), (module, name)


def test_what_is_not_there_says_what_to_write() -> None:
    for module, names in elsewhere.INSTEAD.items():
        path = ".".join(filter(None, ("rlk_sb3", module)))
        found = importlib.import_module(path)
        for name, instead in names.items():
            with pytest.raises(ImportError) as caught:
                getattr(found, name)
            assert str(caught.value) == f"{path} has no {name}. Write {instead}."
        with pytest.raises(AttributeError, match="has no attribute 'nothing_like_it'"):
            _ = found.nothing_like_it
    with pytest.raises(ImportError, match="replay_buffer_class=HerReplayBuffer"):
        from rlk_sb3 import HER  # noqa: F401


def test_the_progress_bar_is_there_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    rich = ModuleType("tqdm.rich")
    rich.tqdm = list  # type: ignore[attr-defined]
    for name, module in (("tqdm", ModuleType("tqdm")), ("tqdm.rich", rich)):
        monkeypatch.setitem(sys.modules, name, module)
    assert importlib.import_module("rlk_sb3.common.callbacks").tqdm is list
    monkeypatch.setitem(sys.modules, "tqdm.rich", None)  # an import of it fails
    from rlk_sb3.common.callbacks import tqdm

    assert tqdm is None


def test_submodules_need_no_import_of_their_own() -> None:
    names = ("common.env_util.make_vec_env", "ppo.MlpPolicy", "common.utils.safe_mean")
    program = "import rlk_sb3 as package\n" + "\n".join(f"package.{name}" for name in names)
    subprocess.run([sys.executable, "-c", program], check=True)


def test_what_is_no_submodule_is_no_attribute() -> None:
    for package in ("rlk_sb3", "rlk_sb3.common"):
        found = importlib.import_module(package)
        with pytest.raises(AttributeError, match=f"{package}' has no attribute 'nothing'"):
            _ = found.nothing


def test_neither_the_package_nor_what_workers_make_environments_with_imports_torch() -> None:
    program = "import rlk_sb3.common.env_util, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0


def test_policies_by_their_other_names() -> None:
    assert ActorCriticCnnPolicy is CnnPolicy
    from rlk_sb3.td3.policies import TD3Policy

    model = TD3(TD3Policy, "Pendulum-v1", buffer_size=300)
    assert isinstance(model.policy, BasePolicy)


def test_an_atari_game_in_parts() -> None:
    env = NoopResetEnv(Game(), noop_max=3)
    lengths = set()
    for seed in range(30):
        env.reset(seed=seed)
        lengths.add(len(env.unwrapped.actions))
    assert lengths == {1, 2, 3}
    env.override_num_noops = 9  # the last of them ends the game, and another one begins
    assert env.reset(options={"mode": 1})[1] == {} and env.unwrapped.frame == 0
    assert env.unwrapped.options == {"mode": 1}
    env = FireResetEnv(MaxAndSkipEnv(Game()))
    env.reset()
    assert env.unwrapped.actions == [1] * 4 + [2] * 4
    observation, reward, terminated, truncated, info = env.step(3)
    assert (observation.max(), reward, terminated, truncated, info) == (
        90,
        -3,
        True,
        False,
        {"frame": 9},
    )
    env = ClipRewardEnv(EpisodicLifeEnv(Game()))
    env.reset()
    steps = [env.step(2) for _ in range(5)]
    assert [step[2] for step in steps] == [False] * 4 + [True] and steps[0][1] == -1.0
    assert not env.env.was_real_done
    env.reset()
    assert env.unwrapped.frame == 6  # by an action that does nothing
    assert [env.step(2)[2] for _ in range(3)] == [False, False, True]
    env.reset()
    assert env.unwrapped.frame == 0
    env = StickyActionEnv(Game(), 1.0)
    env.reset()
    env.step(3)
    assert env.unwrapped.actions == [0]


def test_which_wrappers_an_environment_is_in() -> None:
    made = maybe_make_env("CartPole-v1", 0)
    assert maybe_make_env(made, 1) is made and not is_wrapped(made, Monitor)
    env = gymnasium.wrappers.ClipReward(Monitor(made), 0, 1)
    assert is_wrapped(env, Monitor) and unwrap_wrapper(env, Monitor) is env.env
    assert unwrap_wrapper(made, Monitor) is None
    assert _patch_env(env) is env


def test_old_environments_are_patched(counting: Any) -> None:
    assert len(_patch_env(counting()).step(0)) == 5


def test_observations_and_actions_are_measured_and_preprocessed() -> None:
    image, number = spaces.Box(0, 255, (8, 9, 3), np.uint8), spaces.Discrete(4)
    several = spaces.MultiDiscrete([2, 3])
    parts = spaces.Dict({"image": image, "number": number})
    for one in (image, spaces.Box(0, 255, (3, 9, 8), np.uint8)):
        assert preprocessing.is_image_space(one, check_channels=True)
    assert not preprocessing.is_image_space(spaces.Box(0, 1, (8, 9, 3)))
    assert preprocessing.is_image_space(spaces.Box(0, 1, (8, 9, 3)), normalized_image=True)
    assert not preprocessing.is_image_space(spaces.Box(0, 255, (8, 9, 2), np.uint8), True)
    assert not preprocessing.is_image_space_channels_first(image)
    assert preprocessing.get_obs_shape(parts) == {"image": (8, 9, 3), "number": (1,)}
    assert [preprocessing.get_flattened_obs_dim(one) for one in (number, several)] == [4, 5]
    assert [preprocessing.get_action_dim(one) for one in (number, several)] == [1, 2]
    assert preprocessing.get_action_dim(spaces.Box(-1, 1, (2, 3))) == 6
    seen = {
        "image": torch.full((2, 8, 9, 3), 51, dtype=torch.uint8),
        "number": torch.tensor([3, 0]),
    }
    found = preprocessing.preprocess_obs(seen, parts)
    assert found["image"].unique().tolist() == pytest.approx([0.2])
    assert found["number"].tolist() == [[0, 0, 0, 1], [1, 0, 0, 0]]
    assert preprocessing.preprocess_obs(seen["image"], image, False).max() == 51
    preprocessing.check_for_nested_spaces(parts)
    with pytest.raises(PlanError, match="no parts of their own"):
        preprocessing.check_for_nested_spaces(spaces.Dict({"inner": parts}))


def test_layers_schedules_and_tensors(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    made = create_mlp(3, 2, [4], torch.nn.Tanh, squash_output=True, with_bias=False)
    assert [type(one).__name__ for one in made] == ["Linear", "Tanh", "Linear", "Tanh"]
    assert torch.nn.Sequential(*made)(torch.zeros(5, 3)).shape == (5, 2)
    assert made[0].bias is None and made[2].bias is None
    assert [one.out_features for one in create_mlp(3, 1, [])] == [1]
    normed = create_mlp(3, 0, [4, 5], post_linear_modules=[torch.nn.LayerNorm])
    assert [getattr(one, "normalized_shape", None) for one in normed[1::3]] == [(4,), (5,)]
    assert get_actor_critic_arch({"pi": [1], "qf": [2]}) == ([1], [2])
    assert get_actor_critic_arch([3]) == ([3], [3])
    falling = utils.LinearSchedule(1.0, 0.5, 0.5)
    assert [falling(one) for one in (1.0, 0.75, 0.25)] == [1.0, 0.75, 0.5]
    assert utils.FloatSchedule(3)(0.5) == utils.ConstantSchedule(3.0)(0.1) == 3.0
    model = PPO("MlpPolicy", "CartPole-v1", n_steps=8, batch_size=8, learning_rate=falling)
    assert model.lr_schedule(0.75) == 0.75
    one, other = torch.zeros(2), torch.ones(2)
    utils.polyak_update([other], [one], 0.25)
    assert one.tolist() == [0.25, 0.25]
    assert utils.obs_as_tensor({"a": np.zeros(2)}, "cpu")["a"].shape == (2,)
    assert utils.get_device("cpu") == torch.device("cpu")
    assert utils.is_vectorized_observation(np.zeros((1, 4), np.float32), model.observation_space)
    pair = model.observation_space, model.action_space
    utils.check_for_correct_spaces(model.get_env(), *pair)
    with pytest.raises(ValueError, match="the action_space of environment 'DummyVecEnv' is"):
        utils.check_for_correct_spaces(model.get_env(), pair[0], spaces.Discrete(9))
    assert len(utils.get_parameters_by_name(model.policy, ["pi.out"])) == 2
    for name in ("run_7", "run_9_old"):
        (tmp_path / name).mkdir()
    assert utils.get_latest_run_id(str(tmp_path), "run") == 7
    logger = utils.configure_logger(0, str(tmp_path), "run")
    assert logger.get_dir() == str(tmp_path / "run_8")
    assert get_system_info(print_info=False)[0]["PyTorch"] == torch.__version__
    assert "PyTorch" in get_system_info()[1] == capsys.readouterr().out.rstrip() + "\n"


def test_a_frequency_of_training_may_be_named() -> None:
    every = TrainFreq(2, TrainFrequencyUnit.EPISODE)
    model = DQN("MlpPolicy", "CartPole-v1", buffer_size=64, train_freq=every)
    assert model.agent.plan.algorithm.config.train_freq == "2 episode"
    every = TrainFreq(3, TrainFrequencyUnit.STEP)
    model = DQN("MlpPolicy", "CartPole-v1", buffer_size=64, train_freq=every)
    assert model.agent.plan.algorithm.config.train_freq == 3


def test_a_replay_of_a_programs_own() -> None:
    buffer = ReplayBuffer(5, spaces.Box(-9, 9, (2,)), spaces.Discrete(3), "cpu", n_envs=2)
    for t in range(3):
        seen, after = np.full((2, 2), t), np.full((2, 2), t + 1)
        infos = [{"TimeLimit.truncated": True}, {}]
        buffer.add(seen, after, np.array([t, t]), np.array([t, -t]), np.array([t == 1] * 2), infos)
    assert buffer.size() == 2 and buffer.full
    sampled = buffer.sample(64)
    assert sampled.observations.shape == (64, 2) and sampled.actions.shape == (64, 1)
    assert sampled.actions.dtype == torch.int64 and sampled.rewards.dtype == torch.float32
    assert {*sampled.rewards[:, 0].tolist()} == {1.0, -1.0, 2.0, -2.0}
    ended = sampled.rewards[sampled.dones > 0]
    assert {*ended.tolist()} == {-1.0}, "one that was cut off has not ended"
    assert torch.equal(sampled.next_observations, sampled.observations + 1)
    parts = spaces.Dict({"a": spaces.Discrete(4), "b": spaces.Box(0, 1, (2,))})
    of_parts = DictReplayBuffer(4, parts, spaces.Box(-1, 1, (1,)), "cpu")
    seen = {"a": np.array([3]), "b": np.ones((1, 2))}
    of_parts.add(seen, seen, np.array([[0.5]]), np.array([1.0]), np.array([False]), [{}])
    found = of_parts.sample(2)
    assert found.observations["a"].tolist() == [[3], [3]] and found.actions.tolist() == [[0.5]] * 2
    with pytest.raises(PlanError, match="optimize_memory_usage"):
        ReplayBuffer(4, parts, spaces.Discrete(2), optimize_memory_usage=True)


def test_figures_images_and_hyperparameters_go_to_tensorboard(tmp_path: Any) -> None:
    accumulators = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    figure = pytest.importorskip("matplotlib.figure").Figure()
    figure.subplots().plot([1, 2])
    logger = configure(str(tmp_path), ["csv", "tensorboard"])
    logger.record("a/figure", Figure(figure, close=False), exclude=("csv",))
    logger.record("a/grey", Image(torch.full((4, 5), 0.5), "HW"), exclude="csv")
    logger.record("a/image", Image(np.full((3, 4, 5), 7, np.uint8), "CHW"), exclude="csv")
    logger.record("a/setup", HParam({"gamma": 0.9, "x": None}, {"train/loss": 0}), exclude="csv")
    logger.record("train/loss", 2.0)
    logger.dump(3)
    logger.close()
    found = accumulators.EventAccumulator(str(tmp_path))
    found.Reload()
    assert found.Tags()["images"] == ["a/figure", "a/grey", "a/image"]
    image = found.Images("a/image")[0]
    assert (image.step, image.height, image.width) == (3, 4, 5)
    for tag, pixel in (("a/image", (7, 7, 7)), ("a/grey", 127)):
        png = io.BytesIO(found.Images(tag)[0].encoded_image_string)
        assert PIL.Image.open(png).getpixel((4, 3)) == pixel
    setup = found.SummaryMetadata("_hparams_/session_start_info").plugin_data
    assert setup.plugin_name == "hparams" and b"gamma" in setup.content
    logger.record("a/image", Image(np.zeros((4, 5)), "HW"))
    with pytest.raises(NotImplementedError, match=r"exclude=\('csv',\)"):
        logger.dump(4)
    with pytest.raises(PlanError, match="metric_dict"):
        HParam({"gamma": 0.9}, {})
    with pytest.raises(PlanError, match="HWC, CHW or HW"):
        Image(np.zeros((4, 5)), "HWC").summaries("a")
