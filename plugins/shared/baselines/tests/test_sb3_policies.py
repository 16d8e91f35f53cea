"""Methods of `model.policy`, and extractors of features, as Stable-Baselines3 has them."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import distributions, nn

from rlk.errors import PlanError
from rlk_baselines.sb3 import A2C, DQN, PPO, SAC, TD3
from rlk_baselines.sb3.common.torch_layers import (
    BaseFeaturesExtractor,
    CombinedExtractor,
    FlattenExtractor,
    NatureCNN,
)
from rlk_baselines.sb3.common.vec_env import DummyVecEnv

SEEN = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
SPACES: dict[str, spaces.Space[Any]] = {
    "Discrete": spaces.Discrete(4),
    "Discrete from 2 on": spaces.Discrete(4, start=2),
    "Box": spaces.Box(-0.5, 2, (2,)),
    "Box of several axes": spaces.Box(-0.5, 2, (2, 2)),
    "MultiDiscrete": spaces.MultiDiscrete([3, 2], start=[1, 0]),
    "MultiBinary": spaces.MultiBinary(3),
}


class Given(gymnasium.Env[Any, Any]):
    """Random observations of a space, for actions of a space; episodes of 4 steps."""

    def __init__(self, action_space: Any = None, observation_space: Any = None) -> None:
        self.observation_space = observation_space or spaces.Box(-5, 5, (3,))
        self.action_space = action_space or spaces.Discrete(2)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        if seed is not None:
            self.observation_space.seed(seed)
        self.steps = 0
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> Any:
        assert self.action_space.contains(action)
        self.steps += 1
        return self.observation_space.sample(), 1.0, self.steps == 4, False, {}


def made(action_space: Any = None, observation_space: Any = None, **kwargs: Any) -> Any:
    """A PPO whose policy is far from uniform."""
    small = {"n_steps": 8, "batch_size": 8, "n_epochs": 1, "seed": 0}
    model = PPO("MlpPolicy", Given(action_space, observation_space), **small, **kwargs)
    generator = torch.Generator().manual_seed(0)
    state = model.policy.state_dict()
    for value in state.values():
        value += 0.3 * torch.randn(value.shape, generator=generator)
    model.policy.load_state_dict(state)
    return model


def by_torch(model: Any, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Log-probabilities and entropies of actions for SEEN, by torch's distributions."""
    space, pi = model.action_space, model.agent.run.policy.pi
    features = model.agent.run.policy.encode(torch.from_numpy(SEEN))
    flat = pi(features)
    if isinstance(space, spaces.Discrete):
        known = distributions.Categorical(logits=flat)
        return known.log_prob(actions - int(space.start)), known.entropy()
    if isinstance(space, spaces.MultiDiscrete):
        each = [distributions.Categorical(logits=part) for part in flat.split([3, 2], 1)]
        logs = [one.log_prob(actions[:, i] - space.start[i]) for i, one in enumerate(each)]
        return sum(logs, torch.zeros(5)), sum([one.entropy() for one in each], torch.zeros(5))
    if isinstance(space, spaces.MultiBinary):
        switches = distributions.Bernoulli(logits=flat)
        return switches.log_prob(actions).sum(1), switches.entropy().sum(1)
    normal = distributions.Normal(flat.chunk(2, 1)[0], pi.out.log_std.exp())
    return normal.log_prob(actions.flatten(1)).sum(1), normal.entropy().sum(1)


def close(one: Any, other: Any) -> None:
    torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", SPACES)
