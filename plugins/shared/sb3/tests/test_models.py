"""Programs of Stable-Baselines3 with the first word of their imports changed."""

from __future__ import annotations

import inspect
import io
import os
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from rlk.errors import BadFile
from rlk_baselines.refusals import Refused
from rlk_sb3 import A2C, DDPG, DQN, PPO, SAC, TD3
from rlk_sb3.common import logger
from rlk_sb3.common.callbacks import (
    BaseCallback,
    CheckpointCallback,
    EvalCallback,
    StopTrainingOnMaxEpisodes,
    StopTrainingOnNoModelImprovement,
)
from rlk_sb3.common.env_util import make_vec_env
from rlk_sb3.common.evaluation import evaluate_policy
from rlk_sb3.common.monitor import Monitor
from rlk_sb3.common.utils import get_linear_fn
from rlk_sb3.common.vec_env import DummyVecEnv, VecNormalize
from rlk_sb3.ppo import MlpPolicy
from rlk_toy_environments.bit_flipping import BitFlippingEnv as GymnasiumsBits

SMALL: dict[str, Any] = {"n_steps": 16, "batch_size": 16, "n_epochs": 1, "seed": 0}


def ppo(env: Any = "CartPole-v1", **keywords: Any) -> PPO:
    return PPO(MlpPolicy, env, **{**SMALL, **keywords})


def untyped(kind: Any) -> str:
    """The signature of a class, without types."""
    shown = inspect.signature(kind).parameters.values()
    return str(inspect.Signature([one.replace(annotation=one.empty) for one in shown]))


def test_signatures_and_defaults_are_those_of_its_documentation() -> None:
    expected = (
        "(policy, env, learning_rate=0.0003, n_steps=2048, batch_size=64, n_epochs=10, gamma=0.99, "
        "gae_lambda=0.95, clip_range=0.2, clip_range_vf=None, normalize_advantage=True, "
        "ent_coef=0.0, vf_coef=0.5, max_grad_norm=0.5, use_sde=False, sde_sample_freq=-1, "
    )
    assert untyped(PPO).startswith(expected)
    plan = A2C("MlpPolicy", "CartPole-v1").agent.plan
    config = plan.algorithm.config
    assert (config.ent_coef, config.vf_coef, config.epsilon) == (0.0, 0.5, 1e-5)
    assert plan.optimiser.config.variant == "torch"
    config = DQN("MlpPolicy", "CartPole-v1", buffer_size=99).agent.plan.algorithm.config
    assert (config.double_q, config.dueling, config.target_network_update_freq) == (
        *(False, False),
        10_000,
    )


REPLAY = "replay_buffer_class=None, replay_buffer_kwargs=None, optimize_memory_usage=False, "
TIMES = "learning_rate=0.001, buffer_size=1000000, learning_starts=100, batch_size=256, tau=0.005, "
UPDATES = "gamma=0.99, train_freq=1, gradient_steps=1, action_noise=None, " + REPLAY


@pytest.mark.parametrize(
    ("kind", "defaults"),
    [
        (
            A2C,
            "learning_rate=0.0007, n_steps=5, gamma=0.99, gae_lambda=1.0, ent_coef=0.0, "
            "vf_coef=0.5, max_grad_norm=0.5, rms_prop_eps=1e-05, use_rms_prop=True, use_sde=False, "
            "sde_sample_freq=-1, rollout_buffer_class=None, rollout_buffer_kwargs=None, "
            "normalize_advantage=False, ",
        ),
        (
            DQN,
            "learning_rate=0.0001, buffer_size=1000000, learning_starts=100, batch_size=32, "
            f"tau=1.0, gamma=0.99, train_freq=4, gradient_steps=1, {REPLAY}n_steps=1, "
            "target_update_interval=10000, exploration_fraction=0.1, exploration_initial_eps=1.0, "
            "exploration_final_eps=0.05, max_grad_norm=10.0, ",
        ),
        (
            SAC,
            f"{TIMES.replace('0.001', '0.0003')}{UPDATES}n_steps=1, ent_coef='auto', "
            "target_update_interval=1, target_entropy='auto', use_sde=False, sde_sample_freq=-1, "
            "use_sde_at_warmup=False, ",
        ),
        (
            TD3,
            f"{TIMES}{UPDATES}n_steps=1, policy_delay=2, target_policy_noise=0.2, "
            "target_noise_clip=0.5, ",
        ),
        (DDPG, f"{TIMES}{UPDATES}n_steps=1, "),
    ],
)
def test_the_other_models_have_the_defaults_of_there_too(kind: Any, defaults: str) -> None:
    last = (
        "stats_window_size=100, tensorboard_log=None, policy_kwargs=None, verbose=0, seed=None, "
        "device='auto', _init_setup_model=True)"
    )
    assert untyped(kind) == f"(policy, env, {defaults}{last}"


