"""The arguments of models: the documented ones, their defaults, and which have no effect."""

from __future__ import annotations

import inspect
import pydoc
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import rlk_baselines
from rlk_baselines import A2C, ACER, DDPG, DQN, HER, PPO2, SAC, TD3
from rlk_baselines.common.base_class import ActorCriticRLModel, BaseRLModel, OffPolicyRLModel
from rlk_baselines.common.noise import AdaptiveParamNoiseSpec, NormalActionNoise
from rlk_baselines.common.policies import MlpPolicy
from rlk_sb3.common.base_class import BaseAlgorithm

MODELS = ("A2C", "ACER", "ACKTR", "DDPG", "DQN", "PPO1", "PPO2", "SAC", "TD3", "TRPO")
#: The documented signatures.
DOCUMENTED = {
    "A2C": "(policy, env, gamma=0.99, n_steps=5, vf_coef=0.25, ent_coef=0.01, max_grad_norm=0.5, "
    "learning_rate=0.0007, alpha=0.99, momentum=0.0, epsilon=1e-05, lr_schedule='constant', "
    "verbose=0, tensorboard_log=None, _init_setup_model=True, policy_kwargs=None, "
    "full_tensorboard_log=False, seed=None, n_cpu_tf_sess=None)",
    "ACER": "(policy, env, gamma=0.99, n_steps=20, num_procs=None, q_coef=0.5, ent_coef=0.01, "
    "max_grad_norm=10.0, learning_rate=0.0007, lr_schedule='linear', rprop_alpha=0.99, "
    "rprop_epsilon=1e-05, buffer_size=5000, replay_ratio=4.0, replay_start=1000, "
    "correction_term=10.0, trust_region=True, alpha=0.99, delta=1.0, verbose=0, "
    "tensorboard_log=None, _init_setup_model=True, policy_kwargs=None, "
    "full_tensorboard_log=False, seed=None, n_cpu_tf_sess=1)",
    "DDPG": "(policy, env, gamma=0.99, memory_policy=None, eval_env=None, nb_train_steps=50, "
    "nb_rollout_steps=100, nb_eval_steps=100, param_noise=None, action_noise=None, "
    "normalize_observations=False, tau=0.001, batch_size=128, param_noise_adaption_interval=50, "
    "normalize_returns=False, enable_popart=False, observation_range=(-5.0, 5.0), "
    "critic_l2_reg=0.0, return_range=(-inf, inf), actor_lr=0.0001, critic_lr=0.001, "
    "clip_norm=None, reward_scale=1.0, render=False, render_eval=False, memory_limit=None, "
    "buffer_size=50000, random_exploration=0.0, verbose=0, tensorboard_log=None, "
    "_init_setup_model=True, policy_kwargs=None, full_tensorboard_log=False, seed=None, "
    "n_cpu_tf_sess=1)",
    "DQN": "(policy, env, gamma=0.99, learning_rate=0.0005, buffer_size=50000, "
    "exploration_fraction=0.1, exploration_final_eps=0.02, exploration_initial_eps=1.0, "
    "train_freq=1, batch_size=32, double_q=True, learning_starts=1000, "
    "target_network_update_freq=500, prioritized_replay=False, prioritized_replay_alpha=0.6, "
    "prioritized_replay_beta0=0.4, prioritized_replay_beta_iters=None, "
    "prioritized_replay_eps=1e-06, param_noise=False, n_cpu_tf_sess=None, verbose=0, "
    "tensorboard_log=None, _init_setup_model=True, policy_kwargs=None, "
    "full_tensorboard_log=False, seed=None)",
    "PPO1": "(policy, env, gamma=0.99, timesteps_per_actorbatch=256, clip_param=0.2, "
    "entcoeff=0.01, optim_epochs=4, optim_stepsize=0.001, optim_batchsize=64, lam=0.95, "
    "adam_epsilon=1e-05, schedule='linear', verbose=0, tensorboard_log=None, "
    "_init_setup_model=True, policy_kwargs=None, full_tensorboard_log=False, seed=None, "
    "n_cpu_tf_sess=1)",
    "TD3": "(policy, env, gamma=0.99, learning_rate=0.0003, buffer_size=50000, "
    "learning_starts=100, train_freq=100, gradient_steps=100, batch_size=128, tau=0.005, "
    "policy_delay=2, action_noise=None, target_policy_noise=0.2, target_noise_clip=0.5, "
    "random_exploration=0.0, verbose=0, tensorboard_log=None, _init_setup_model=True, "
    "policy_kwargs=None, full_tensorboard_log=False, seed=None, n_cpu_tf_sess=None)",
    "PPO2": "(policy, env, gamma=0.99, n_steps=128, ent_coef=0.01, learning_rate=0.00025, "
    "vf_coef=0.5, max_grad_norm=0.5, lam=0.95, nminibatches=4, noptepochs=4, cliprange=0.2, "
    "cliprange_vf=None, verbose=0, tensorboard_log=None, _init_setup_model=True, "
    "policy_kwargs=None, full_tensorboard_log=False, seed=None, n_cpu_tf_sess=None)",
    "TRPO": "(policy, env, gamma=0.99, timesteps_per_batch=1024, max_kl=0.01, cg_iters=10, "
    "lam=0.98, entcoeff=0.0, cg_damping=0.01, vf_stepsize=0.0003, vf_iters=3, verbose=0, "
    "tensorboard_log=None, _init_setup_model=True, policy_kwargs=None, "
    "full_tensorboard_log=False, seed=None, n_cpu_tf_sess=1)",
    "SAC": "(policy, env, gamma=0.99, learning_rate=0.0003, buffer_size=50000, "
    "learning_starts=100, train_freq=1, batch_size=64, tau=0.005, ent_coef='auto', "
    "target_update_interval=1, gradient_steps=1, target_entropy='auto', action_noise=None, "
    "random_exploration=0.0, verbose=0, tensorboard_log=None, _init_setup_model=True, "
    "policy_kwargs=None, full_tensorboard_log=False, seed=None, n_cpu_tf_sess=None)",
    "ACKTR": "(policy, env, gamma=0.99, nprocs=None, n_steps=20, ent_coef=0.01, vf_coef=0.25, "
    "vf_fisher_coef=1.0, learning_rate=0.25, max_grad_norm=0.5, kfac_clip=0.001, "
    "lr_schedule='linear', verbose=0, tensorboard_log=None, _init_setup_model=True, "
    "async_eigen_decomp=False, kfac_update=1, gae_lambda=None, policy_kwargs=None, "
    "full_tensorboard_log=False, seed=None, n_cpu_tf_sess=1)",
}


