from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
import torch

from rlk.errors import PlanError
from rlk.records import Field
from rlk_networks import Head, Linear
from rlk_networks.actor import DistributionActor
from rlk_networks.recurrent import is_recurrent
from rlk_on_policy.actor import make_actor, stochastic_actor
from rlk_on_policy.advantages import following_values
from rlk_on_policy.checks import refuse_uneven_minibatches, sequence_length, whole_sequences
from rlk_on_policy.recurrent import RecurrentActor, state_fields
from rlk_on_policy.sequences import (
    Sequences,
    epochs_for,
    sequence_epochs,
    shuffled_sequences,
    whole,
)
from rlk_rollout.rollout import Rollout
from rlk_testing.stand_ins import NoLayers

T, N = 4, 3


class Sums(torch.nn.Module):
    """Its state, and its one feature, is the sum of the observations of the episode so far."""

    features = state_size = 1

    def step(self, x, state, episode_start):
        after = torch.where(episode_start[:, None], 0.0, state) + x.flatten(1)
        return after, after

    def forward(self, x, state, episode_start):
        found = []
        for rows, start in zip(x.split(episode_start.shape[1]), episode_start, strict=True):
            features, state = self.step(rows, state, start)
            found.append(features)
        return torch.cat(found)


class SumsPolicy(NoLayers):
    def encoder(self, observation_space):
        return Sums()


class Higher:
    """One parameter; the action is whether it exceeds the noise. Certain, so log_prob is 0."""

    parameter_size, action = 1, Field((), "int64")

    def noise(self, rng, batch):
        return rng.random((batch, 1)).astype(np.float32)

    def env_action(self, action):
        return action + 7

    def sample(self, parameters, noise):
        return (parameters > noise)[:, 0].long()

    def mode(self, parameters):
        return (parameters > 0)[:, 0].long()

    def log_prob(self, parameters, action):
        return torch.zeros(len(parameters))


def made(architecture=None):
    """pi is 2 x feature, vf is 10 x feature + 1."""
    space = gym.spaces.Box(-100.0, 100.0, (1,), np.float32)
    heads = {role: lambda trunk, role=role: head(trunk(role)) for role in ("pi", "vf")}
    policy = (architecture or SumsPolicy()).build(space, heads)
    with torch.no_grad():
        for part, factor, offset in ((policy.pi, 2.0, 0.0), (policy.vf, 10.0, 1.0)):
            part.out.weight.fill_(factor)
            part.out.bias.fill_(offset)
    return policy


def head(trunk):
    return Head(trunk, Linear(trunk.features, 1))


def column(*numbers):
    return np.array(numbers, np.float32)[:, None]


# ---- which policy is one -------------------------------------------------------------------------


def test_a_policy_whose_encoder_has_a_state_is_recurrent():
    assert is_recurrent(made()) and not is_recurrent(made(NoLayers()))
    fields = {"state": Field((1,)), "episode_start": Field((), "bool")}
    assert state_fields(made()) == fields and state_fields(made(NoLayers())) == {}
    assert state_fields(made(), first_only=True)["state"] == Field((1,), first_only=True)


def test_each_policy_gets_the_actor_that_it_needs():
    kinds = [
        type(make_actor(policy, Higher(), np.random.default_rng(0)))
        for policy in (made(), made(NoLayers()))
    ]
    assert kinds == [RecurrentActor, DistributionActor]


def test_the_actor_of_a_run_draws_from_the_generator_and_stores_what_it_is_told():
    own = np.random.default_rng(0)
    run = SimpleNamespace(policy=made(), distribution=Higher(), device="cpu")
    chosen = stochastic_actor(run, own, ("value",))
    assert chosen.rng is own
    act = chosen.act(column(1), chosen.start(1), np.array([True]))
    assert set(act.extras) == {"value", "state", "episode_start"}


# ---- the actor -----------------------------------------------------------------------------------


def actor():
    return RecurrentActor(made(), Higher(), np.random.default_rng(0))