def test_layers_are_counted_as_there() -> None:
    def shapes(model: Any) -> set[tuple[int, ...]]:
        return {tuple(value.shape[-2:]) for value in model.get_parameters()["policy"].values()}

    arch = {"net_arch": {"pi": [5], "vf": [6]}, "activation_fn": torch.nn.ReLU}
    assert {(4, 5), (4, 6), (5, 2)} <= shapes(ppo(policy_kwargs=arch))
    model = ppo(policy_kwargs={"net_arch": [7]})  # policy and value have each its own
    assert [tuple(one.shape[-2:]) for one in model.policy.parameters()].count((4, 7)) == 2
    assert {(3, 256), (256, 256), (4, 256)} <= shapes(SAC("MlpPolicy", "Pendulum-v1"))
    assert {(3, 400), (400, 300), (4, 400)} <= shapes(TD3("MlpPolicy", "Pendulum-v1"))


def test_a_model_learns_is_saved_and_continues(tmp_path: Path) -> None:
    env = make_vec_env("CartPole-v1", n_envs=2, seed=0)
    model = ppo(env, tensorboard_log=str(tmp_path / "tb"))
    model.learn(64, progress_bar=True)
    assert [path.name for path in (tmp_path / "tb").iterdir()] == ["PPO_1"]
    model.save(tmp_path / "model")
    loaded = PPO.load(tmp_path / "model", env=env, device="cpu")
    parameters = model.get_parameters()
    loaded.learn(32, reset_num_timesteps=False)
    assert loaded.num_timesteps == 96
    loaded.set_parameters(parameters)
    observations = env.reset()
    actions, states = loaded.predict(observations, deterministic=True)
    assert states is None and np.array_equal(
        actions, model.predict(observations, None, None, True)[0]
    )
    with pytest.raises(RuntimeError, match="missing"):
        loaded.set_parameters({"policy": dict(list(parameters["policy"].items())[:1])})
    with pytest.raises(ValueError, match=r"of 'policy', got \['critic'\]"):
        loaded.set_parameters({**parameters, "policy.optimizer": {}, "critic": {}})


def test_a_model_is_loaded_for_this_machine_unless_told_otherwise(tmp_path: Path) -> None:
    ppo(device="cpu").save(tmp_path / "model")
    assert PPO.load(tmp_path / "model").agent.plan.device == "auto"
    assert PPO.load(tmp_path / "model", device=None).agent.plan.device == "cpu"