def untyped(kind: Any) -> str:
    """The signature of a class, without types."""
    shown = inspect.signature(kind).parameters.values()
    return str(inspect.Signature([one.replace(annotation=one.empty) for one in shown]))


@pytest.mark.parametrize("name", MODELS)
def test_signatures_are_the_documented_ones(name: str) -> None:
    assert untyped(getattr(rlk_baselines, name)) == DOCUMENTED[name]


@pytest.mark.parametrize("name", MODELS)
def test_every_parameter_has_a_default(name: str) -> None:
    model = getattr(rlk_baselines, name)
    parameters = list(inspect.signature(model).parameters.values())[2:]
    assert all(one.default is not inspect.Parameter.empty for one in parameters)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"policy_kwargs": 3}, "PPO2: policy_kwargs must be a dict or None, got 3"),
        ({"policy_kwargs": ["net_arch"]}, "policy_kwargs must be a dict"),
        ({"tensorboard_log": True}, "PPO2: tensorboard_log must be a folder or None, got True"),
        ({"seed": {}}, "PPO2: seed must be a whole number or None, got {}"),
        ({"verbose": None}, "PPO2: verbose must be a whole number, got None"),
    ],
)
def test_arguments_of_another_kind_are_refused(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        PPO2("MlpPolicy", "CartPole-v1", **wrong)


def test_arguments_may_be_given_by_position() -> None:
    model = DQN("MlpPolicy", "CartPole-v1", 0.9, 1e-3, 500)
    assert (model.gamma, model.learning_rate, model.buffer_size) == (0.9, 1e-3, 500)
    assert model.agent.plan.algorithm.config.gamma == 0.9


def test_an_unknown_argument_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(TypeError, match="Did you mean 'gamma'"):
        PPO2("MlpPolicy", "CartPole-v1", gama=0.9)


def test_what_another_argument_leaves_out_is_skipped_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="prioritized_replay_alpha=0.5 has no effect without prio"):
        DQN("MlpPolicy", "CartPole-v1", prioritized_replay_alpha=0.5)
    with pytest.warns(UserWarning, match="delta=2.0 has no effect without trust_region=True"):
        ACER("MlpPolicy", "CartPole-v1", trust_region=False, delta=2.0)
    with pytest.warns(UserWarning, match="target_entropy=-2.0 has no effect without ent_coef"):
        SAC("MlpPolicy", "Pendulum-v1", ent_coef=0.2, target_entropy=-2.0)