def test_the_carry_is_the_state_and_is_stored_as_it_came_in():
    acting, start = actor(), np.array([True, True])
    assert acting.start(2).tolist() == [[0.0], [0.0]]
    first = acting.act(column(1, 2), acting.start(2), start)
    assert first.carry.tolist() == [[1.0], [2.0]]
    assert first.extras["value"].tolist() == [11.0, 21.0]
    assert first.extras["state"].tolist() == [[0.0], [0.0]]
    assert first.extras["episode_start"].tolist() == [True, True]
    second = acting.act(column(3, 4), first.carry, np.array([False, True]))
    assert second.carry.tolist() == [[4.0], [4.0]]
    assert second.extras["value"].tolist() == [41.0, 41.0]
    assert second.extras["state"].tolist() == [[1.0], [2.0]], "masking is for the policy to do"
    assert second.extras["episode_start"].tolist() == [False, True]
    assert first.carry.tolist() == [[1.0], [2.0]], "a later step wrote to an earlier state"


def test_actions_come_from_the_state():
    acting = actor()
    act = acting.act(column(-1, -1), column(0, 50), np.zeros(2, bool), deterministic=True)
    assert act.action.tolist() == [0, 1] and act.env_action.tolist() == [7, 8]
    assert act.extras == {} and act.carry.tolist() == [[-1.0], [49.0]]
    sampled = acting.act(column(-1, -1), column(0, 50), np.zeros(2, bool))
    assert sampled.action.tolist() == [0, 1]


@pytest.mark.parametrize("shape", [(3, 1), (2, 2), (2,)])
def test_a_state_of_others_is_refused(shape):
    with pytest.raises(ValueError, match=r"\[2, 1\]"):
        actor().act(column(1, 2), np.zeros(shape, np.float32), np.zeros(2, bool))


# ---- what follows a rollout ----------------------------------------------------------------------


def rollout(ends=(), terminal=()):
    """Observations 0, 1, 2 … by step and environment; episodes end at `ends`, pairs of the two.

    They are truncated there, but for those that are `terminal`.
    """
    observation = np.arange(T * N, dtype=np.float32).reshape(T, N, 1)
    terminated, truncated = np.zeros((T, N), bool), np.zeros((T, N), bool)
    for end in ends:
        (terminated if end in terminal else truncated)[end] = True
    start = np.zeros((T, N), bool)
    start[1:] = (terminated | truncated)[:-1]
    state = np.zeros((T, N, 1), np.float32)
    state[0] = 100.0 * column(1, 2, 3)
    for t in range(1, T):
        kept = np.where(start[t - 1][:, None], 0.0, state[t - 1])
        state[t] = kept + observation[t - 1]
    number = observation[..., 0]
    return Rollout(
        observation=observation,
        action=number.astype(np.int64),
        reward=number,
        terminated=terminated,
        truncated=truncated,
        next_observation=column(0.5, 0.25, 0.125),
        final_time=np.array([t for t, _ in ends], np.int64),
        final_env=np.array([n for _, n in ends], np.int64),
        final_observation=np.full((len(ends), 1), 0.75, np.float32),
        extras={"value": 10 * number, "log_prob": -number, "state": state, "episode_start": start},
    )


def test_what_follows_is_valued_with_the_state_after_the_last_step():
    last, final = following_values(made(), rollout())
    # Environment 0 saw 0 + 3 + 6 + 9 after a state of 100, environment 1 22, environment 2 26.
    assert last.tolist() == [10 * 118.5 + 1, 10 * 222.25 + 1, 10 * 326.125 + 1]
    assert final.tolist() == []


def test_what_an_episode_ended_on_is_valued_with_the_state_of_that_episode():
    last, final = following_values(made(), rollout(ends=[(1, 0), (3, 0), (3, 2)]))
    # Environment 0: 100 + 0 + 3, then anew 6 + 9. Environment 2 goes through: 300 + 2 + 5 + 8 + 11.
    assert final.tolist() == [10 * 103.75 + 1, 10 * 15.75 + 1, 10 * 326.75 + 1]
    # Where the last step ended an episode, this value is not used: `next_values` takes the final.
    assert last[1] == 10 * 222.25 + 1


def test_the_last_step_may_be_the_first_of_an_episode():
    last, _ = following_values(made(), rollout(ends=[(2, 0)]))
    assert last[0] == 10 * 9.5 + 1  # environment 0 saw nothing but 9 since


def test_a_policy_without_state_values_what_follows_as_it_is():
    last, final = following_values(made(NoLayers()), rollout(ends=[(1, 0)]))
    assert last.tolist() == [6.0, 3.5, 2.25] and final.tolist() == [8.5]
    assert following_values(made(NoLayers()), rollout())[1].tolist() == []