@pytest.mark.parametrize("cls", [SAC, TD3, DDPG])
def test_a_replay_is_saved_and_taken_up(cls: Any, tmp_path: Path) -> None:
    keywords: dict[str, Any] = {"learning_starts": 5, "batch_size": 8, "buffer_size": 100}
    keywords["policy_kwargs"] = {"net_arch": [8]}
    model = cls("MlpPolicy", "Pendulum-v1", train_freq=(1, "episode"), **keywords).learn(12)
    model.save_replay_buffer(tmp_path / "replay")
    other = cls("MlpPolicy", "Pendulum-v1", **keywords)
    other.load_replay_buffer(tmp_path / "replay")
    assert len(other.replay_buffer) == len(model.replay_buffer) == 12
    for name in ("replay.pkl", "replay.zip"):
        model.save_replay_buffer(tmp_path / name)
        assert (tmp_path / name).is_file()
        other = cls("MlpPolicy", "Pendulum-v1", **keywords)
        other.load_replay_buffer(str(tmp_path / name))
        assert len(other.replay_buffer) == 12
    (tmp_path / "replay.zip").rename(tmp_path / "last.zip")  # as rlk once wrote "last"
    for name in ("last", "last.pkl", "last.zip"):
        other.load_replay_buffer(tmp_path / name)
    (tmp_path / "other.pkl").write_bytes(b"a pickle")
    with pytest.raises(BadFile, match=r"other\.pkl"):
        other.load_replay_buffer(tmp_path / "other.pkl")


def small_sac() -> SAC:
    return SAC(
        "MlpPolicy", "Pendulum-v1", learning_starts=5, batch_size=8, policy_kwargs={"net_arch": [4]}
    )


def test_a_model_and_its_replay_may_have_the_same_name(tmp_path: Path) -> None:
    model, place = small_sac().learn(10), str(tmp_path / "sac_pendulum")
    model.save(place)
    model.save_replay_buffer(place)
    assert sorted(os.listdir(tmp_path)) == ["sac_pendulum.pkl", "sac_pendulum.zip"]
    loaded = SAC.load(place)
    loaded.load_replay_buffer(place)
    assert loaded.num_timesteps == loaded.replay_buffer.size() == 10
    for name in (f"{place}.zip", tmp_path / "sac.v1"):  # where models are
        model.save(name)
        with pytest.raises(ValueError, match=r"holds a model, which would be lost. .*_replay"):
            model.save_replay_buffer(name)
        assert SAC.load(name).num_timesteps == 10


def test_a_replay_is_written_to_an_open_file(tmp_path: Path) -> None:
    model, other = small_sac().learn(10), small_sac()
    buffer = io.BytesIO()
    model.save_replay_buffer(buffer)
    with pytest.raises(ValueError, match="nothing left to read"):
        other.load_replay_buffer(buffer)
    buffer.seek(0)
    other.load_replay_buffer(buffer)
    assert other.replay_buffer.size() == 10
    for call in (other.load_replay_buffer, model.save_replay_buffer):
        with pytest.raises(ValueError, match="a replay is a file: pass its path"):
            call(3)
    with pytest.raises(BadFile, match="the open file"):
        other.load_replay_buffer(io.BytesIO(b"a pickle"))


def test_environments_share_the_episodes_of_an_evaluation(counting) -> None:
    model = ppo(counting())
    env = DummyVecEnv([lambda: counting(2), lambda: counting(5, reward=2.0)])
    found = evaluate_policy(model, env, n_eval_episodes=5, return_episode_rewards=True)
    assert sorted(found[0]) == [2, 2, 10, 10, 10] and sorted(found[1]) == [2, 2, 5, 5, 5]
    env = Monitor(gymnasium.make("CartPole-v1", max_episode_steps=4))
    assert evaluate_policy(ppo(), env, n_eval_episodes=2) == (4.0, 0.0)


def test_callbacks_record_stop_and_save(counting, tmp_path: Path) -> None:
    class Recording(BaseCallback):
        def _on_step(self) -> bool:
            self.logger.record("mine/value", 0.5)
            return True

    model = ppo(counting(), tensorboard_log=str(tmp_path / "tb"))
    model.learn(16, callback=[Recording(), StopTrainingOnMaxEpisodes(4)])
    assert model.num_timesteps == 12
    model.learn(32, callback=Recording())
    written = b"".join(path.read_bytes() for path in (tmp_path / "tb").rglob("events*"))
    assert b"mine/value" in written
    stop = StopTrainingOnNoModelImprovement(max_no_improvement_evals=1, min_evals=1)
    evaluation = EvalCallback(
        counting(), callback_after_eval=stop, n_eval_episodes=1, eval_freq=4, verbose=0
    )
    assert model.learn(1000, callback=evaluation).num_timesteps == 12
    env = VecNormalize(DummyVecEnv([counting]))
    dqn = DQN("MlpPolicy", env, buffer_size=50, policy_kwargs={"net_arch": [4]})
    saving = CheckpointCallback(4, str(tmp_path / "kept"), "a", True, True)
    dqn.learn(4, callback=saving)
    names = sorted(path.name for path in (tmp_path / "kept").iterdir())
    assert names == ["a_4_steps.zip", "a_replay_buffer_4_steps.pkl", "a_vecnormalize_4_steps.pkl"]


