"""Methods of `model.policy`, as in Stable-Baselines3."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import distributions, nn

from rlk.errors import PlanError
from rlk_sb3 import A2C, DQN, PPO, SAC, TD3
from rlk_sb3.common.vec_env import DummyVecEnv
from rlk_testing.environments.given_spaces import BOTH, SEEN, SMALL, SPACES, Given, close


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
    # Acting in numpy rounds differently.
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


def test_parameters_that_are_assigned_act_and_are_trained() -> None:
    model = made()
    state = {name: torch.zeros_like(value) for name, value in model.policy.state_dict().items()}
    expected = model.policy(torch.from_numpy(SEEN), deterministic=True)[0]
    state["pi.out.bias"] += torch.arange(len(state["pi.out.bias"]))
    model.policy.load_state_dict(state, assign=True)
    largest = len(state["pi.out.bias"]) - 1
    assert model.policy(torch.from_numpy(SEEN))[0].shape == expected.shape
    assert set(model.predict(SEEN, deterministic=True)[0].tolist()) == {largest}
    model.learn(8)
    assert not torch.equal(model.policy.state_dict()["pi.out.bias"], state["pi.out.bias"])


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
    actions = model.policy(torch.from_numpy(SEEN), deterministic=True)
    given = actions.numpy() if cls is DQN else model.policy.unscale_action(actions.detach().numpy())
    np.testing.assert_allclose(given, expected, atol=1e-6)
    assert not hasattr(model.policy, "evaluate_actions")


def test_the_actions_of_a_policy_can_be_trained_and_put_back() -> None:
    for cls in (SAC, TD3):
        model = cls("MlpPolicy", Given(SPACES["Box"]), seed=0, buffer_size=256)
        policy, obs = model.policy, torch.from_numpy(SEEN)
        before = policy(obs, deterministic=True).detach()
        optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
        policy(obs).square().mean().backward()
        optimizer.step()
        model.policy = policy
        assert not torch.equal(policy(obs, deterministic=True), before)
        sampled = not torch.equal(policy(obs), policy(obs))
        assert sampled == (cls is SAC)
        with pytest.raises(ValueError, match="policy cannot be set any more"):
            model.policy = "CnnPolicy"


def test_actions_are_scaled_as_a_replay_holds_them() -> None:
    space = spaces.Box(np.float32([0, -4]), np.float32([2, 4]))
    policy = SAC("MlpPolicy", Given(space), buffer_size=256).policy
    assert policy.scale_action(np.float32([0.5, 4])).tolist() == [-0.5, 1.0]
    assert policy.unscale_action(np.float32([-0.5, 1])).tolist() == [0.5, 4.0]


def test_what_a_policy_cannot_evaluate_is_reported() -> None:
    with pytest.raises(ValueError, match=r"a tensor \[B, 3\], got \[3\]"):
        made().policy.predict_values(torch.zeros(3))
    memory = A2C(
        "MlpLstmPolicy", Given(), policy_kwargs={"net_arch": [8, "lstm", {"pi": [8]}]}, seed=0
    )
    with pytest.raises(ValueError, match="remembers"):
        memory.policy.predict_values(torch.zeros(2, 3))
    assert memory.policy.predict(SEEN)[0].shape == (5,)


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
    again = pickle.loads(pickle.dumps(model.policy))
    close(again(obs, "vf"), model.policy(obs, "vf"))
    assert again is not model.agent.run.policy


def test_observations_of_other_parts_are_refused() -> None:
    one, both = PPO("MlpPolicy", Given(), **SMALL), Given(None, BOTH)
    with pytest.raises(ValueError, match=r"are Box.*got \['picture'\]"):
        one.policy.predict_values({"picture": torch.zeros(1, 3)})
    two = PPO("MultiInputPolicy", both, **SMALL)
    with pytest.raises(ValueError, match=r"are Dict.*got \['picture'\]"):
        two.policy.predict_values({"picture": torch.zeros(1, 3)})


def test_a_distribution_that_torch_does_not_have_is_refused() -> None:
    class Hilly(PPO):
        fixed = {"distribution": "beta"}

    model = Hilly("MlpPolicy", Given(spaces.Box(-1, 1, (2,))), **SMALL)
    given = model.policy.get_distribution(torch.from_numpy(SEEN))
    assert given.entropy().shape == (5,)
    with pytest.raises(PlanError, match="torch has no distribution like Beta"):
        _ = given.distribution