@pytest.mark.parametrize("builder", [None, NoLayers()])
def test_where_an_episode_terminated_nothing_follows(builder):
    policy = made(builder)
    ends = [(1, 0), (3, 0), (3, 2)]
    _, final = following_values(policy, rollout(ends))
    _, found = following_values(policy, rollout(ends, terminal=[(1, 0), (3, 2)]))
    assert found.tolist() == [0.0, final[1], 0.0] and final[1] != 0.0


# ---- minibatches ---------------------------------------------------------------------------------


def parts(n_epochs=1, n_minibatches=3, seed=0, length=None, **keywords):
    given, advantage = rollout(**keywords), 100 * np.arange(T * N, dtype=np.float32).reshape(T, N)
    rng = np.random.default_rng(seed)
    return list(sequence_epochs(given, advantage, n_epochs, n_minibatches, rng, length=length))


def test_a_minibatch_is_every_step_of_some_environments_in_order():
    for part in parts():
        env = int(part.action[0])
        numbers = torch.tensor([env + N * t for t in range(T)])
        assert torch.equal(part.action, numbers)
        assert torch.equal(part.observation[:, 0], numbers.float())
        assert torch.equal(part.value, 10.0 * numbers)
        assert torch.equal(part.log_prob, -numbers.float())
        assert torch.equal(part.advantage, 100.0 * numbers)
        assert torch.equal(part.return_, 110.0 * numbers)
        assert part.state.tolist() == [[100.0 * (env + 1)]]
        assert part.episode_start.shape == (T, 1)


@dataclass(frozen=True, kw_only=True)
class Numbered(Sequences):
    number: torch.Tensor


def test_fields_of_an_algorithms_own_are_cut_as_all_others_are():
    given, advantage = rollout(), np.zeros((T, N), np.float32)
    joined = whole(given, advantage, made())
    numbered = Numbered(**vars(joined), number=joined.action + 0.5)
    found = list(shuffled_sequences(numbered, 2, 3, np.random.default_rng(0)))
    expected = list(sequence_epochs(given, advantage, 2, 3, np.random.default_rng(0)))
    assert len(found) == len(expected) == 6
    for one, other in zip(found, expected, strict=True):
        assert one.number.tolist() == (other.action + 0.5).tolist()
        for name in ("observation", "state", "episode_start"):
            assert torch.equal(getattr(one, name), getattr(other, name)), name


def test_only_for_a_recurrent_policy_are_minibatches_sequences():
    given, advantage = rollout(), np.zeros((T, N), np.float32)
    for policy, is_sequences in ((made(), True), (made(NoLayers()), False)):
        rng = np.random.default_rng(0)
        found = list(epochs_for(policy, given, advantage, 2, 3, rng))
        assert [isinstance(one, Sequences) for one in found] == [is_sequences] * 6
        transitions = torch.cat([one.action for one in found[:3]])
        assert sorted(transitions.tolist()) == sorted(given.action.reshape(-1).tolist())


def test_several_environments_are_time_first():
    (part,) = parts(n_minibatches=1)
    order = part.action[:N]
    assert sorted(order.tolist()) == [0, 1, 2]
    assert torch.equal(part.action.view(T, N), order + N * torch.arange(T)[:, None])
    assert torch.equal(part.state[:, 0], 100.0 * (order + 1))
    assert part.episode_start.shape == (T, N)


def test_environments_may_be_cut_into_shorter_sequences():
    given, found = rollout(ends=[(1, 0)]), []
    for part in parts(n_minibatches=6, length=2, ends=[(1, 0)]):
        first, second = part.action.tolist()
        t, n = divmod(first, N)
        assert second == first + N and t in (0, 2)
        assert part.state.tolist() == given.extras["state"][t, n][None].tolist()
        assert part.episode_start.tolist() == [[n == 0 and t == 2], [False]]
        assert part.advantage.tolist() == [100.0 * first, 100.0 * second]
        found.append(first)
    assert sorted(found) == [0, 1, 2, 6, 7, 8]


@pytest.mark.parametrize("length", [1, 2])
def test_shorter_sequences_unrolled_give_what_acting_gave(length):
    given, policy = rollout(ends=[(1, 0), (2, 2)]), made()
    for part in parts(n_minibatches=1, length=length, ends=[(1, 0), (2, 2)]):
        (value,) = part.outputs(policy, "vf")
        assert torch.equal(policy.vf.out(part.hidden(policy, "vf")), value)
        for row, number in enumerate(part.action.tolist()):
            t, n = divmod(number, N)
            kept = 0.0 if given.extras["episode_start"][t, n] else given.extras["state"][t, n, 0]
            assert value[row].item() == 10 * (kept + given.observation[t, n, 0]) + 1