def test_actions_are_evaluated_as_torchs_distributions_do(name: str) -> None:
    model = made(SPACES[name])
    policy, obs = model.policy, torch.from_numpy(SEEN)
    actions, values, log_prob = policy(obs)
    assert actions.shape == (5, *model.action_space.shape)
    expected, entropies = by_torch(model, actions)
    close(log_prob, expected)
    found = policy.evaluate_actions(obs, actions)
    assert [one.shape for one in found] == [(5, 1), (5,), (5,)]
    close(found, (values, expected, entropies))
    close(policy.predict_values(obs), values)
    close(values, model.agent.run.policy(obs, "vf")[0])
    given = policy.get_distribution(obs)
    close((given.log_prob(actions), given.entropy()), (expected, entropies))
    stored = actions.float().reshape(5, -1)  # as a buffer of a program's own may keep them
    close(policy.evaluate_actions(obs, stored)[1], expected)


@pytest.mark.parametrize("name", SPACES)
def test_the_mode_is_the_likeliest_action_and_what_predict_gives(name: str) -> None:
    model = made(SPACES[name])
    policy, obs = model.policy, torch.from_numpy(SEEN)
    likeliest, _, log_prob = policy(obs, deterministic=True)
    assert torch.equal(policy(obs, True)[0], likeliest)
    given = policy.get_distribution(obs)
    assert torch.equal(given.mode().reshape(likeliest.shape), likeliest)
    assert torch.equal(given.get_actions(deterministic=True), given.mode())
    assert all((log_prob >= policy(obs)[2]).all() for _ in range(20))
    predicted, state = policy.predict(SEEN, deterministic=True)
    assert state is None
    if name.startswith("Box"):
        likeliest = likeliest.clamp(-0.5, 2)
    # Acting in numpy rounds otherwise.
    torch.testing.assert_close(torch.from_numpy(predicted), likeliest.detach(), check_dtype=False)
    assert np.array_equal(model.predict(SEEN, deterministic=True)[0], predicted)
    single = policy.predict(SEEN[0], None, None, True)[0]
    np.testing.assert_allclose(single, predicted[0], rtol=1e-5, atol=1e-6)


def test_samples_have_the_frequencies_of_their_probabilities() -> None:
    model = made(SPACES["Discrete from 2 on"])
    given = model.policy.get_distribution(torch.from_numpy(SEEN[:1]).expand(4000, 3))
    drawn = torch.bincount(given.sample(), minlength=6) / 4000
    assert drawn[:2].tolist() == [0.0, 0.0]
    torch.testing.assert_close(drawn[2:], given.distribution.probs[0], rtol=0, atol=0.03)


@pytest.mark.parametrize("name", SPACES)
def test_a_distribution_is_known_as_one_of_torch(name: str) -> None:
    model = made(SPACES[name])
    given = model.policy.get_distribution(torch.from_numpy(SEEN))
    known = given.distribution if isinstance(given.distribution, list) else [given.distribution]
    entropy = sum([one.entropy().reshape(5, -1).sum(1) for one in known], torch.zeros(5))
    close(given.entropy(), entropy)


def test_gradients_flow_through_evaluated_actions_and_leave_learning_as_it_is() -> None:
    model, untouched = made(SPACES["Box"]), made(SPACES["Box"])
    obs = torch.from_numpy(SEEN)
    values, log_prob, entropy = model.policy.evaluate_actions(obs, torch.zeros(5, 2))
    assert entropy is not None
    (values.sum() + log_prob.sum() + entropy.sum()).backward()
    parameters = dict(model.policy.named_parameters())
    assert all(one.grad is not None and one.grad.abs().sum() > 0 for one in parameters.values())
    expected = distributions.Normal(0.0, 1.0).entropy().new_full((2,), 5.0)  # of the entropies
    mean, log_std = model.policy(obs, "pi")[0].chunk(2, 1)
    of_density = (mean.square() * (-2 * log_std).exp() - 1).sum(0)
    close(model.policy.pi.out.log_std.grad, expected + of_density.detach())
    for one in (model, untouched):
        one.learn(8)
    for own, other in zip(model.policy.parameters(), untouched.policy.parameters(), strict=True):
        assert torch.equal(own, other)


