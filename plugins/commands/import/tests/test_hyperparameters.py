"""`rlk import FILE.yml`: a run as rl-baselines3-zoo describes it, as SPEC.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from torch import nn

from rlk.errors import BadFile, PlanError
from rlk_cli.main import main
from rlk_import.command import command
from rlk_import.hyperparameters import described
from rlk_sb3 import A2C, PPO, SAC, TD3
from rlk_sb3.common.env_util import make_vec_env
from rlk_sb3.common.noise import OrnsteinUhlenbeckActionNoise
from rlk_sb3.common.sb2_compat.rmsprop_tf_like import RMSpropTFLike

LEARN = ("algorithm", "policy", "distribution", "optimiser", "storage", "noise")
USUAL = "n_timesteps: !!float 2e4\n  policy: MlpPolicy\n  "
PPO_YML = f"""
default: &usual
  {USUAL.strip()}
CartPole-v1:
  <<: *usual
  n_envs: 4
  normalize: "dict(norm_obs=True, norm_reward=False)"
  frame_stack: 2
  n_steps: 32
  batch_size: 64
  gamma: 0.98
  learning_rate: lin_3e-4
  clip_range: lin_0.2
  policy_kwargs: "dict(net_arch=dict(pi=[8], vf=[9]), activation_fn=nn.ReLU, ortho_init=False)"
"""


@pytest.fixture
def written(tmp_path: Path) -> Any:
    """Writes a file of hyperparameters, named after the algorithm."""

    def write(algo: str, text: str) -> Path:
        path = tmp_path / f"{algo}.yml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def configs(plan: Any) -> list[Any]:
    """The settings of the parts of a plan that learn."""
    return [(one.name, one.config) for one in plan.choices() if one.role in LEARN]


def test_an_entry_of_ppo_means_what_its_class_of_stable_baselines3_makes_of_it(written):
    found = described(written("ppo", PPO_YML), None, "CartPole-v1")
    model = PPO(
        "MlpPolicy",
        make_vec_env("CartPole-v1", n_envs=4),
        n_steps=32,
        batch_size=64,
        gamma=0.98,
        learning_rate="lin_3e-4",
        clip_range="lin_0.2",
        policy_kwargs={
            "net_arch": {"pi": [8], "vf": [9]},
            "activation_fn": nn.ReLU,
            "ortho_init": False,
        },
    )
    assert configs(found.plan) == configs(model.agent.plan)
    assert (found.plan.n_envs, found.plan.total_timesteps) == (4, 20_000)
    assert found.entry == "CartPole-v1"
    assert found.lost == (
        "normalize: stacks of frames are normalised, not each frame before it is stacked.",
    )


def test_wrappers_are_in_order_and_normalize_has_the_algorithms_gamma(written):
    more = "\n  env_wrapper: sb3.wrappers.TimeFeatureWrapper"
    more += "\n  monitor_kwargs: dict(info_keywords=('x',))\n"
    text = PPO_YML.replace("frame_stack: 2\n", f"frame_stack: 2{more}")
    plan = described(written("ppo", text), None, "CartPole-v1").plan
    by_name = {one.name: one.config for one in plan.wrappers}
    assert list(by_name)[:3] == ["time-feature", "frame-stack", "normalize"]
    normalize = by_name["normalize"]
    assert (normalize.norm_obs, normalize.norm_reward, normalize.gamma) == (True, False, 0.98)
    assert by_name["frame-stack"].n_stack == 2 and by_name["monitor"].info_keywords == ("x",)


def test_an_entry_of_sac_with_episodes_and_state_dependent_exploration_is_kept(written):
    text = f"""
Pendulum-v1:
  {USUAL}train_freq: [1, "episode"]
  gradient_steps: -1
  learning_rate: !!float 1e-3
  buffer_size: 5000
  ent_coef: auto
  use_sde: true
  policy_kwargs: "dict(log_std_init=-3, net_arch=[64, 64])"