def test_every_file_of_a_checkpoint_is_printed(counting, tmp_path: Path, capsys) -> None:
    env = VecNormalize(DummyVecEnv([counting]))
    dqn = DQN("MlpPolicy", env, buffer_size=50, policy_kwargs={"net_arch": [4]})
    dqn.learn(4, callback=CheckpointCallback(4, str(tmp_path), "v1.0", True, True, verbose=2))
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" to ")[0] for line in lines] == [
        "Saving model checkpoint",
        "Saving model replay buffer checkpoint",
        "Saving model VecNormalize",
    ]
    names = sorted(Path(line.partition(" to ")[2]).name for line in lines)
    assert names == sorted(path.name for path in tmp_path.iterdir())


def test_what_is_written_otherwise_here_says_how() -> None:
    with pytest.raises(ValueError, match="features_extractor_class, which is written otherwise"):
        ppo(policy_kwargs={"features_extractor_class": object})
    with pytest.raises(ValueError, match=r"A2C: rollout_buffer_class is None here\. rlk\.make has"):
        A2C("MlpPolicy", "CartPole-v1", rollout_buffer_class=object)
    with pytest.raises(ValueError, match=r"replay_buffer_class is .*HerReplayBuffer.*plugins"):
        SAC("MlpPolicy", "Pendulum-v1", replay_buffer_class=object)


def test_settings_of_its_algorithms_alone_reach_those_of_rlk() -> None:
    a2c = A2C("MlpPolicy", "CartPole-v1", gae_lambda=0.9, normalize_advantage=True)
    config = a2c.agent.plan.algorithm.config
    assert (config.gae_lambda, config.normalize_advantage) == (0.9, True)
    dqn = DQN("MlpPolicy", "CartPole-v1", tau=0.5, buffer_size=50)
    assert dqn.agent.plan.algorithm.config.tau == 0.5


@pytest.mark.parametrize("kind", [DQN, SAC, TD3])
def test_returns_of_several_steps_are_those_of_the_replay(kind: Any, tmp_path: Path) -> None:
    env = "CartPole-v1" if kind is DQN else "Pendulum-v1"
    model = kind("MlpPolicy", env, n_steps=3, buffer_size=300, batch_size=8, learning_starts=10)
    model.learn(16)

    def steps() -> list[int]:
        parts = model.agent.plan.storages
        return [part.config.n_steps for part in parts if part.name == "n-step"]

    assert steps() == [3]
    model.n_steps = 5
    assert steps() == [5]
    model.n_steps = 1
    assert steps() == []
    assert len(model.agent.run.storage) == 16
    model.n_steps = 4
    model.save(tmp_path / "model")
    model = kind.load(tmp_path / "model", env=env)
    assert (model.n_steps, steps()) == (4, [4])
    one = kind("MlpPolicy", env, buffer_size=300)
    assert [part.name for part in one.agent.plan.storages] == ["replay"]
    one.n_steps = 2
    assert one.agent.plan.storages[-1].config.n_steps == 2


def test_attributes_that_are_not_here_say_what_to_write() -> None:
    model = ppo()
    with pytest.raises(AttributeError, match=r"'optimizer': set model\.learning_rate"):
        _ = model.policy.optimizer
    with pytest.raises(AttributeError, match=r"'save': write model\.save\(path\)"):
        model.policy.save("policy")
    for owner in (model, model.policy):
        with pytest.raises(AttributeError, match=r"'value_net': .* print\(model\.policy\) shows"):
            _ = owner.value_net
        with pytest.raises(AttributeError, match=r"'nonsense'$"):
            _ = owner.nonsense


