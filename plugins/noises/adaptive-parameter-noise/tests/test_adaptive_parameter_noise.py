"""The actor: whose parameters act, when they are drawn, and how strong the noise becomes."""

from __future__ import annotations

from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

from rlk.one_process import OneProcess
from rlk.running.clock import Clock
from rlk.running.seeding import Streams
from rlk_adaptive_parameter_noise.config import AdaptiveParameterNoiseConfig
from rlk_adaptive_parameter_noise.distance import (
    action_distance,
    greedy_divergence,
    policy_divergence,
)
from rlk_adaptive_parameter_noise.noise import AdaptiveParameterNoise
from rlk_adaptive_parameter_noise.perturbation import Perturbation, perturbed
from rlk_testing import NoiseContract
from rlk_testing.contracts.noise.inner_actor import Inner, observed
from rlk_testing.stand_ins import StandInParameters

BOX, CHOICES = gym.spaces.Box(-1.0, 1.0, (2,), np.float32), gym.spaces.Discrete(3, start=5)
N = 3


class TestAdaptiveParameterNoise(NoiseContract):
    component = "adaptive-parameter-noise"
    adapts = True


class TestStrongParameterNoise(NoiseContract):
    component = "param-noise"
    settings = {"initial_stddev": 2.0, "adaption_interval": 2}
    n_envs = 1
    adapts = True


class Replay:
    """Gives observations of its own, and counts how often it is asked for how many."""

    def __init__(self):
        self.asked = []

    def __len__(self):
        return 99

    def sample(self, count):
        self.asked.append(count)
        return SimpleNamespace(observation=torch.from_numpy(observed(count, len(self.asked))))


def world(space=BOX, seed=0, mean=None):
    """A run of three environments, and the policy's own actor."""
    inner, communicator = Inner(space), OneProcess()
    if mean is not None:
        communicator.mean = mean
    run = SimpleNamespace(
        action_space=space,
        n_envs=N,
        streams=Streams(seed),
        clock=Clock(1000),
        communicator=communicator,
        parameters=inner.parameters,
        storage=Replay(),
        algorithm=SimpleNamespace(actor=lambda rng=None: inner),
        plan=SimpleNamespace(algorithm=SimpleNamespace(config=SimpleNamespace(batch_size=128))),
        make_actor=lambda rng=None, policy=None: inner.with_policy(policy),
    )
    return run, inner


def wrapped(run, inner, **settings):
    config = AdaptiveParameterNoiseConfig(**settings)
    return AdaptiveParameterNoise(run, config).wrap(inner, inner.policy)


def values(parameters, observation):
    """What the linear policy with these parameters gives, float [N, ...]."""
    size = len(parameters) // 4  # its weight is [size, 3], its bias [size]
    weight, bias = parameters[: 3 * size].reshape(size, 3), parameters[3 * size :]
    return observation @ weight.T + bias


# ---- whose parameters act ------------------------------------------------------------------------


def test_each_environment_acts_by_parameters_of_its_own_as_a_loop_computes_them():
    run, inner = world(seed=3)
    actor, policy = wrapped(run, inner, initial_stddev=0.5), inner.parameters.flat.clone()
    rng, carry = Streams(3).numpy("noise"), actor.start(N)
    own = [None] * N
    for t, start in enumerate([[1, 1, 1], [0, 0, 0], [0, 1, 0], [1, 0, 1]]):
        inner.parameters.flat += 0.01  # as an update would
        for env in np.flatnonzero(start):
            drawn = rng.standard_normal(len(policy), dtype=np.float32)
            own[env] = inner.parameters.flat.numpy() + np.float32(0.5) * drawn
        act = actor.act(observed(N, t), carry, np.array(start, bool))
        expected = np.stack([values(own[env], observed(N, t)[env]) for env in range(N)])
        assert np.allclose(act.action, np.clip(expected, -1, 1), atol=1e-6)
        assert np.allclose(act.carry["parameters"].numpy(), np.stack(own), atol=1e-7)
        carry = act.carry


def test_noise_is_drawn_as_strong_as_it_has_become():
    run, inner = world(seed=3)
    actor, policy = wrapped(run, inner, initial_stddev=0.5), inner.parameters.flat.numpy()
    rng, carry = Streams(3).numpy("noise"), {**actor.start(N), "stddev": 0.125}
    found = actor.act(observed(N, 0), carry, np.ones(N, bool)).carry["parameters"].numpy()
    for parameters in found:
        drawn = rng.standard_normal(len(policy), dtype=np.float32)
        assert np.allclose(parameters, policy + np.float32(0.125) * drawn, atol=1e-7)