"""
    found = described(written("sac", text), None, "Pendulum-v1")
    model = SAC(
        "MlpPolicy",
        "Pendulum-v1",
        train_freq=(1, "episode"),
        gradient_steps=-1,
        learning_rate=1e-3,
        buffer_size=5000,
        use_sde=True,
        policy_kwargs={"log_std_init": -3, "net_arch": [64, 64]},
    )
    assert configs(found.plan) == configs(model.agent.plan)
    assert found.plan.algorithm.config.train_freq == "1 episode"


def test_the_noise_of_an_entry_of_td3_is_a_plugin(written):
    text = f"Pendulum-v1:\n  {USUAL}noise_type: ornstein-uhlenbeck\n  noise_std: 0.5\n"
    (noise,) = described(written("td3", text), None, "Pendulum-v1").plan.noises
    model = TD3("MlpPolicy", "Pendulum-v1", action_noise=OrnsteinUhlenbeckActionNoise([0], [0.5]))
    (other,) = model.agent.plan.noises
    assert noise.name == "ornstein-uhlenbeck-noise" and noise.config.sigma == 0.5
    assert (noise.config.theta, noise.config.dt) == (other.config.theta, other.config.dt)


def test_the_optimiser_of_an_entry_of_a2c_is_kept_and_it_may_be_the_default(written):
    text = f"""
default:
  {USUAL}policy_kwargs: "dict(optimizer_class=RMSpropTFLike, optimizer_kwargs=dict(eps=1e-5))"
"""
    found = described(written("a2c", text), None, "CartPole-v1")
    kwargs = {"optimizer_class": RMSpropTFLike, "optimizer_kwargs": {"eps": 1e-5}}
    model = A2C("MlpPolicy", "CartPole-v1", policy_kwargs=kwargs)
    assert found.entry == "default" and configs(found.plan) == configs(model.agent.plan)


def test_atari_games_have_the_entry_atari_with_its_wrappers(written):
    pytest.importorskip("ale_py")
    text = """
atari:
  env_wrapper:
    - stable_baselines3.common.atari_wrappers.AtariWrapper:
        terminal_on_life_loss: false
        action_repeat_probability: 0.1
  frame_stack: 4
  policy: CnnPolicy
  n_timesteps: !!float 1e7
  buffer_size: 1000
"""
    found = described(written("dqn", text), None, "PongNoFrameskip-v4")
    atari, stack = found.plan.wrappers
    assert (found.entry, atari.name, stack.name) == ("atari", "atari", "frame-stack")
    assert atari.config.episode_life is False and stack.config.n_stack == 4
    assert found.plan.policy.name == "cnn" and found.plan.observation_space.shape == (84, 84, 4)
    assert not found.plan.algorithm.config.double_q
    assert found.lost == (
        "env_wrapper stable_baselines3.common.atari_wrappers.AtariWrapper: atari has no "
        "counterpart of its action_repeat_probability.",
    )


def test_wrappers_have_their_keywords_by_rlks_names_or_as_they_are(written):
    text = f"""
CartPole-v1:
  {USUAL}env_wrapper:
    - rl_zoo3.wrappers.FrameSkip: {{skip: 2}}
    - gymnasium.wrappers.TimeLimit: {{max_episode_steps: 7}}
    - rl_zoo3.wrappers.HistoryWrapper: {{horizon: 3}}
"""
    repeat, other, history = described(written("ppo", text), None, "CartPole-v1").plan.wrappers
    assert repeat.config.repeat == 2 and history.config.horizon == 3
    assert other.dist == "gymnasium.wrappers:TimeLimit"
    assert other.config.max_episode_steps == 7


def test_hindsight_replay_is_a_plugin(written):
    text = """
default:
  n_timesteps: 100
  policy: MultiInputPolicy
  replay_buffer_class: HerReplayBuffer
  replay_buffer_kwargs: "dict(goal_selection_strategy='future', n_sampled_goal=3)"
"""
    plan = described(written("dqn", text), None, "rlk/BitFlipping-v0").plan
    (hindsight,) = (one for one in plan.choices() if one.name == "hindsight-replay")
    assert hindsight.config.n_sampled_goal == 3


def test_what_has_no_counterpart_is_said_and_what_is_off_is_not(written):
    text = f"""
CartPole-v1:
  {USUAL}normalize: false
  env_wrapper: null
  callback: mine.Callback
  vf_coeff: 0.5
  noise_std: 0.1
