"""Names and settings of Stable Baselines and its zoos for which rlk has its own."""

from __future__ import annotations

import pytest

import rlk
from rlk.errors import PlanError
from rlk.registry.kernel import default_kernel


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("--plugin EvalCallback", "Did you mean 'evaluation'?"),
        ("--plugin CheckpointCallback", "Did you mean 'checkpoint'?"),
        ("--plugin StopTrainingOnRewardThreshold", "Did you mean 'stop-on-reward'?"),
        ("--plugin StopTrainingOnNoModelImprovement", "'stop-on-no-improvement'?"),
        ("--plugin StopTrainingOnMaxEpisodes", "Did you mean 'max-episodes'?"),
        ("--plugin EveryNTimesteps", "Did you mean 'every-n'?"),
        ("--plugin VecNormalize", "Did you mean 'normalize'?"),
        ("--plugin Monitor", "Did you mean 'monitor'?"),
        ("--plugin VecFrameStack", "Did you mean 'frame-stack'?"),
        ("--plugin HerReplayBuffer", "Did you mean 'hindsight-replay'?"),
        ("--plugin HindsightExperienceReplayWrapper", "Did you mean 'hindsight-replay'?"),
        ("--vec-env SubprocVecEnv", "Did you mean 'subprocess'?"),
        ("--noise AdaptiveParamNoiseSpec", "Did you mean 'adaptive-parameter-noise'"),
        ("--algo GAIL", "Did you mean 'gail'?"),
        ("--algo HER", "Did you mean 'her'?"),
        ("--set n_timesteps=1000", "total_timesteps=… (--timesteps …)"),
        ("--set eval_freq=1000", "use --plugin evaluation:every=1000, or in Python plugins=["),
        ("--set normalize=true", "use --plugin normalize, or in Python plugins=['normalize']"),
        ("--set normalize=false", "normalize: it is off unless you ask for it. Leave it out."),
        ("--set tensorboard_log=none", "tensorboard_log: it is off unless you ask for it. Leave"),
        ("--set frame_stack=none", "frame_stack: it is off unless you ask for it. Leave it out."),
        ("--plugin tensorboard --set tensorboard_log=none", "use --plugin no:tensorboard, or"),
        ("--set progress=false", "use --plugin no:progress-bar, or"),
        ("--set progress_bar=false", "use --plugin no:progress-bar, or in Python plugins=['no:pr"),
        ("--set monitor=false", "use --plugin no:monitor, or in Python plugins=['no:monitor']"),
        ("--set csv=none", "use --plugin no:csv, or"),
        ("--set eval_freq=-1", "no evaluation unless you ask for one. Leave it out."),
        ("--set save_freq=-1", "unless checkpoint.every is set. Leave it out."),
        ("--set trained_agent=", "begins with a new policy unless you ask for a saved one."),
        ("--algo dqn --set replay_buffer_class=none", "the algorithm's own unless you ask for"),
        ("--set monitor_kwargs=dict(info_keywords=['x'])", "use --plugin 'monitor:info_keywords=["),
        ("--set frame_stack=4", "use --plugin frame-stack:n_stack=4, or"),
        ("--set env_wrapper=mine.Wrapper", "use --plugin mine:Wrapper, or"),
        ("--set env_wrapper=[mine.Wrapper]", "rlk plugins list --kind wrappers"),
        ("--algo dqn --set optimize_memory_usage=true", "observation once, always. Leave it out."),
        ("--set policy.activation_fn=nn.ReLU", "use --set policy.act_fun=relu, or"),
        ("--set policy.ortho_init=false", "use --set policy.init=uniform, or"),
        ("--set policy.log_std_init=-2", "use --set distribution.log_std_init=-2, or"),
        (
            "--policy lstm --set policy_kwargs=dict(net_arch=[dict(pi=[8])])",
            'say where the LSTM is: policy.net_arch=["lstm", {pi = […], vf = […]}], with',
        ),
        ("--set policy.use_expln=true", "use --plugin gsde:use_expln=true, or"),
        ("--set policy.lstm_hidden_size=64", "use --plugin lstm:n_lstm=64, or"),
        ("--plugin sb3_contrib.common.wrappers.TimeFeatureWrapper", "mean 'time-feature'?"),
        ("--plugin gymnasium.wrappers.ClipAction", "you mean 'gymnasium.wrappers:ClipAction'?"),
        ("--set vec_env_wrapper=there.vec_env.VecFrameStack", "use --plugin frame-stack, or"),
        ("--algo ppo_lstm", "unknown algorithm 'ppo_lstm'. Use --algo ppo --policy lstm."),
        ("--algo QRDQN", "has no QR-DQN. The nearest is --algo dqn,"),
        ("--algo tqc", "has no TQC. The nearest are --algo sac and --algo td3."),
        ("--algo crossq", "has no CrossQ. The nearest is --algo sac."),
        ("--algo ars", "there is --algo trpo --set policy.layers=[]."),
        ("--algo ddpg --set learning_rate=0.1", "use --set actor_lr=0.1 --set critic_lr=0.1, or"),
        ("--algo ddpg --set train_freq=4", "use --set nb_rollout_steps=4, or"),
        ("--algo ppo1 --set n_steps=128", "use --set timesteps_per_actorbatch=128, or"),
        ("--algo trpo --set n_steps=128", "N is n_steps (128) times n_envs."),
        ("--algo trpo --set n_critic_updates=20", "use --set vf_iters=20, or"),
        ("--algo trpo --set sub_sampling_factor=2", "use the whole batch. Leave it out."),
        ("--algo dqn --set target_update_interval=9", "--set target_network_update_freq=9, or"),
        ("--algo a2c --set use_sde=true", "use --plugin gsde, or"),
        ("--algo a2c --set use_rms_prop=true", "rmsprop is in this run already. Leave it out."),
        ("--algo a2c --set use_rms_prop=false", "use --plugin adam, or"),
        ("--algo sac --set replay_buffer_class=HerReplayBuffer", "use --plugin hindsight-replay,"),
    ],
)
def test_a_word_of_stable_baselines_is_answered_with_rlks_own(rlk_typed, typed, said):
    algo = () if "--algo" in typed else ("--algo", "ppo2")
    ended = rlk_typed("run", *algo, *typed.split())
    assert ended.code == 2 and said in ended.err


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("--algo bc --set n_steps=128", "algorithm 'bc' (rlk-bc 0.1.0): 'n_steps'"),
        ("--algo dqn --set policy.log_std_init=-2", "(rlk-mlp 0.1.0): 'log_std_init'"),
        ("--algo dqn --set policy.lstm_hidden_size=9", "(rlk-mlp 0.1.0): 'lstm_hidden_size'"),
        ("--algo ppo --set policy.alpha=3", "(rlk-mlp 0.1.0): 'alpha'"),
    ],
)
def test_no_component_is_named_that_the_run_could_not_have(rlk_typed, typed, said):
    ended = rlk_typed("run", *typed.split())
    assert ended.err.startswith("Error: unknown setting of ") and said in ended.err