def test_a_choice_is_the_largest_value_of_the_perturbed_policy():
    run, inner = world(CHOICES)
    actor = wrapped(run, inner, initial_stddev=5.0)
    act = actor.act(observed(N, 0), actor.start(N), np.ones(N, bool))
    parameters = act.carry["parameters"].numpy()
    expected = [values(parameters[env], observed(N, 0)[env]).argmax() for env in range(N)]
    assert act.action.tolist() == expected
    assert act.env_action.tolist() == [5 + choice for choice in expected]


def test_what_another_actor_has_carried_is_gone_on_with():
    run, inner = world()
    first = wrapped(run, inner)
    carry = first.act(observed(N, 0), first.start(N), np.ones(N, bool)).carry
    other = wrapped(*world(seed=9))
    goes_on = np.zeros(N, bool)
    one, two = (actor.act(observed(N, 1), carry, goes_on) for actor in (first, other))
    assert np.array_equal(one.action, two.action)


def test_a_deterministic_action_neither_draws_nor_changes_the_carry():
    run, inner = world()
    actor = wrapped(run, inner)
    carry = actor.start(N)
    before = run.streams.numpy("noise").bit_generator.state
    act = actor.act(observed(N, 0), carry, np.ones(N, bool), deterministic=True)
    assert act.carry is carry and run.streams.numpy("noise").bit_generator.state == before


def test_observations_of_several_parts_go_to_each_environment_by_rows():
    class Sums:
        def start(self, n_envs): ...

        def metrics(self):
            return {}

        def with_policy(self, policy):
            return self

        def act(self, observation, carry, episode_start, deterministic=False):
            found = observation["a"] + observation["b"].sum(1, keepdims=True)
            return SimpleNamespace(action=found, env_action=found, extras={})

    run, inner = world()
    run.make_actor = lambda policy: Sums()
    actor = wrapped(run, inner)
    parts = {"a": np.arange(N, dtype=np.float32)[:, None], "b": np.ones((N, 2), np.float32)}
    act = actor.act(parts, actor.start(N), np.ones(N, bool))
    assert act.action[:, 0].tolist() == [2.0, 3.0, 4.0]


# ---- what is perturbed ---------------------------------------------------------------------------


def network():
    parts = nn.Conv2d(1, 2, 2), nn.Linear(3, 2), nn.LayerNorm(2)
    return StandInParameters(nn.ModuleList(parts))


@pytest.mark.parametrize("convolutions", [True, False])
def test_every_parameter_is_perturbed_but_those_of_layer_norm(convolutions):
    mask = perturbed(network(), convolutions)
    # 2 x 1 x 2 x 2 weights and 2 biases, 3 x 2 and 2, 2 and 2
    assert mask.tolist() == 10 * [float(convolutions)] + 8 * [1.0] + 4 * [0.0]


def test_noise_has_its_standard_deviation_and_the_policy_stays_as_it_is():
    parameters = network()
    before = parameters.flat.clone()
    perturbation = Perturbation(parameters, np.random.default_rng(0), convolutions=True)
    drawn = torch.stack([perturbation.draw(0.3) for _ in range(2000)]) - before
    # 36,000 samples: five standard errors of the mean are 0.008, of the deviation 0.006
    assert abs(float(drawn[:, :18].mean())) < 0.008
    assert abs(float(drawn[:, :18].std()) - 0.3) < 0.006
    assert not drawn[:, 18:].any() and parameters.flat.equal(before)


# ---- how strong it becomes -----------------------------------------------------------------------