"""
    found = described(written("ppo", text), None, "CartPole-v1")
    callback, *others = found.lost
    assert callback.startswith("callback mine.Callback: what is called during training is a plugin")
    assert others == [f"{one}: rlk has no counterpart." for one in ("vf_coeff", "noise_std")]
    head = found.spec_toml().splitlines()[:4]
    assert head == [
        "# The entry CartPole-v1 of a file of rl-baselines3-zoo.",
        *(f"# {one}" for one in found.lost),
    ]


def test_settings_and_plugins_that_are_typed_count_more_than_the_file(written):
    found = described(
        written("ppo", PPO_YML),
        None,
        "CartPole-v1",
        plugins=["time-feature"],
        changes={"gamma": 0.5, "n_envs": 2, "env.max_episode_steps": 9},
    )
    assert found.plan.algorithm.config.gamma == 0.5 and found.plan.n_envs == 2
    assert found.plan.env.kwargs == {"max_episode_steps": 9}
    assert "time-feature" in [one.name for one in found.plan.wrappers]


def run(*typed: Any) -> str:
    result = CliRunner().invoke(command, [str(one) for one in typed], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_spec_that_is_written_trains(written, tmp_path, capsys):
    path, out = written("ppo", PPO_YML), tmp_path / "run"
    printed = run(path, "--env", "CartPole-v1", "--out", out)
    assert f"wrote {out}.toml: ppo" in printed and f"Type: rlk run {out}.toml\n" in printed
    spec = tomllib.loads(Path(f"{out}.toml").read_text(encoding="utf-8"))
    assert "seed" not in spec and spec["settings"]["learning_rate"] == "linear_0.0003"
    with pytest.raises(SystemExit) as ended:
        main(["run", f"{out}.toml", "--timesteps", "256", "--out", str(tmp_path / "folder")])
    assert ended.value.code == 0, capsys.readouterr().err
    assert (tmp_path / "folder" / "model.zip").is_file()


@pytest.mark.parametrize(
    ("name", "text", "kind", "said"),
    [
        ("tqc", PPO_YML, PlanError, "'tqc' is no algorithm of the zoo that rlk has. Type --algo"),
        ("ppo", "A-v0: {}", PlanError, "unknown environment 'CartPole-v1' in "),
        ("ppo", "default: {policy: MlpPolicy}", BadFile, "with names, n_timesteps and policy too"),
        ("ppo", "default: {policy: M, n_timesteps: 9, 1: 2}", BadFile, "a table with names"),
        (
            "ppo",
            "default: {n_timesteps: 9, policy: MlpPolicy, env_wrapper: {a.B: 3}}",
            BadFile,
            "a.B: its keywords must be a table, not 3",
        ),
        ("ppo", "default: [", BadFile, "is not a YAML file"),
        ("ppo", "!!python/object:os.system {}", BadFile, "is not a YAML file"),
        ("ppo", "- default", BadFile, "is not a file of rl-baselines3-zoo"),
        (
            "ppo",
            "default: {n_timesteps: 9, policy: MlpPolicy, policy_kwargs: 'dict(a=f(1))'}",
            BadFile,
            r"not a value of Python|not dict\(name=value",
        ),
        (
            "ppo",
            "default: {n_timesteps: 9, policy: MlpPolicy, env_wrapper: no_such_module.Wrapper}",
            PlanError,
            "cannot import plugin module 'no_such_module'",
        ),
    ],
)
def test_a_file_that_cannot_be_planned_is_refused(written, name, text, kind, said):
    with pytest.raises(kind, match=said):
        described(written(name, text), None, "CartPole-v1")


def test_a_refused_file_writes_nothing(written, tmp_path):
    path = written("ppo", PPO_YML)
    typed = [str(path), "--out", str(tmp_path / "run.toml"), "--env", "CartPole-v1"]
    for more, said in (
        (["--set", "gamma=7"], "gamma"),
        (["--normalize", "x.pkl"], "--normalize is for a model"),
    ):
        with pytest.raises(PlanError, match=said):
            CliRunner().invoke(command, [*typed, *more], catch_exceptions=False)
    with pytest.raises(PlanError, match="Name one: --env ID"):
        CliRunner().invoke(command, typed[:3], catch_exceptions=False)
    assert [one.name for one in tmp_path.iterdir()] == ["ppo.yml"]