@pytest.mark.parametrize(
    ("algo", "given", "typed"),
    [
        ("sac", {"noise_std": 0.2, "noise_type": "normal"}, "--plugin normal-noise:sigma=0.2"),
        (
            "ppo",
            {"normalize": "{'norm_obs': True, 'norm_reward': False}"},
            "--plugin normalize:norm_obs=true,norm_reward=false",
        ),
        ("ppo", {"env_kwargs": {"goal": {"x": 1}}}, "--set 'env.goal={\"x\" = 1}'"),
        (
            "ppo",
            {"policy_kwargs": "dict(log_std_init=-2, net_arch=[64, 64])"},
            "--set distribution.log_std_init=-2 --set 'policy.layers=[64, 64]'",
        ),
        (
            "ppo",
            {"policy_kwargs": "dict(net_arch=dict(pi=[8], vf=[9]), activation_fn=torch.nn.Tanh)"},
            '--set \'policy.net_arch={"pi" = [8], "vf" = [9]}\' --set policy.act_fun=tanh',
        ),
        (
            "ppo",
            {"policy": "lstm", "policy_kwargs": {"lstm_hidden_size": 9, "net_arch": [8]}},
            "--set policy.n_lstm=9 --set "
            """'policy.net_arch=["lstm", {"pi" = [8], "vf" = [8]}]'""",
        ),
        (
            "ppo2",
            {
                "policy": "lstm",
                "policy_kwargs": "dict(n_lstm=64, net_arch=[8, 'lstm', dict(vf=[5])])",
            },
            """--set policy.n_lstm=64 --set 'policy.net_arch=[8, "lstm", {"vf" = [5]}]'""",
        ),
        (
            "sac",
            {"policy_kwargs": {"log_std_init": -3, "use_expln": True}},
            "--plugin gsde:log_std_init=-3,use_expln=true",
        ),
        (
            "sac",
            {"use_sde": True, "policy_kwargs": {"use_expln": True}},
            "--set distribution.use_expln=true",
        ),
        (
            "a2c",
            {"policy_kwargs": "dict(optimizer_class=RMSpropTFLike, optimizer_kwargs=dict(eps=1))"},
            "--set optimiser.variant=tensorflow --set epsilon=1",
        ),
        (
            "sac",
            {"replay_buffer_kwargs": "dict(n_sampled_goal=4)"},
            "--plugin hindsight-replay:n_sampled_goal=4",
        ),
    ],
)
def test_settings_in_the_form_of_stable_baselines3s_zoo_are_given_in_rlks(algo, given, typed):
    with pytest.raises(PlanError) as error:
        rlk.make(algo, env="Pendulum-v1", **given)
    assert f": use {typed}, or in Python " in str(error.value)