def test_a_step_by_an_optimiser_of_torch_changes_how_the_model_acts() -> None:
    model = made()
    obs, wanted = torch.from_numpy(SEEN), torch.tensor([0, 1, 0, 1, 1])
    optimizer = torch.optim.Adam(model.policy.parameters(), lr=0.05)
    for _ in range(100):
        optimizer.zero_grad()
        (-model.policy.evaluate_actions(obs, wanted)[1].mean()).backward()
        optimizer.step()
    assert model.predict(SEEN, deterministic=True)[0].tolist() == wanted.tolist()


def test_the_policy_is_a_module_of_the_models_own_parameters() -> None:
    model = made()
    policy, module = model.policy, model.agent.run.policy
    assert isinstance(policy, nn.Module)
    assert model.policy is policy
    assert [*policy.state_dict()] == [*module.state_dict()]
    assert all(a is b for a, b in zip(policy.parameters(), module.parameters(), strict=True))
    policy.set_training_mode(False)
    assert not policy.training
    assert not any(one.training for one in module.modules())
    policy.set_training_mode(True)
    assert module.training
    assert policy.device == torch.device("cpu")
    assert policy.action_space == model.action_space
    assert policy.observation_space == model.observation_space
    with pytest.raises(AttributeError, match="no attribute 'nothing_of_that_name'"):
        _ = policy.nothing_of_that_name
    copied = copy.deepcopy(policy)
    assert [*copied.state_dict()] == [*policy.state_dict()]
    assert not any(a is b for a, b in zip(copied.parameters(), policy.parameters(), strict=True))


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
@pytest.mark.parametrize("name", ["Discrete", "Box", "MultiDiscrete"])
def test_a_policy_is_part_of_a_module_that_is_exported(name: str) -> None:
    class Exported(nn.Module):
        def __init__(self, policy: Any) -> None:
            super().__init__()
            self.policy = policy

        def forward(self, observation: torch.Tensor) -> Any:
            return self.policy(observation, deterministic=True)

    model = made(SPACES[name])
    traced: Any = torch.jit.trace(Exported(model.policy), torch.zeros(1, 3))
    obs = torch.from_numpy(SEEN)  # of another number than that of the example
    close(traced(obs), model.policy(obs, deterministic=True))


def test_actions_of_another_number_than_observations_are_refused() -> None:
    with pytest.raises(RuntimeError, match="shape"):
        made().policy.evaluate_actions(torch.from_numpy(SEEN), torch.zeros(3))


def test_parameters_of_another_model_make_it_act_the_same(tmp_path: Any) -> None:
    model = made(SPACES["Box"])
    other = PPO("MlpPolicy", Given(SPACES["Box"]), seed=5)
    torch.save(model.policy.state_dict(), tmp_path / "policy.pth")
    other.policy.load_state_dict(torch.load(tmp_path / "policy.pth", weights_only=True))
    expected = model.predict(SEEN, deterministic=True)[0]
    assert np.array_equal(other.predict(SEEN, deterministic=True)[0], expected)
    model.save(tmp_path / "model")
    again = PPO.load(tmp_path / "model")
    assert np.array_equal(again.policy.predict(SEEN, deterministic=True)[0], expected)


def test_observations_become_tensors_with_a_batch() -> None:
    policy = made().policy
    tensor, is_vectorized = policy.obs_to_tensor(SEEN)
    assert is_vectorized
    assert np.array_equal(tensor.numpy(), SEEN)
    single, is_vectorized = policy.obs_to_tensor(SEEN[1])
    assert not is_vectorized
    assert np.array_equal(single.numpy(), SEEN[1:2])
    image = spaces.Box(0, 255, (2, 40, 44), np.uint8)
    both = spaces.Dict({"seen": image, "speed": spaces.Box(-1, 1, (3,))})
    model = PPO("MultiInputPolicy", Given(None, both), n_steps=8, batch_size=8)
    seen = {"seen": np.zeros((5, 40, 44, 2), np.uint8), "speed": SEEN}
    tensors, is_vectorized = model.policy.obs_to_tensor(seen)
    assert is_vectorized
    assert {key: tuple(one.shape) for key, one in tensors.items()} == {
        "seen": (5, 2, 40, 44),
        "speed": (5, 3),
    }
    values, log_prob, _ = model.policy.evaluate_actions(tensors, torch.zeros(5))
    assert (values.shape, log_prob.shape) == ((5, 1), (5,))
    close(model.policy.predict_values(seen), values)