def test_it_adapts_to_the_replay_for_every_interval_of_updates_as_a_loop_does():
    run, inner = world(seed=2)
    settings = {"initial_stddev": 0.2, "desired_action_stddev": 0.15, "adoption_coefficient": 1.5}
    actor = wrapped(run, inner, adaption_interval=10, batch_size=16, **settings)
    rng, stddev, carry = Streams(2).numpy("noise"), 0.2, actor.start(N)
    theta, found = inner.parameters.flat.numpy(), []
    for asked, updates in ((0, 9), (1, 10), (1, 19), (3, 31)):
        run.clock.updates = updates
        carry = actor.begin(carry)
        assert len(run.storage.asked) == asked
    for number in range(3):
        seen = observed(16, number + 1)
        other = theta + np.float32(stddev) * rng.standard_normal(len(theta), dtype=np.float32)
        distance = action_distance(
            np.clip(values(theta, seen), -1, 1), np.clip(values(other, seen), -1, 1)
        )
        found.append(distance)
        stddev = stddev * 1.5 if distance <= 0.15 else stddev / 1.5
    assert run.storage.asked == [16, 16, 16]
    assert carry["stddev"] == pytest.approx(stddev)
    assert carry["distance"] == pytest.approx(found[-1], rel=1e-4)


def test_updates_that_are_counted_anew_are_counted_from_0():
    run, inner = world()
    actor = wrapped(run, inner, adaption_interval=10)
    carry = {**actor.start(N), "counted": 95}
    run.clock.updates = 21
    assert actor.begin(carry)["counted"] == 21 and len(run.storage.asked) == 2


def test_updates_of_a_loaded_model_that_has_no_observations_yet_are_never_made_up_for():
    run, inner = world()
    actor, replay = wrapped(run, inner, adaption_interval=10), run.storage
    run.storage, run.clock.updates = [], 95
    carry = actor.begin(actor.start(N))
    run.storage, run.clock.updates = replay, 101
    assert actor.begin(carry)["counted"] == 101 and len(replay.asked) == 1


def test_with_choices_it_adapts_as_it_steps_to_the_distance_of_epsilon_greedy():
    run, inner = world(CHOICES, seed=4)
    settings = {"initial_stddev": 0.7, "adoption_coefficient": 2.0, "adaption_interval": 2}
    actor = wrapped(run, inner, fraction=0.5, initial_eps=1.0, final_eps=0.1, **settings)
    rng, stddev, carry = Streams(4).numpy("noise"), 0.7, actor.start(N)
    theta = inner.parameters.flat.numpy()
    size = len(theta)
    for t in range(6):
        run.clock.timesteps = 200 * t  # epsilon is 1, 0.64, 0.28, 0.1, …
        start = np.full(N, t == 0)
        carry = actor.begin(actor.act(observed(N, t), carry, start).carry)
        if t == 0:
            rng.standard_normal((N, size), dtype=np.float32)
        if t % 2 == 1:
            other = theta + np.float32(stddev) * rng.standard_normal(size, dtype=np.float32)
            p, q = (_softmax(values(one, observed(N, t))) for one in (theta, other))
            epsilon = max(0.1, 1.0 - 0.9 * 0.4 * t)
            assert carry["distance"] == pytest.approx(policy_divergence(p, q), rel=1e-4)
            near = carry["distance"] <= greedy_divergence(epsilon, 3)
            stddev = stddev * 2.0 if near else stddev / 2.0
        assert carry["stddev"] == pytest.approx(stddev)
    assert run.storage.asked == [] and stddev != 0.7


def _softmax(q):
    return np.exp(q) / np.exp(q).sum(1, keepdims=True)


def test_all_ranks_adapt_to_the_mean_of_their_distances():
    run, inner = world(mean=lambda distance: torch.tensor(7.0))
    actor = wrapped(run, inner, initial_stddev=0.1, adoption_coefficient=2.0)
    run.clock.updates = 50
    carry = actor.begin(actor.start(N))
    assert carry["distance"] == 7.0 and carry["stddev"] == 0.05


def test_what_it_logs_and_what_it_begins_anew_with_is_what_it_has_become():
    run, inner = world(CHOICES)
    actor = wrapped(run, inner, initial_stddev=0.1, adoption_coefficient=2.0, adaption_interval=1)
    carry = actor.act(observed(N, 0), actor.start(N), np.ones(N, bool)).carry
    assert actor.metrics() == {
        **inner.metrics(),
        "rollout/param_noise_stddev": carry["stddev"],
        "rollout/param_noise_distance": carry["distance"],
    }
    assert carry["stddev"] == 0.2 and actor.start(N)["stddev"] == 0.2


@pytest.mark.parametrize(
    "wrong",
    [
        {"initial_stddev": 0.0},
        {"initial_stddev": 1e7},
        {"desired_action_stddev": 2.0},
        {"adoption_coefficient": 1.0},
    ],
)
def test_what_is_out_of_range_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        AdaptiveParameterNoiseConfig(**wrong)