def test_settings_of_an_absent_noise_are_skipped_with_a_warning() -> None:
    text = "param_noise_adaption_interval=20 has no effect without param_noise"
    settings = {"param_noise_adaption_interval": 20, "nb_rollout_steps": 10}
    for noise in (None, NormalActionNoise(np.zeros(1), 0.1 * np.ones(1))):
        with pytest.warns(UserWarning, match=text):
            DDPG("MlpPolicy", "Pendulum-v1", action_noise=noise, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = DDPG("MlpPolicy", "Pendulum-v1", param_noise=AdaptiveParamNoiseSpec(), **settings)
    assert model.agent.plan.noises[0].config.adaption_interval == 20


@pytest.mark.parametrize("cls", [HER, BaseRLModel])
def test_a_class_that_is_not_an_algorithm_keeps_its_constructors_signature(cls: Any) -> None:
    assert cls.__name__ in pydoc.render_doc(cls)
    if cls is HER:
        own = "policy env model_class n_sampled_goal goal_selection_strategy args info_keys kwargs"
        assert list(inspect.signature(cls).parameters) == own.split()


@pytest.mark.parametrize(
    ("argument", "told"),
    [
        (
            {"log_interval": -1},
            "log_interval must be a whole number of at least 1, or 0 for never, got -1",
        ),
        ({"tb_log_name": 3}, "tb_log_name must be the name of a folder, got 3"),
    ],
)
def test_arguments_of_learn_are_refused_before_it_begins(argument: Any, told: str, tmp_path: Any):
    model = A2C("MlpPolicy", "CartPole-v1", tensorboard_log=str(tmp_path / "logs"))
    with pytest.raises(ValueError, match=told):
        model.learn(10, **argument)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: PPO2("MlpPolicy", "CartPole-v1", n_steps=2), r"\. Use n_steps=8 or more, or"),
        (lambda: PPO2("MlpLstmPolicy", "CartPole-v1"), r"nminibatches=1, or 4 environments or a"),
        (lambda: HER("MlpPolicy", "CartPole-v1", DQN), r"^HER needs an environment with goals"),
        (
            lambda: A2C("MlpPolicy", "CartPole-v1", policy_kwargs={"net_arch": [8, "lstm"]}),
            "='lstm'",
        ),
    ],
)
def test_errors_say_what_to_write_in_a_program(make: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        make()


def test_a_package_that_an_old_id_needs_is_named_as_by_the_command_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "Box2D", None)
    for name in [one for one in sys.modules if one.startswith("gymnasium.envs.box2d")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ValueError, match=r'Type: pip install "rlk-gymnasium\[box2d\]"'):
        PPO2("MlpPolicy", "LunarLander-v3")


def test_the_policy_of_a_model_is_its_class() -> None:
    assert PPO2("MlpLstmPolicy", "CartPole-v1", nminibatches=1).policy.recurrent
    assert A2C(MlpPolicy, "CartPole-v1").policy is MlpPolicy
    assert A2C("mlp", "CartPole-v1").policy == "mlp", "a name of rlk's has no class"


def test_noise_is_an_object() -> None:
    noise = NormalActionNoise(mean=np.zeros(1), sigma=0.1 * np.ones(1))
    model = TD3("MlpPolicy", "Pendulum-v1", action_noise=noise, learning_starts=10, train_freq=20)
    model.learn(40)
    assert model.agent.plan.noises[0].name == "normal-noise"


def test_a_model_may_be_set_up_later() -> None:
    model = A2C("MlpPolicy", None, _init_setup_model=False)
    with pytest.raises(ValueError, match="needs an environment"):
        model.setup_model()
    model.set_env("CartPole-v1")
    model.setup_model()
    assert isinstance(model, BaseRLModel) and model.n_envs == 1


def test_what_was_tensorflows_says_so() -> None:
    model = A2C("MlpPolicy", "CartPole-v1")
    with pytest.raises(AttributeError, match="belongs to TensorFlow"):
        _ = model.sess


class OwnAlgorithm(ActorCriticRLModel):
    def __init__(self, policy: Any, env: Any) -> None:
        super().__init__(policy, env, requires_vec_env=True, policy_base=MlpPolicy)


@pytest.mark.parametrize(
    "cls", [BaseRLModel, ActorCriticRLModel, OffPolicyRLModel, BaseAlgorithm, OwnAlgorithm]
)
def test_a_class_without_an_algorithm_is_refused_with_how_to_write_one(cls: Any) -> None:
    told = f"{cls.__name__} has no algorithm .*: rlk plugins new NAME --kind algorithm"
    with pytest.raises(ValueError, match=told):
        cls("MlpPolicy", "CartPole-v1")


def test_a_model_class_may_have_a_learn_of_its_own():
    class Mine(PPO2):
        algo = "ppo2"

        def learn(self, total_timesteps, **_):
            return total_timesteps + 1

    assert Mine.learn(object(), 3) == 4