def test_exploration_that_depends_on_states_is_evaluated_too() -> None:
    model = PPO("MlpPolicy", Given(SPACES["Box"]), use_sde=True, seed=0)
    obs = torch.from_numpy(SEEN)
    actions, _, log_prob = model.policy(obs)
    given = model.policy.get_distribution(obs)
    close(log_prob, given.distribution.log_prob(actions).sum(1))
    close(given.entropy(), given.distribution.entropy().sum(1))


@pytest.mark.parametrize("cls", [DQN, SAC, TD3])
def test_policies_without_a_value_of_their_own_act(cls: Any) -> None:
    space = SPACES["Discrete" if cls is DQN else "Box"]
    model = cls("MlpPolicy", Given(space), seed=0, buffer_size=256)
    expected = model.predict(SEEN, deterministic=True)[0]
    assert np.array_equal(model.policy.predict(SEEN, deterministic=True)[0], expected)
    if cls is DQN:
        assert np.array_equal(model.policy.predict(SEEN)[0], expected)
    assert model.policy.obs_to_tensor(SEEN[0])[0].shape == (1, 3)
    assert [*model.policy.state_dict()] == [*model.agent.run.policy.state_dict()]
    with pytest.raises(ValueError, match=r"model\.policy\.predict\(obs\)"):
        model.policy(torch.from_numpy(SEEN))
    assert not hasattr(model.policy, "evaluate_actions")


def test_what_a_policy_cannot_evaluate_is_said() -> None:
    with pytest.raises(ValueError, match=r"a tensor \[B, 3\], got \[3\]"):
        made().policy.predict_values(torch.zeros(3))
    memory = A2C(
        "MlpLstmPolicy", Given(), policy_kwargs={"net_arch": [8, "lstm", {"pi": [8]}]}, seed=0
    )
    with pytest.raises(ValueError, match="remembers"):
        memory.policy.predict_values(torch.zeros(2, 3))
    assert memory.policy.predict(SEEN)[0].shape == (5,)


# ---- extractors of features ----------------------------------------------------------------------

PICTURE = spaces.Box(0, 255, (40, 44, 2), np.uint8)
BOTH = spaces.Dict({"seen": PICTURE, "speed": spaces.Box(-5, 5, (3,))})
SMALL: dict[str, Any] = {"n_steps": 8, "batch_size": 8, "n_epochs": 1, "seed": 0}


class SmallCnn(BaseFeaturesExtractor):
    """As in the documentation there: images [C, H, W], of which it tries a sample."""

    def __init__(self, observation_space: Any, features_dim: int = 256) -> None:
        super().__init__(observation_space, features_dim)
        channels = observation_space.shape[0]
        self.cnn = nn.Sequential(nn.Conv2d(channels, 4, 8, stride=4), nn.ReLU(), nn.Flatten())
        with torch.no_grad():
            sample = torch.as_tensor(observation_space.sample()[None]).float()
            n_flatten = self.cnn(sample).shape[1]
        self.linear = nn.Sequential(nn.Linear(n_flatten, features_dim), nn.ReLU())

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        features: torch.Tensor = self.linear(self.cnn(observations))
        return features


class Combined(BaseFeaturesExtractor):
    """An image and numbers, each by its own module."""

    def __init__(self, observation_space: Any) -> None:
        super().__init__(observation_space, 8)
        self.seen = SmallCnn(observation_space.spaces["seen"], 6)
        self.speed = nn.Linear(observation_space.spaces["speed"].shape[0], 2)

    def forward(self, observations: Any) -> torch.Tensor:
        return torch.cat([self.seen(observations["seen"]), self.speed(observations["speed"])], 1)


