"""The scripts that Stable Baselines runs by `python -m`, on small environments."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from rlk_baselines import PPO1, gym, logger, scripts
from rlk_baselines.common.policies import CnnLstmPolicy
from rlk_baselines.common.vec_env import DummyVecEnv, VecFrameStack
from rlk_baselines.ddpg.main import noises


class Film(gym.Env):
    """A grey image as the Atari wrappers return it."""

    observation_space = spaces.Box(0, 255, (36, 36, 1), np.uint8)
    action_space = spaces.Discrete(3)

    def reset(self) -> Any:
        self.steps = 0
        return self.observation_space.sample()

    def step(self, action: Any) -> Any:
        self.steps += 1
        return self.observation_space.sample(), 1.0, self.steps == 5, {}


def run(name: str, *argv: str) -> Any:
    return importlib.import_module(f"rlk_baselines.{name}").main(argv)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("OPENAI_LOGDIR", str(tmp_path / "rows"))
    yield tmp_path
    logger.reset()


@pytest.fixture
def films(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace games by films."""
    monkeypatch.setattr(scripts, "make_atari", lambda _: Film())
    monkeypatch.setattr(scripts, "wrap_deepmind", lambda env: env)
    monkeypatch.setattr(
        scripts, "make_atari_env", lambda _, number, seed: DummyVecEnv([Film] * number)
    )


@pytest.mark.parametrize(
    ("name", "argv", "expected"),
    [
        ("a2c.run_atari", ("--lr_schedule", "linear"), {"n_envs": 16, "lr_schedule": "linear"}),
        ("acer.run_atari", (), {"n_envs": 16, "lr_schedule": "constant", "buffer_size": 5000}),
        ("acktr.run_atari", (), {"n_envs": 32, "lr_schedule": "linear"}),
        ("ppo1.run_atari", (), {"timesteps_per_actorbatch": 256, "optim_stepsize": 1e-3}),
        ("ppo2.run_atari", ("--policy", "lstm"), {"n_envs": 8, "policy": CnnLstmPolicy}),
        ("trpo_mpi.run_atari", (), {"max_kl": 0.001, "gamma": 0.98}),
    ],
)
@pytest.mark.usefixtures("films")
def test_a_script_makes_a_model_for_atari(
    name: str, argv: tuple[str, ...], expected: dict[str, Any]
) -> None:
    model = run(name, "--seed", "3", "--num-timesteps", "0", *argv)
    assert {key: getattr(model, key) for key in expected} == expected
    assert model.seed == 3
    stacked = isinstance(model.get_env(), VecFrameStack)
    assert model.observation_space.shape == (36, 36, 4 if stacked else 1)
    assert stacked == (model.n_envs > 1)


@pytest.mark.usefixtures("films")
def test_some_scripts_learn_a_tenth_longer_than_they_are_told() -> None:
    model = run("a2c.run_atari", "--num-timesteps", "80")  # 88, of which a collection has 80
    assert model.num_timesteps == 160


@pytest.mark.parametrize(
    ("name", "collected", "normalized"),
    [
        ("a2c.run_mujoco", 5, True),
        ("ppo1.run_mujoco", 2048, False),
        ("ppo2.run_mujoco", 2048, True),
        ("trpo_mpi.run_mujoco", 1024, False),
    ],
)
def test_a_script_trains_on_a_robot_and_writes_rows(
    name: str, collected: int, normalized: bool, folder: Path
) -> None:
    model = run(name, "--env", "Pendulum-v1", "--num-timesteps", "1")
    assert model.num_timesteps == collected
    assert (model.get_vec_normalize_env() is not None) == normalized
    assert (folder / "rows" / "progress.csv").exists()


def test_the_humanoids_model_is_saved_and_shown(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(folder / "humanoid")
    own = ("--env", "Pendulum-v1", "--model-path", path)
    model = run("ppo1.run_humanoid", *own, "--num-timesteps", "1")
    env = model.get_env()
    env.reset()
    _, reward, _, _ = env.step(np.zeros(1))
    assert reward == pytest.approx(0.1 * env.rewards[-1])

    class Shown(Exception):
        """Raised instead of showing a window without end."""

    def show(model: PPO1) -> None:
        raise Shown(model.num_timesteps)

    monkeypatch.setattr(scripts, "play", show)
    with pytest.raises(Shown, match="2048"):
        run("ppo1.run_humanoid", *own, "--play")


def test_a_model_is_shown_until_it_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = []

    class Window(Film):
        observation_space = spaces.Box(-1.0, 1.0, (2,), np.float32)

        def render(self, mode: str = "human") -> None:
            frames.append(self.steps)
            if len(frames) == 7:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scripts.play(PPO1("MlpPolicy", Window()))
    assert frames == [1, 2, 3, 4, 0, 1, 2], "an episode has five steps, the next one begins"


def test_options_of_ddpg_are_its_settings() -> None:
    model = run(
        "ddpg.main",
        *("--env-id", "Pendulum-v1", "--num-timesteps", "0", "--no-layer-norm", "--evaluation"),
        *("--noise-type", "ou_0.3", "--gamma", "0.9", "--clip-norm", "0.5", "--enable-popart"),
        *("--normalize-returns", "--nb-rollout-steps", "50"),
    )
    config = model.agent.plan.algorithm.config
    assert (config.gamma, config.clip_norm, config.nb_rollout_steps) == (0.9, 0.5, 50)
    assert config.enable_popart
    assert config.normalize_returns
    assert model.eval_env is not None
    assert [noise.name for noise in model.agent.plan.noises] == ["ornstein-uhlenbeck-noise"]


def test_noises_of_ddpg_are_read_from_their_names() -> None:
    found = noises("normal_0.5, adaptive-param_0.2", 2)
    assert sorted(found) == ["action_noise", "param_noise"]
    assert found["param_noise"].desired_action_stddev == 0.2
    assert noises("none", 2) == {}
    for wrong in ("pink_1", "normal", "ou_much"):
        with pytest.raises(ValueError, match=f"--noise-type '{wrong}' is none of"):
            noises(wrong, 2)
    with pytest.raises(ValueError, match="sigma"):
        noises("normal_-1", 2)


@pytest.mark.parametrize(
    ("variables", "first"),
    [({}, True), ({"PMI_RANK": "0"}, True), ({"OMPI_COMM_WORLD_RANK": "3"}, False)],
)
def test_the_first_rank_alone_writes_rows(
    variables: dict[str, str], first: bool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    scripts.begin(scripts.mujoco_arg_parser(), ())
    assert (folder / "rows").exists() == first