@pytest.mark.parametrize(("batch_size", "length"), [(1, 1), (6, 6), (12, 12), (24, 12), (48, 12)])
def test_a_batch_is_whole_sequences(batch_size, length):
    assert sequence_length(batch_size, 12, 4, "algorithm 'x'") == length


@pytest.mark.parametrize(
    ("batch_size", "told"),
    [(5, "=4 or 6"), (13, "=12 or 24"), (36, "=24 or 48"), (96, "=48"), (7, "=6 or 12")],
)
def test_a_batch_of_incomplete_sequences_is_refused_with_what_to_type(batch_size, told):
    with pytest.raises(
        PlanError, match=rf"'x'.*n_steps=12 of n_envs=4.*{batch_size}.*size{told}\."
    ):
        sequence_length(batch_size, 12, 4, "algorithm 'x'")


@pytest.mark.timeout(20)
def test_batches_of_a_collection_of_billions_of_steps_are_found_at_once():
    assert sequence_length(8, 10**18, 4, "algorithm 'x'") == 8
    with pytest.raises(PlanError, match=r"batch_size=5 or 8\."):
        sequence_length(7, 10**10, 4, "algorithm 'x'")


def test_whole_sequences_are_the_batches_that_are_taken():
    def is_taken(batch_size: int, n_steps: int, n_envs: int) -> bool:
        try:
            return bool(sequence_length(batch_size, n_steps, n_envs, ""))
        except PlanError:
            return False

    for n_steps, n_envs in [(1, 1), (12, 6), (16, 9), (7, 4)]:
        taken = [n for n in range(1, n_steps * n_envs + 9) if is_taken(n, n_steps, n_envs)]
        assert whole_sequences(n_steps, n_envs) == taken


def test_every_epoch_has_every_environment_once_in_an_order_of_its_own():
    orders = [[int(part.action[0]) for part in parts(8, seed=seed)] for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    epochs = [orders[0][start : start + N] for start in range(0, 24, N)]
    assert all(sorted(epoch) == [0, 1, 2] for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) > 1


def test_unrolling_a_minibatch_gives_what_acting_gave():
    for ends in ([], [(0, 1)], [(1, 0), (2, 0), (3, 2)]):
        given, policy = rollout(ends=ends), made()
        for part in parts(n_minibatches=1, ends=ends):
            (value,) = part.outputs(policy, "vf")
            envs = part.action[:N]
            for t in range(T):
                start = given.extras["episode_start"][t][envs][:, None]
                state = np.where(start, 0.0, given.extras["state"][t][envs])
                expected = 10 * (state + given.observation[t][envs]) + 1
                assert value.view(T, N)[t].tolist() == expected[:, 0].tolist()


def test_observations_that_are_dicts_stay_dicts():
    given = rollout()
    number = given.observation[..., 0]
    mixed = Rollout(**{**vars(given), "observation": {"a": given.observation, "b": number}})
    for part in sequence_epochs(mixed, 0 * number, 1, 3, np.random.default_rng(0)):
        assert torch.equal(part.observation["a"][:, 0], part.action.float())
        assert torch.equal(part.observation["b"], part.action.float())


@pytest.mark.parametrize(("n_minibatches", "n_envs"), [(1, 1), (4, 8), (8, 8), (1, 3)])
def test_environments_that_can_be_dealt_out_are_accepted(n_minibatches, n_envs):
    assert refuse_uneven_minibatches(n_minibatches, n_envs, "algorithm 'x'", "parts") is None


@pytest.mark.parametrize(
    ("n_envs", "told"),
    [
        (6, r"'x'.*n_envs=6.*parts=4\. Use --set parts=1 \(or 2, 3, 6\), or --n-envs 4 or"),
        (1, r"'x'.*n_envs=1.*parts=4\. Use --set parts=1, or --n-envs 4 or"),
    ],
)
def test_environments_that_cannot_be_dealt_out_are_refused_with_what_to_type(n_envs, told):
    with pytest.raises(PlanError, match=told):
        refuse_uneven_minibatches(4, n_envs, "algorithm 'x'", "parts")