class Waves(BaseFeaturesExtractor):
    def __init__(self, observation_space: Any, features_dim: int = 5, wide: int = 4) -> None:
        super().__init__(observation_space, features_dim)
        self.first = nn.Linear(observation_space.shape[0], wide)
        self.second = nn.Linear(wide, features_dim)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        features: torch.Tensor = self.second(torch.sin(self.first(observations)))
        return features


def with_extractor(
    kind: Any, keywords: Any = None, policy: str = "CnnPolicy", space: Any = PICTURE, **others: Any
) -> Any:
    kwargs = {"features_extractor_class": kind, "features_extractor_kwargs": keywords, **others}
    return PPO(policy, Given(None, space), **SMALL, policy_kwargs=kwargs)


def pictures(n: int = 5) -> Any:
    return np.random.default_rng(1).integers(0, 256, (n, 40, 44, 2), np.uint8)


def layers_behind(model: Any, role: str) -> list[tuple[int, ...]]:
    return [tuple(one.weight.shape) for one in getattr(model.policy, role).trunk.layers]


def test_an_extractor_sees_images_with_channels_first_between_0_and_1() -> None:
    model = with_extractor(SmallCnn, {"features_dim": 12})
    own = SmallCnn(spaces.Box(0, 255, (2, 40, 44), np.uint8), 12)
    names = {name: value.shape for name, value in own.state_dict().items()}
    extractor = model.policy.shared.extractor
    assert {name: value.shape for name, value in extractor.state_dict().items()} == names
    seen = pictures()
    own.load_state_dict(extractor.state_dict())
    expected = own(torch.from_numpy(np.moveaxis(seen, -1, 1)).float() / 255)
    close(model.policy.encode(torch.from_numpy(seen)), expected)
    first = spaces.Box(0, 255, (2, 40, 44), np.uint8)
    turned = with_extractor(SmallCnn, {"features_dim": 12}, space=first)
    turned.policy.load_state_dict(model.policy.state_dict())
    close(turned.policy.encode(torch.from_numpy(np.moveaxis(seen, -1, 1).copy())), expected)


def test_an_extractor_of_an_actor_critic_begins_orthogonal_with_two_layers_behind_it() -> None:
    model = with_extractor(SmallCnn, {"features_dim": 12})
    assert layers_behind(model, "pi") == layers_behind(model, "vf") == [(12, 64), (64, 64)]
    linear = model.policy.shared.extractor.linear[0]
    close(linear.weight @ linear.weight.T, 2 * torch.eye(12))
    assert not linear.bias.any()
    own = with_extractor(SmallCnn, {"features_dim": 12}, net_arch={"pi": [7], "vf": []})
    assert (layers_behind(own, "pi"), layers_behind(own, "vf")) == ([(12, 7)], [])


def test_an_extractor_is_learnt() -> None:
    model = with_extractor(SmallCnn, {"features_dim": 12})
    before = copy.deepcopy(model.policy.shared.state_dict())
    model.learn(16)
    after = model.policy.shared.state_dict()
    assert all(not torch.equal(before[name], after[name]) for name in before)
    model.set_env(DummyVecEnv([lambda: Given(None, PICTURE)] * 2))  # the agent is made anew
    close(model.policy.shared.state_dict(), after)
    model.learn(16)