def test_rows_go_where_the_logger_was_told(counting, tmp_path: Path) -> None:
    model = ppo(counting())
    model.set_logger(logger.configure(str(tmp_path), ["csv"]))
    try:
        model.learn(16)
    finally:
        model.logger.close()
    assert "total_timesteps" in (tmp_path / "progress.csv").read_text()
    schedule = get_linear_fn(1.0, 0.0, 0.5)
    assert [schedule(remaining) for remaining in (1.0, 0.75, 0.25)] == [1.0, 0.5, 0.0]


@pytest.mark.parametrize("name", ["train", "collect_rollouts", "dump_logs"])
def test_a_class_with_an_algorithm_of_its_own_is_refused(name: str) -> None:
    own = type("Own", (PPO,), {name: lambda self: None})
    with pytest.raises(Refused, match=f"Own has {name}, which nothing would call"):
        own("MlpPolicy", "CartPole-v1")
    assert type("Same", (PPO,), {"extra": 1})("MlpPolicy", "CartPole-v1").num_timesteps == 0


def test_a_model_has_what_programs_look_at(counting) -> None:
    class Reaching(counting):
        def step(self, action: Any) -> Any:
            *result, info = super().step(action)
            return *result, {**info, "is_success": self.steps == 3}

    model = ppo(Reaching(), learning_rate=lambda remaining: 2e-3 * remaining)
    assert model.lr_schedule(0.5) == 1e-3 and ppo(learning_rate=0.1).lr_schedule(0.5) == 0.1
    named = PPO("MlpPolicy", "CartPole-v1", **SMALL)
    named.lr_schedule = lambda remaining: 3e-3 * remaining
    assert named.learning_rate(0.5) == 1.5e-3
    assert model.policy_class is named.policy_class is MlpPolicy
    began = time.time_ns()
    model.learn(16)
    assert [*model.ep_success_buffer] == [True] * 5 and began <= model.start_time
    assert model._total_timesteps == 16
    assert model.learn(16, reset_num_timesteps=False)._total_timesteps == 32
    model.set_env(Reaching(), force_reset=False)
    model.set_random_seed()
    assert model.seed == 0 and [*model.ep_success_buffer] == [True] * 10


def test_dqn_takes_random_actions_with_its_exploration_rate() -> None:
    keywords: Any = {"buffer_size": 64, "exploration_final_eps": 0.5, "exploration_fraction": 0.5}
    model = DQN("MultiInputPolicy", GymnasiumsBits(5), seed=0, **keywords)
    seen = GymnasiumsBits(5).reset(seed=0)[0]
    greedy = model.predict(seen, deterministic=True)[0]
    assert model.exploration_rate == 0.0
    assert {int(model.predict(seen)[0]) for _ in range(20)} == {int(greedy)}
    model.learn(16)
    assert model.exploration_rate == 0.5
    greedy = model.predict(seen, deterministic=True)[0]
    other = np.mean([model.predict(seen)[0] != greedy for _ in range(400)])
    p = 0.5 * 4 / 5
    assert abs(other - p) < 4 * np.sqrt(p * (1 - p) / 400)
    many = {key: np.repeat(part[None], 50, axis=0) for key, part in seen.items()}
    kinds = {len(set(model.predict(many)[0].tolist())) > 1 for _ in range(20)}
    assert kinds == {False, True}, "one draw decides for a whole batch"
    assert {int(model.policy.predict(seen)[0]) for _ in range(20)} == {int(greedy)}
    model.exploration_rate = 0.0
    assert model.exploration_rate == 0.0
    assert {int(model.predict(seen)[0]) for _ in range(20)} == {int(greedy)}
    assert model.learn(16).exploration_rate == 0.5