def test_what_joins_by_itself_is_left_out_as_the_error_says(tmp_path):
    with pytest.raises(PlanError, match="in Python") as error:
        rlk.make("ppo", env="Pendulum-v1", out=tmp_path, csv=False)
    keywords = str(error.value).partition(" or in Python ")[2].removesuffix(".")
    with eval(f"rlk.make('ppo', env='Pendulum-v1', out=tmp_path, {keywords})") as agent:
        names = [choice.name for choice in agent.plan.choices()]
        assert "csv" not in names and "checkpoint" in names


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"noise_std": 0.2},
            "noise_std: it is the sigma of a noise: --plugin normal-noise:sigma=0.2",
        ),
        ({"noise_type": "normal"}, "noise_type: use --plugin normal-noise:sigma=VALUE, or"),
        (
            {"noise_std": 0.2, "noise_type": "ornstein-uhlenbeck"},
            "noise_type: use --plugin ornstein-uhlenbeck-noise:sigma=0.2, or",
        ),
        (
            {"noise_std": 0.2, "noise": "ornstein-uhlenbeck-noise"},
            "noise_std: use --plugin ornstein-uhlenbeck-noise:sigma=0.2, or",
        ),
        (
            {"noise_std": 0.2, "noise": "adaptive-parameter-noise"},
            "noise_std: use --plugin adaptive-parameter-noise:initial_stddev=0.2,desired_action_s",
        ),
    ],
)
def test_the_words_of_a_noise_are_known_together_and_alone(given, said):
    with pytest.raises(PlanError) as error:
        rlk.make("td3", env="Pendulum-v1", **given)
    assert str(error.value).startswith(said)


@pytest.mark.parametrize("algo", ["ddpg", "td3"])
@pytest.mark.parametrize(
    "given", [{"use_sde": True}, {"sde_sample_freq": 4}, {"policy_kwargs": {"log_std_init": -2}}]
)
def test_an_algorithm_without_a_distribution_names_those_that_may_have_one(algo, given):
    with pytest.raises(PlanError, match=f"'{algo}'.* draws its actions from no") as error:
        rlk.make(algo, env="Pendulum-v1", **given)
    said = str(error.value)
    named = said.partition("with an algorithm that does: ")[2].removesuffix(".").split(", ")
    assert {"a2c", "ppo", "sac"} <= {*named} and not {"ddpg", "td3", "dqn", "acer"} & {*named}
    for other in {*named} - {"bc"}:  # which needs data of an expert
        with rlk.make(other, env="Pendulum-v1", plugins=["gsde"]) as agent:
            assert agent.plan.distribution.name == "gsde"


def test_what_is_off_anyway_is_left_out_of_an_algorithm_without_a_distribution():
    with pytest.raises(PlanError, match="use_sde: there is none unless you ask for it"):
        rlk.make("td3", env="Pendulum-v1", use_sde=False)


def test_a_noise_of_the_run_is_named_so_that_it_stays_without_the_preset():
    given = {"noise": "normal-noise", "noise_type": "normal", "noise_std": 0.2}
    with pytest.raises(PlanError, match=r"use --plugin normal-noise:sigma=0\.2, or"):
        rlk.make("td3", env="Pendulum-v1", **given)


def test_what_is_said_of_policy_kwargs_is_taken_as_keywords():
    with pytest.raises(PlanError, match="in Python") as error:
        rlk.make("ppo", env="Pendulum-v1", policy_kwargs="dict(log_std_init=-2, net_arch=[8])")
    keywords = str(error.value).partition(" or in Python ")[2].removesuffix(".")
    with eval(f"rlk.make('ppo', env='Pendulum-v1', n_steps=64, {keywords})") as agent:
        assert agent.plan.policy.config.layers == [8]
        assert agent.plan.distribution.config.log_std_init == -2


def test_settings_of_a_wrapper_that_is_there_are_no_word_of_others():
    given = {"plugins": ["normalize"], "normalize.norm_reward": False, "normalize": {"gamma": 0.9}}
    with rlk.make("ppo2", env="CartPole-v1", **given) as agent:
        (normalize,) = agent.plan.wrappers
        assert (normalize.config.gamma, normalize.config.norm_reward) == (0.9, False)


def test_what_others_call_a_component_is_nobodys_name():
    registries = default_kernel().registries
    names = {name for registry in registries for name in registry.names()}
    for entry in registries.every_entry():
        assert not names.intersection(entry.component().known_as)