@pytest.mark.parametrize("cls", [PPO, A2C, DQN, SAC, TD3])
def test_an_extractor_of_numbers_learns_with_every_algorithm(cls: Any) -> None:
    kwargs = {"features_extractor_class": Waves, "features_extractor_kwargs": {"wide": 7}}
    is_off_policy = cls in (DQN, SAC, TD3)
    settings = {"buffer_size": 256, "learning_starts": 8, "batch_size": 4} if is_off_policy else {}
    env = Given(SPACES["Discrete" if cls is DQN else "Box"])
    model = cls("MlpPolicy", env, seed=0, policy_kwargs=kwargs, **settings).learn(16)
    assert model.policy.shared.extractor.first.weight.shape == (7, 3)
    assert model.predict(SEEN)[0].shape[0] == 5


def test_an_extractor_is_given_the_parts_of_a_dict() -> None:
    model = with_extractor(Combined, None, "MultiInputPolicy", BOTH).learn(8)
    seen = {"seen": pictures(), "speed": SEEN}
    images = torch.from_numpy(np.moveaxis(seen["seen"], -1, 1)).float() / 255
    parts = {"seen": images, "speed": torch.from_numpy(SEEN)}
    expected = model.policy.shared.extractor(parts)
    tensors, _ = model.policy.obs_to_tensor(seen)
    close(model.policy.encode(tensors), expected)


def test_the_nature_cnn_is_the_one_that_cnn_policy_has() -> None:
    model = with_extractor(NatureCNN, {"features_dim": 32})
    assert layers_behind(model, "pi") == layers_behind(model, "vf") == []
    own = PPO(
        "CnnPolicy",
        Given(None, PICTURE),
        **SMALL,
        policy_kwargs={"features_extractor_kwargs": {"features_dim": 32}},
    )
    names = ["conv1", "conv2", "conv3", "full"]
    cnn = model.policy.shared.extractor
    layers = [cnn.cnn[0], cnn.cnn[2], cnn.cnn[4], cnn.linear[0]]
    for name, layer in zip(names, layers, strict=True):
        getattr(own.policy.shared, name).load_state_dict(layer.state_dict())
    seen = torch.from_numpy(pictures())
    close(own.policy.encode(seen), model.policy.encode(seen))
    numbers = with_extractor(FlattenExtractor, None, "MlpPolicy", spaces.Box(-5, 5, (3,)))
    assert torch.equal(numbers.policy.encode(torch.from_numpy(SEEN)), torch.from_numpy(SEEN))


def test_the_size_of_the_cnns_of_a_dict_is_a_keyword() -> None:
    kwargs = {"features_extractor_kwargs": {"cnn_output_dim": 9}}
    model = PPO("MultiInputPolicy", Given(None, BOTH), **SMALL, policy_kwargs=kwargs)
    assert model.policy.shared.features == 9 + 3


def test_a_model_with_an_extractor_is_loaded_by_passing_it_again(tmp_path: Any) -> None:
    model = with_extractor(SmallCnn, {"features_dim": 12}).learn(8)
    model.save(tmp_path / "model")
    again = PPO.load(tmp_path / "model", policy_kwargs=model.policy_kwargs)
    seen = torch.from_numpy(pictures())
    close(again.policy.predict_values(seen), model.policy.predict_values(seen))
    custom = {"policy_kwargs": model.policy_kwargs}
    again = PPO.load(tmp_path / "model", Given(None, PICTURE), custom_objects=custom)
    again.learn(8)
    text = r"PPO\.load\(path, policy_kwargs=dict\(features_extractor_class=SmallCnn, features_"
    with pytest.raises(ValueError, match=text):
        PPO.load(tmp_path / "model")


def test_what_is_no_extractor_is_refused() -> None:
    with pytest.raises(ValueError, match=r"as a class derived from .*BaseFeaturesExtractor"):
        with_extractor(object)
    with pytest.raises(ValueError, match="'MlpLstmPolicy' takes no features_extractor_class"):
        with_extractor(Waves, None, "MlpLstmPolicy")
    with pytest.raises(ValueError, match="has no wide for features_extractor_kwargs without"):
        with_extractor(None, {"wide": 3}, "MlpPolicy", spaces.Box(-5, 5, (3,)))
    with pytest.raises(ValueError, match="there is features_dim"):
        with_extractor(None, {"wide": 3})
    with pytest.raises(PlanError, match="features_dim=0"):
        BaseFeaturesExtractor(PICTURE)
    with pytest.raises(ValueError, match="NatureCNN takes images of whole numbers"):
        with_extractor(NatureCNN, None, "MlpPolicy", spaces.Box(-5, 5, (3,)))


