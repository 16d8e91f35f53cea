"""What programs for PyTorch do to parameters: it has its effect, or is refused.

They give parameters other memory (`p.data = …`, `vector_to_parameters`), replace, freeze and
unfreeze them, between calls of `learn` and from callbacks.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import rlk
from rlk import hookimpl, making
from rlk.errors import RlkError
from rlk.saving import saved_files

SMALL = {"policy.layers": [4], "n_threads": 1}
SETTINGS = {
    "ppo": {"n_steps": 100, "batch_size": 50, "n_epochs": 1},
    "dqn": {"learning_starts": 8, "batch_size": 8, "train_freq": 1},
    "sac": {"learning_starts": 8, "batch_size": 8, "train_freq": 1},
}
ONES = np.ones((1, 4), np.float32)


@pytest.fixture
def make(rlk_make):
    return lambda algo, **settings: rlk_make(algo, **SMALL, **SETTINGS[algo], **settings)


def by_data(policy):
    for parameter in policy.parameters():
        parameter.data = parameter.data * 0.5


def by_data_of_the_last(policy):
    """Which a look at the first parameter does not show."""
    *_, last = policy.parameters()
    last.data = last.data * 0.5


def by_vector(policy):
    vector = nn.utils.parameters_to_vector(policy.parameters())
    nn.utils.vector_to_parameters(vector * 0.5, policy.parameters())


MOVES = [by_data, by_data_of_the_last, by_vector]


def last_of(run):
    """The values of the last parameter, as the policy has them."""
    *_, parameter = run.policy.parameters()
    return parameter.detach().clone()


class Changes:
    """Changes the policy once, at this timestep or later, where a collection starts or ends."""

    def __init__(self, change, timesteps, where="start"):
        self.change, self.timesteps, self.where, self.last = change, timesteps, where, None

    @hookimpl
    def rlk_rollout_start(self, run):
        self._change(run, "start")

    @hookimpl
    def rlk_rollout_end(self, run):
        self._change(run, "end")

    def _change(self, run, where):
        if self.last is None and where == self.where and run.timesteps >= self.timesteps:
            self.change(run.policy)
            self.last = last_of(run)


@pytest.mark.parametrize("algo", SETTINGS)
@pytest.mark.parametrize("move", MOVES)
def test_a_policy_that_was_moved_between_two_calls_is_trained(make, algo, move):
    agent = make(algo)
    agent.learn(32)
    move(agent.run.policy)
    before, moved = agent.run.parameters.flat.clone(), last_of(agent.run)
    agent.learn(0)
    assert torch.equal(last_of(agent.run), moved)
    assert not torch.equal(agent.run.parameters.flat, before)
    agent.learn(32, reset_num_timesteps=False)
    assert not torch.equal(last_of(agent.run), moved)


@pytest.mark.parametrize("algo", SETTINGS)
@pytest.mark.parametrize("where", ["start", "end"])
@pytest.mark.parametrize("move", MOVES)
def test_a_policy_that_a_callback_moved_is_trained(make, algo, where, move):
    agent, callback = make(algo), Changes(move, 48, where)
    agent.learn(250, callback=callback)
    agent.run.parameters.check()
    assert not torch.equal(last_of(agent.run), callback.last)


def test_updates_learn_from_a_policy_that_a_callback_moves_at_every_step(make):
    """As a soft update does: what was learnt before must not be lost."""
    agent, twin = make("dqn", seed=1), make("dqn", seed=1)
    copied, moved = [], []

    def in_place(run):
        for parameter in run.policy.parameters():
            parameter.data.mul_(0.999)
        copied.append(run.parameters.flat.clone())

    def by_assignment(run):
        for parameter in run.policy.parameters():
            parameter.data = parameter.data * 0.999
        moved.append(nn.utils.parameters_to_vector(run.policy.parameters()).detach().clone())

    agent.learn(40, callback=in_place)
    twin.learn(40, callback=by_assignment)
    assert all(torch.equal(one, other) for one, other in zip(moved, copied, strict=True))


def test_the_policy_predicts_with_what_was_moved_before_and_after_its_first_prediction(make):
    agent = make("dqn")
    for value, expected in ((5.0, 1), (-5.0, 0), (5.0, 1)):
        for parameter in agent.run.policy.parameters():
            parameter.data = torch.zeros(parameter.shape)
        agent.run.policy.qf.advantage.out.bias.data = torch.tensor([0.0, value])
        assert agent.predict(ONES, deterministic=True)[0].item() == expected


def test_an_actor_that_was_made_of_moved_parameters_follows_training(make):
    agent = make("ppo")
    by_data_of_the_last(agent.run.policy.pi)
    agent.predict(ONES)
    agent.learn(0)
    with torch.no_grad():
        agent.run.parameters.flat.zero_()
        for bias, expected in (([9.0, -9.0], 0), ([-9.0, 9.0], 1)):
            agent.run.policy.pi.out.bias.copy_(torch.tensor(bias))
            assert agent.predict(ONES, deterministic=True)[0].item() == expected


def test_the_entropy_coefficient_is_trained_after_it_was_moved(make):
    agent = make("sac", env="Pendulum-v1")
    coefficient = agent.run.algorithm.alpha.log_alpha
    coefficient.data = torch.full_like(coefficient, -3.0)
    agent.learn(32)
    assert coefficient.item() != -3.0 and abs(coefficient.item() + 3.0) < 0.1


def test_a_model_of_moved_parameters_is_saved_loaded_and_given_an_environment(make, tmp_path):
    agent = make("ppo")
    by_data(agent.run.policy)
    moved = agent.get_parameters()
    agent.set_env("CartPole-v1")
    agent.run.parameters.check()
    other = rlk.load(agent.save(tmp_path / "model"))
    assert all(np.array_equal(other.get_parameters()[name], moved[name]) for name in moved)


# ---- what is refused -----------------------------------------------------------------------------


def replace_a_parameter(policy):
    policy.pi.out.bias = nn.Parameter(torch.zeros(2))


def replace_all_by_assignment(policy):
    state = {name: value.clone() for name, value in policy.state_dict().items()}
    policy.load_state_dict(state, assign=True)


def replace_a_layer(policy):
    policy.pi.out = nn.Linear(4, 2)


def replace_a_layer_by_two(policy):
    policy.pi.out = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 2))


def freeze(policy):
    policy.pi.trunk.requires_grad_(False)


def change_dtype(policy):
    policy.double()


REFUSED = {
    replace_a_parameter: r"'pi.out.bias' is no longer part .*parameter\.data\.copy_\(values\)",
    replace_all_by_assignment: r"no longer part .*load_state_dict\(assign=True\)",
    replace_a_layer: r"'pi.out.weight' is no longer part .*another layer",
    replace_a_layer_by_two: r"'pi.out.weight' is no longer part .*another layer",
    freeze: r"frozen .*Unfreeze it",
    change_dtype: r"is float64 .* now, and was float32 .*Change it back",
}


@pytest.mark.parametrize("change", REFUSED)
def test_what_cannot_be_trained_is_refused_before_the_first_step_and_by_set_env(make, change):
    agent = make("ppo")
    change(agent.run.policy)
    with pytest.raises(RlkError, match=REFUSED[change]):
        agent.set_env("CartPole-v1")
    with pytest.raises(RlkError, match=REFUSED[change]):
        agent.learn(16)
    assert agent.num_timesteps == 0


def get_parameters(agent, model):
    agent.get_parameters()


def load_parameters(agent, model):
    agent.load_parameters(model)


def save(agent, model):
    agent.save(model)


def save_checkpoint(agent, model):
    agent.save_checkpoint(model)


def restore(agent, model):
    making.restore(agent, saved_files.read(model, agent.plan.kernel))


@pytest.mark.parametrize("change", [one for one in REFUSED if one is not freeze])
@pytest.mark.parametrize("call", [get_parameters, load_parameters, save, save_checkpoint, restore])
def test_what_is_not_trained_is_neither_saved_nor_read_nor_set(make, tmp_path, change, call):
    agent = make("ppo")
    model = agent.save(tmp_path / "model")
    written, trained = model.read_bytes(), agent.run.parameters.flat.clone()
    change(agent.run.policy)
    acts = [value.clone() for value in agent.run.policy.state_dict().values()]
    with pytest.raises(RlkError, match=REFUSED[change]):
        call(agent, model)
    assert agent.run.closed is (call is restore)
    assert model.read_bytes() == written and torch.equal(agent.run.parameters.flat, trained)
    now = agent.run.policy.state_dict().values()
    assert len(now) == len(acts)
    assert all(torch.equal(one, other) for one, other in zip(now, acts, strict=True))


def test_a_policy_that_was_frozen_later_is_saved_and_trained_after_loading(make, tmp_path):
    agent = make("ppo")
    freeze(agent.run.policy)
    other = rlk.load(agent.save(tmp_path / "model"))
    before = other.run.parameters.flat.clone()
    assert torch.equal(before, agent.run.parameters.flat)
    other.learn(100)
    assert not torch.equal(other.run.parameters.flat, before)


@pytest.mark.parametrize("change", REFUSED)
def test_a_refusal_costs_no_checkpoint_of_what_was_trained_until_then(make, tmp_path, change):
    """Both files hold the parameters that the optimiser moved."""
    agent = make("ppo", plugins=["checkpoint"], out=tmp_path)
    with pytest.raises(RlkError, match=REFUSED[change]):
        agent.learn(400, callback=Changes(change, 100))
    for file in ("model.zip", "checkpoints/200.zip"):
        with rlk.load(tmp_path / file) as other:
            assert torch.equal(other.run.parameters.flat, agent.run.parameters.flat)


@pytest.mark.parametrize("change", [freeze, replace_a_layer])
def test_what_a_callback_makes_untrainable_is_refused_before_the_next_update(make, change):
    agent = make("ppo")
    with pytest.raises(RlkError, match=REFUSED[change]):
        agent.learn(400, callback=Changes(change, 100))
    assert agent.num_timesteps == 200 and agent.run.clock.updates == 2


def test_a_run_of_short_collections_refuses_it_soon(make):
    def replace(policy):
        policy.qf.value.out = nn.Linear(4, 1)

    agent = make("dqn")
    with pytest.raises(RlkError, match=r"'qf.value.out.weight' is no longer part"):
        agent.learn(320, callback=Changes(replace, 32))
    assert agent.num_timesteps == 100
