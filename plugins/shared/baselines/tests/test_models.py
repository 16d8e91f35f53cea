from __future__ import annotations

import inspect
import io
import pydoc
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces

import rlk_baselines
from rlk.errors import BadFile
from rlk_baselines import A2C, ACER, DDPG, DQN, HER, PPO2, SAC, TD3, gym
from rlk_baselines.common import make_vec_env
from rlk_baselines.common.base_class import BaseRLModel
from rlk_baselines.common.bit_flipping_env import BitFlippingEnv
from rlk_baselines.common.evaluation import evaluate_policy
from rlk_baselines.common.noise import AdaptiveParamNoiseSpec, NormalActionNoise
from rlk_baselines.common.policies import FeedForwardPolicy, LstmPolicy, MlpPolicy, register_policy
from rlk_baselines.common.vec_env import DummyVecEnv, VecNormalize

MODELS = ("A2C", "ACER", "ACKTR", "DDPG", "DQN", "PPO1", "PPO2", "SAC", "TD3", "TRPO")
#: Some of the documented signatures.
DOCUMENTED = {
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


class Small(FeedForwardPolicy):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(
            *args, **kwargs, net_arch=[{"pi": [4], "vf": [5]}], feature_extraction="mlp"
        )


def small_ppo(env: Any = "CartPole-v1", policy: Any = "MlpPolicy", **keywords: Any) -> PPO2:
    return PPO2(policy, env, n_steps=16, nminibatches=1, seed=0, n_cpu_tf_sess=1, **keywords)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_signatures_are_the_documented_ones(name: str) -> None:
    assert str(inspect.signature(getattr(rlk_baselines, name))) == DOCUMENTED[name]


@pytest.mark.parametrize("name", MODELS)
def test_every_parameter_has_a_default_and_every_model_says_how_it_learns(name: str) -> None:
    model = getattr(rlk_baselines, name)
    parameters = list(inspect.signature(model).parameters.values())[2:]
    assert all(one.default is not inspect.Parameter.empty for one in parameters)
    assert inspect.signature(model.learn).parameters["tb_log_name"].default == name


def test_arguments_may_be_given_by_position() -> None:
    model = DQN("MlpPolicy", "CartPole-v1", 0.9, 1e-3, 500)
    assert (model.gamma, model.learning_rate, model.buffer_size) == (0.9, 1e-3, 500)
    assert model.agent.plan.algorithm.config.gamma == 0.9


def test_an_unknown_argument_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(TypeError, match="Did you mean 'gamma'"):
        PPO2("MlpPolicy", "CartPole-v1", gama=0.9)


@pytest.mark.parametrize("cls", [A2C, DQN])
def test_the_same_model_comes_back_from_every_kind_of_file(cls: Any, tmp_path: Path) -> None:
    model = cls("MlpPolicy", "CartPole-v1", seed=0, gamma=0.9)
    obs = np.array([0.1, 0.2, 0.3, 0.4])
    buffer = io.BytesIO()
    model.save(tmp_path / "one")
    model.save(tmp_path / "two", cloudpickle=True)
    model.save(buffer)
    buffer.seek(0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.zip", "two.pkl"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        loaded = [cls.load(tmp_path / "one"), cls.load(tmp_path / "two.pkl"), cls.load(buffer)]
    expected = model.get_parameters()
    for other in loaded:
        found = other.get_parameters()
        assert found.keys() == expected.keys()
        assert all(np.array_equal(found[name], expected[name]) for name in expected)
        assert other.gamma == 0.9 and other.predict(obs, deterministic=True)[0] in (0, 1)


def test_a_model_that_was_loaded_without_environment_acts_and_says_what_it_lacks_to_learn(
    counting, tmp_path: Path
) -> None:
    small_ppo(counting()).save(tmp_path / "model")
    model = PPO2.load(tmp_path / "model")
    assert model.predict(np.zeros(2))[0] in (0, 1)
    assert model.get_env() is None
    with pytest.raises(ValueError, match="no environment to learn in"):
        model.learn(16)
    model.set_env(counting())
    assert model.learn(16).num_timesteps == 16


def test_the_environment_of_a_registered_id_comes_back(tmp_path: Path) -> None:
    DQN("MlpPolicy", gym.make("CartPole-v1")).save(tmp_path / "model")
    model = DQN.load(tmp_path / "model")
    mean, std = evaluate_policy(model, model.get_env(), n_eval_episodes=2)
    assert mean >= 8 and std >= 0


def test_what_a_file_holds_is_replaced_by_what_load_is_given(tmp_path: Path) -> None:
    small_ppo(learning_rate=lambda remaining: 1e-3 * remaining).save(tmp_path / "model")
    objects = {"learning_rate": 2e-3, "cliprange": 0.1}
    model = PPO2.load(tmp_path / "model", custom_objects=objects, gamma=0.5)
    config = model.agent.plan.algorithm.config
    assert (config.learning_rate, config.cliprange, config.gamma) == (2e-3, 0.1, 0.5)


def test_what_does_not_fit_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model"
    small_ppo(policy_kwargs={"net_arch": [8]}).save(path)
    with pytest.raises(ValueError, match=r"PPO2 has no learning_rat to replace"):
        PPO2.load(path, learning_rat=1)
    with pytest.warns(UserWarning, match="custom_objects that are no arg.* no effect: learning_r"):
        PPO2.load(path, custom_objects={"learning_rat": 1})
    with pytest.raises(ValueError, match=r"policy_kwargs=.* are not those of the saved model"):
        PPO2.load(path, policy_kwargs={"net_arch": [9]})
    with pytest.raises(ValueError, match=r"model of PPO2, not of A2C. Write PPO2\.load"):
        A2C.load(path)
    with pytest.raises(ValueError, match="could not be found"):
        PPO2.load(tmp_path / "nothing")
    (tmp_path / "code.pkl").write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    with pytest.raises(BadFile, match=r"load.*cloudpickle=True"), pytest.warns(DeprecationWarning):
        PPO2.load(tmp_path / "code.pkl")


def test_policies_are_classes_names_and_registered_names(tmp_path: Path) -> None:
    register_policy("Small", Small)
    register_policy("Small", Small)
    with pytest.raises(ValueError, match="exists already"):
        register_policy("MlpPolicy", Small)
    for policy in (Small, "Small"):
        model = small_ppo(policy=policy)
        assert model.get_parameters()["model/pi/trunk/layers/0/weight"].shape[-2:] == (4, 4)
    model.save(tmp_path / "model")
    assert PPO2.load(tmp_path / "model").predict(np.zeros(4))[0] in (0, 1)
    assert small_ppo(policy=MlpPolicy).agent.plan.policy.name == "mlp"


def test_a_recurrent_policy_with_the_documented_signature_remembers() -> None:
    class Custom(LstmPolicy):
        def __init__(
            self, sess, ob_space, ac_space, n_env, n_steps, n_batch, n_lstm=8, reuse=False, **kwargs
        ):
            super().__init__(
                *(sess, ob_space, ac_space, n_env, n_steps, n_batch, n_lstm, reuse),
                net_arch=[8, "lstm", {"vf": [5, 10], "pi": [10]}],
                layer_norm=True,
                feature_extraction="mlp",
                **kwargs,
            )

    model = small_ppo(policy=Custom, policy_kwargs={"n_lstm": 6}).learn(16)
    env, state, done = model.get_env(), None, [False]
    obs = env.reset()
    for _ in range(2):
        action, state = model.predict(obs, state=state, mask=done)
        obs, _, done, _ = env.step(action)
    assert state is not None


def test_a_policy_of_tensorflow_is_refused_with_what_to_write() -> None:
    class OfTensorFlow(FeedForwardPolicy):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.hidden = tf.layers.dense(self.processed_obs, 3)  # noqa: F821

    with pytest.raises(ValueError, match=r"builds TensorFlow's graph in __init__.*net_arch"):
        small_ppo(policy=OfTensorFlow)


def test_an_activation_of_torch_is_saved_by_its_name(tmp_path: Path) -> None:
    for act_fun in (torch.relu, torch.nn.functional.relu, torch.nn.ReLU):
        model = small_ppo(policy_kwargs={"act_fun": act_fun})
        assert model.agent.plan.policy.config.act_fun == "relu"


def test_parameters_are_given_out_and_taken_back() -> None:
    model = small_ppo()
    names = [variable.name for variable in model.get_parameter_list()]
    values = model.get_parameters()
    assert names == list(values) and any("/pi/" in name for name in names)
    model.load_parameters({names[0]: values[names[0]] + 1}, exact_match=False)
    assert np.allclose(model.get_parameters()[names[0]], values[names[0]] + 1)
    with pytest.raises(RuntimeError, match="missing"):
        model.load_parameters({names[0]: values[names[0]]})


def test_one_environment_is_given_out_without_the_axis_of_a_vector() -> None:
    env = DQN("MlpPolicy", "CartPole-v1").get_env()
    assert env.reset().shape == (4,)
    obs, reward, done, info = env.step(0)
    assert (obs.shape, reward, done, info) == ((4,), 1.0, False, {})
    assert A2C("MlpPolicy", "CartPole-v1").get_env().reset().shape == (1, 4)


def test_the_environment_is_still_the_programs_own(counting) -> None:
    first, second = DummyVecEnv([counting]), DummyVecEnv([counting])
    model = small_ppo(first)
    model.set_env(second)
    assert model.get_env() is second and first.reset().shape == (1, 2)
    with pytest.raises(ValueError, match="observation_space"):
        model.set_env("CartPole-v1")
    assert model.get_env() is second


@pytest.mark.parametrize("cls", [PPO2, DQN])
def test_a_model_moves_to_a_vector_of_another_number(cls: Any, counting) -> None:
    settings = {"n_steps": 16} if cls is PPO2 else {"learning_starts": 4, "buffer_size": 100}
    model = cls("MlpPolicy", counting(), gamma=0.9, seed=0, n_cpu_tf_sess=1, **settings).learn(16)
    before, run = model.get_parameters(), model.agent.run
    model.set_env(DummyVecEnv([counting] * 3))
    after = model.get_parameters()
    assert all(np.array_equal(after[name], before[name]) for name in before)
    assert model.n_envs == model.get_env().num_envs == 3 and model.num_timesteps == 16
    assert model.agent.plan.algorithm.config.gamma == 0.9
    if cls is DQN:
        assert len(run.storage) == 16 and len(model.replay_buffer) == 15  # 5 in each of 3
    assert model.learn(48).num_timesteps == 48


@pytest.mark.parametrize("n_envs", [1, 2])
def test_means_are_of_the_episodes_of_the_environment_that_is_set(n_envs: int, counting) -> None:
    model = small_ppo(counting(length=3)).learn(16)
    assert {one["l"] for one in model.ep_info_buf} == {3}
    model.set_env(DummyVecEnv([lambda: counting(length=4)] * n_envs))
    assert model.ep_info_buf == []
    model.learn(32)
    assert {one["l"] for one in model.ep_info_buf} == {4}


def test_an_attribute_that_was_set_counts_before_a_vector_of_another_number(counting) -> None:
    model = small_ppo(counting()).learn(16)
    model.gamma = 0.5
    model.set_env(DummyVecEnv([counting] * 2))
    assert model.learn(32).agent.plan.algorithm.config.gamma == 0.5


def test_training_goes_on_where_an_episode_was(counting) -> None:
    env = DummyVecEnv([lambda: counting(40)])
    model = small_ppo(env).learn(16)
    model.learn(16, reset_num_timesteps=False)
    assert env.get_attr("steps") == [32] and model.num_timesteps == 32


def test_environments_keep_their_own_seeds_unless_the_model_has_one(counting) -> None:
    env = DummyVecEnv([counting])
    env.seed(5)
    PPO2("MlpPolicy", env, n_steps=16, nminibatches=1).learn(16)
    assert env.get_attr("seeds") == [[5]]


def test_a_normalised_environment_is_seen_by_the_model(counting) -> None:
    env = VecNormalize(make_vec_env(counting, n_envs=2))
    model = small_ppo(env).learn(32)
    assert model.get_vec_normalize_env() is env and env.obs_rms.count > 32
    assert model.ep_info_buf[-1] == {"r": 3.0, "l": 3.0}


def test_what_another_argument_leaves_out_is_warned_of_and_passed_over() -> None:
    with pytest.warns(UserWarning, match="prioritized_replay_alpha=0.5 has no effect without prio"):
        DQN("MlpPolicy", "CartPole-v1", prioritized_replay_alpha=0.5)
    with pytest.warns(UserWarning, match="delta=2.0 has no effect without trust_region=True"):
        ACER("MlpPolicy", "CartPole-v1", trust_region=False, delta=2.0)
    with pytest.warns(UserWarning, match="target_entropy=-2.0 has no effect without ent_coef"):
        SAC("MlpPolicy", "Pendulum-v1", ent_coef=0.2, target_entropy=-2.0)


def test_what_a_noise_that_is_not_there_would_take_is_warned_of_and_passed_over() -> None:
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
def test_a_class_that_is_no_algorithm_has_the_signature_of_its_constructor(cls: Any) -> None:
    assert cls.__name__ in pydoc.render_doc(cls)
    if cls is HER:
        own = "policy env model_class n_sampled_goal goal_selection_strategy args info_keys kwargs"
        assert list(inspect.signature(cls).parameters) == own.split()


@pytest.mark.parametrize("logp", [False, True])
def test_actions_whose_probability_is_asked_for_may_have_an_axis_of_one(logp: bool) -> None:
    model, observations = small_ppo(), np.linspace(-1, 1, 12).reshape(3, 4)
    expected = model.action_probability(observations, actions=np.array([0, 1, 1]), logp=logp)
    found = model.action_probability(observations, actions=[[0], [1], [1]], logp=logp)
    assert found.shape == (3, 1) and np.array_equal(found, expected)
    assert model.action_probability(observations[0], actions=[[0]], logp=logp) == expected[0]
    swinging = PPO2("MlpPolicy", "Pendulum-v1", n_steps=16, nminibatches=1)
    observations, actions = observations[:, :3], np.array([0.1, 0.2, 0.3])
    found = swinging.action_probability(observations, actions=actions, logp=logp)
    assert np.array_equal(
        found, swinging.action_probability(observations, actions=actions[:, None], logp=logp)
    )
    with pytest.raises(ValueError, match="actions for 3 observations have the shape"):
        model.action_probability(np.zeros((3, 4)), actions=[0, 1])


def test_noise_is_an_object() -> None:
    noise = NormalActionNoise(mean=np.zeros(1), sigma=0.1 * np.ones(1))
    model = TD3("MlpPolicy", "Pendulum-v1", action_noise=noise, learning_starts=10, train_freq=20)
    model.learn(40)
    assert model.agent.plan.noises[0].name == "normal-noise"


def test_transitions_can_be_added_by_hand() -> None:
    model = SAC("MlpPolicy", "Pendulum-v1")
    model.replay_buffer_add(np.zeros(3), np.zeros(1), 1.0, np.ones(3), False, {})
    model.replay_buffer_add(np.ones(3), np.zeros(1), 1.0, np.ones(3), True, {})
    assert len(model.agent.run.storage) == 2 and not model.is_using_her()
    replay = model.replay_buffer
    assert len(replay) == 2 and replay.can_sample(2) and not replay.is_full()
    obs, actions, rewards, following, dones = replay.sample(32)
    assert obs.shape == following.shape == (32, 3) and actions.shape == (32, 1)
    assert set(rewards.tolist()) == {1.0} and np.array_equal(dones, obs[:, 0])


def test_a_deterministic_policy_has_no_probabilities() -> None:
    model = DDPG("MlpPolicy", "Pendulum-v1")
    with pytest.warns(UserWarning, match="without probabilities"):
        assert model.action_probability(np.zeros(3)) is None
    assert A2C("MlpPolicy", "CartPole-v1").action_probability(np.zeros(4)).sum() == pytest.approx(1)


def test_hindsight_with_goals_of_gyms_interface(tmp_path: Path) -> None:
    env = BitFlippingEnv(4, max_steps=4)
    model = HER("MlpPolicy", env, DQN, n_sampled_goal=2, learning_starts=10, seed=0)
    infos: list[Any] = []
    model.learn(30, callback=lambda variables, _: infos.append(variables["info"]))
    assert len(infos) == 30 and infos[0]["is_success"] in (False, True)
    assert model.is_using_her() and model.agent.plan.storages[-1].config.n_sampled_goal == 2
    model.save(tmp_path / "model")
    loaded = HER.load(tmp_path / "model", env=env)
    obs = env.reset()
    row = np.concatenate([obs[key] for key in ("observation", "achieved_goal", "desired_goal")])
    assert loaded.predict(obs)[0] == loaded.predict(row)[0] == model.predict(obs)[0]
    alone = HER.load(tmp_path / "model")
    assert alone.predict(row)[0] == loaded.predict(row)[0] and alone.get_env() is None
    with pytest.raises(ValueError, match=r"Pass one to learn: HER\.load"):
        alone.learn(5)
    alone.set_env(env)
    assert alone.learn(5).num_timesteps == 5


def test_an_observation_with_its_info_is_refused() -> None:
    model = A2C("MlpPolicy", "CartPole-v1")
    with pytest.raises(ValueError, match="pass the observation alone"):
        model.predict(gymnasium.make("CartPole-v1").reset())


def test_what_was_tensorflows_says_so() -> None:
    model = A2C("MlpPolicy", "CartPole-v1")
    with pytest.raises(AttributeError, match="belongs to TensorFlow"):
        _ = model.sess


def test_a_model_may_be_set_up_later() -> None:
    model = A2C("MlpPolicy", None, _init_setup_model=False)
    with pytest.raises(ValueError, match="needs an environment"):
        model.setup_model()
    model.set_env("CartPole-v1")
    model.setup_model()
    assert isinstance(model, BaseRLModel) and model.n_envs == 1


def test_an_observation_may_be_a_tuple_of_two_but_not_one_with_its_infos(counting) -> None:
    class Pair(counting):
        def __init__(self):
            super().__init__()
            self.observation_space = spaces.Tuple([spaces.Discrete(3), self.observation_space])

        def reset(self):
            return 0, super().reset()

        def step(self, action):
            observation, *others = super().step(action)
            return (0, observation), *others

    model = A2C("MultiInputPolicy", Pair(), n_cpu_tf_sess=1)
    assert model.predict(Pair().reset())[0] in (0, 1)
    with pytest.raises(ValueError, match="pass the observation alone"):
        model.predict((Pair().reset(), {}))


@pytest.mark.parametrize(
    ("model", "policy"), [(PPO2, "CnnPolicy"), (PPO2, "CnnLstmPolicy"), (DQN, "CnnPolicy")]
)
def test_images_of_floats_are_for_cnns_too(model: Any, policy: str) -> None:
    class Film(gym.Env):
        observation_space = spaces.Box(0.0, 1.0, (36, 36, 4), np.float32)
        action_space = spaces.Discrete(2)

        def reset(self) -> Any:
            return self.observation_space.sample()

        def step(self, action: Any) -> Any:
            return self.observation_space.sample(), 1.0, True, {}

    own = {"n_steps": 4, "nminibatches": 1} if model is PPO2 else {"learning_starts": 4}
    batch = {} if model is PPO2 else {"batch_size": 4, "train_freq": 1, "buffer_size": 50}
    made = model(policy, Film(), seed=0, n_cpu_tf_sess=1, **own, **batch)
    before = made.get_parameters()
    made.learn(8)
    moved = {name for name, value in made.get_parameters().items() if (value != before[name]).any()}
    assert any("conv1" in name for name in moved)