def test_a_policy_that_is_kept_is_that_of_the_model_for_ever() -> None:
    model = PPO("MlpPolicy", Given(), **SMALL)
    kept, obs = model.policy, torch.from_numpy(SEEN)
    model.set_env(DummyVecEnv([Given] * 3))
    model.learn(24)
    assert kept is model.policy and kept.module is model.agent.run.policy
    close(kept.predict_values(obs), model.agent.run.policy(obs, "vf")[0])
    names = [name for name, _ in kept.named_parameters()]
    assert names == [name for name, _ in model.agent.run.policy.named_parameters()]
    assert all(a is b for a, b in zip(kept.parameters(), kept.module.parameters(), strict=True))


def test_a_policy_is_pickled_as_the_module_that_it_is() -> None:
    model = PPO("MlpPolicy", Given(), **SMALL)
    obs = torch.from_numpy(SEEN)
    for again in (pickle.loads(pickle.dumps(model.policy)), copy.deepcopy(model.policy)):
        close(again(obs, "vf"), model.policy(obs, "vf"))
        assert again is not model.agent.run.policy


def test_observations_of_other_parts_are_refused() -> None:
    one, both = PPO("MlpPolicy", Given(), **SMALL), Given(None, BOTH)
    with pytest.raises(ValueError, match=r"are Box.*got \['picture'\]"):
        one.policy.predict_values({"picture": torch.zeros(1, 3)})
    two = PPO("MultiInputPolicy", both, **SMALL)
    with pytest.raises(ValueError, match=r"are Dict.*got \['picture'\]"):
        two.policy.predict_values({"picture": torch.zeros(1, 3)})


@pytest.mark.parametrize("kind", [CombinedExtractor])
def test_parts_of_a_dict_are_put_side_by_side(kind: Any) -> None:
    space = spaces.Dict(
        {"image": spaces.Box(0, 255, (3, 40, 44), np.uint8), "speed": spaces.Box(-1, 1, (2,))}
    )
    kwargs = {"features_extractor_class": kind, "features_extractor_kwargs": {"cnn_output_dim": 5}}
    model = PPO("MultiInputPolicy", Given(None, space), **SMALL, policy_kwargs=kwargs).learn(8)
    (extractor,) = (one for one in model.policy.modules() if isinstance(one, kind))
    assert extractor.features_dim == 7 and set(extractor.extractors) == {"image", "speed"}
    seen = {"image": torch.zeros(2, 3, 40, 44), "speed": torch.tensor([[1.0, 2.0], [3.0, 4.0]])}
    torch.testing.assert_close(extractor(seen)[:, 5:], seen["speed"])


def test_an_extractor_says_how_many_features_it_gives() -> None:
    with pytest.raises(PlanError, match="Flatten does not say how many features it gives"):
        PPO("MlpPolicy", Given(), **SMALL, policy_kwargs={"features_extractor_class": nn.Flatten})
    with pytest.raises(PlanError, match="a Dict is CombinedExtractor's"):
        FlattenExtractor(BOTH)


def test_a_distribution_that_torch_does_not_have_is_refused() -> None:
    class Hilly(PPO):
        fixed = {"distribution": "beta"}

    model = Hilly("MlpPolicy", Given(spaces.Box(-1, 1, (2,))), **SMALL)
    given = model.policy.get_distribution(torch.from_numpy(SEEN))
    assert given.entropy().shape == (5,)
    with pytest.raises(PlanError, match="torch has no distribution like Beta"):
        _ = given.distribution
