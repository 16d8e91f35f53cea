"""Rare spaces: with several axes, another start, or of no use to a network."""

from __future__ import annotations

import re

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces

import rlk
from rlk.errors import PlanError
from rlk.hookspecs import hookimpl
from rlk_dummy import DummyVecEnv
from rlk_networks import preprocess
from rlk_networks.observations import flat_size
from rlk_numpy_acting.observations import as_numbers

OBSERVED = spaces.Box(-1.0, 1.0, (2,), np.float32)
SMALL = {
    "ppo2": {"n_steps": 4, "nminibatches": 1, "noptepochs": 1},
    "trpo": {"timesteps_per_batch": 8},
    "sac": {"learning_starts": 2, "batch_size": 4},
    "ddpg": {"batch_size": 4, "nb_rollout_steps": 2, "nb_train_steps": 2},
    "td3": {"learning_starts": 2, "batch_size": 4, "train_freq": 2, "gradient_steps": 2},
    "dqn": {"learning_starts": 2, "batch_size": 4},
}
ON_POLICY = {
    "box of two axes": spaces.Box(-1.0, 2.0, (2, 3), np.float32),
    "box of three axes": spaces.Box(-1.0, 2.0, (2, 1, 2), np.float32),
    "box of one number": spaces.Box(-1.0, 2.0, (1, 1), np.float32),
    "choices in a table": spaces.MultiDiscrete([[2, 3], [2, 2]]),
    "choices from elsewhere": spaces.MultiDiscrete([2, 3], start=[4, -7]),
    "switches in a table": spaces.MultiBinary((2, 3)),
    "actions from elsewhere": spaces.Discrete(3, start=-5),
}
CONTINUOUS = {
    "two axes": spaces.Box(-1.0, 2.0, (2, 3), np.float32),
    "float64": spaces.Box(-1.0, 2.0, (2, 3), np.float64),
    "bounds of each number": spaces.Box(
        np.array([[-2.0, 0.0], [5.0, -1e6]], np.float32),
        np.array([[2.0, 0.1], [5.5, 1e6]], np.float32),
    ),
    "tiny and huge bounds": spaces.Box(
        np.array([[-1e-30, -3e38]], np.float32), np.array([[1e-30, 3e38]], np.float32)
    ),
    "one value only": spaces.Box(np.ones((2, 2), np.float32), np.ones((2, 2), np.float32)),
}


class World(gym.Env):
    """Refuses any action outside of its space; the observation is a sample of its space."""

    def __init__(self, action_space, observation_space=OBSERVED):
        self.action_space, self.observation_space = action_space, observation_space
        self.time, self.actions = 0, []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        return self.observation_space.sample(), {}

    def step(self, action):
        self.time += 1
        self.actions.append(np.copy(action))
        action = action[()] if np.ndim(action) == 0 else action
        assert self.action_space.contains(action), f"{action!r} is not in {self.action_space}"
        return self.observation_space.sample(), float(np.sum(action) > 0), self.time == 5, False, {}


class Actions:
    """Keeps what was stored of every action, its log-probability, and the worlds that were made."""

    def __init__(self):
        self.stored, self.log_probs, self.worlds = [], [], []

    @hookimpl
    def rlk_step(self, step):
        self.stored.append(step.action.copy())
        self.log_probs.append(step.extras.get("log_prob"))


def trained(algo, action_space, observation_space=OBSERVED, acting="numpy", **settings):
    """An agent that has learnt a few steps, and the actions that it took."""
    watch, plugins = Actions(), settings.pop("plugins", [])

    def make():
        watch.worlds.append(World(action_space, observation_space))
        return watch.worlds[-1]

    agent = rlk.make(
        algo,
        env=make,
        plugins=[watch, *plugins, *([] if acting == "numpy" else ["no:numpy-acting"])],
        **{"n_envs": 2, "seed": 1, **SMALL[algo], **settings},
    )
    return agent.learn(16), watch


def stored_shape(space):
    return () if isinstance(space, spaces.Discrete) else (int(np.prod(space.shape)),)


def check_predicts(agent):
    action, _ = agent.predict(agent.plan.observation_space.sample())
    space = agent.plan.action_space
    assert space.contains(action if np.ndim(action) else int(action))


# ---- actions of several axes, and counted from elsewhere -----------------------------------------


@pytest.mark.parametrize("acting", ["numpy", "torch"])
@pytest.mark.parametrize("n_envs", [1, 2])
@pytest.mark.parametrize("name", ON_POLICY)
def test_on_policy_actions_are_stored_with_their_own_probability(name, n_envs, acting):
    space = ON_POLICY[name]
    agent, watch = trained("ppo2", space, n_envs=n_envs, acting=acting, learning_rate=0.0)
    with agent:
        assert agent.run.clock.updates > 0
        rollout = agent.run.storage.latest()
        assert rollout.action.shape == (4, n_envs, *stored_shape(space))
        assert np.array_equal(rollout.action, np.stack(watch.stored[-4:]))
        observation, action = (
            torch.from_numpy(part).flatten(0, 1) for part in (rollout.observation, rollout.action)
        )
        (parameters,) = agent.run.policy(observation, "pi")
        expected = agent.run.distribution.log_prob(parameters, action).detach().numpy()
        assert np.allclose(rollout.extras["log_prob"].reshape(-1), expected, atol=1e-5)
        check_predicts(agent)


@pytest.mark.parametrize("name", ["box of two axes", "choices in a table", "switches in a table"])
@pytest.mark.parametrize("settings", [("trpo", {}), ("ppo2", {"policy": "lstm"})], ids=str)
def test_other_on_policy_algorithms_and_policies_take_them_too(name, settings):
    algo, keywords = settings
    agent, _ = trained(algo, ON_POLICY[name], **keywords)
    with agent:
        assert agent.run.clock.updates > 0
        check_predicts(agent)


#: How an algorithm explores in each of the continuous spaces.
EXPLORING = {
    "two axes": {"random_exploration": 0.3},
    "float64": {"action_noise": "normal-noise:sigma=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]"},
    "bounds of each number": {"action_noise": "ornstein-uhlenbeck-noise:dt=1.0"},
    "tiny and huge bounds": {"action_noise": "normal-noise:mean=0.5,sigma=2.0"},
    "one value only": {"action_noise": "ornstein-uhlenbeck-noise", "random_exploration": 0.3},
}


@pytest.mark.parametrize(
    ("algo", "acting"), [("ddpg", "numpy"), ("sac", "numpy"), ("sac", "torch"), ("td3", "torch")]
)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_actions_are_stored_in_one_range_and_done_in_their_bounds(algo, acting, name):
    space, exploring = CONTINUOUS[name], dict(EXPLORING[name])
    if algo != "sac" and name == "two axes":
        exploring["plugins"] = ["param-noise:batch_size=4,adaption_interval=2"]
    agent, watch = trained(algo, space, acting=acting, **exploring)
    with agent:
        assert agent.run.clock.updates > 0
        assert bool(torch.isfinite(agent.run.parameters.flat).all())
        size = int(np.prod(space.shape))
        stored = np.stack(watch.stored)  # [T, N, D]
        assert stored.shape == (8, 2, size) and np.abs(stored).max() <= 1.0
        for env, world in enumerate(watch.worlds[-2:]):
            for t, done in enumerate(world.actions):
                for i, (low, high) in enumerate(zip(space.low.flat, space.high.flat, strict=True)):
                    middle, half = (
                        float(low) / 2 + float(high) / 2,
                        float(high) / 2 - float(low) / 2,
                    )
                    expected = middle + half * float(stored[t, env, i])
                    assert done.flat[i] == pytest.approx(expected, rel=1e-5, abs=1e-5 * half)
        batch = agent.run.storage.sample(8)
        assert tuple(batch.action.shape) == (8, size) and float(batch.action.abs().max()) <= 1.0
        check_predicts(agent)


def test_a_greedy_action_and_a_random_one_are_counted_from_the_start():
    agent, _ = trained("dqn", spaces.Discrete(3, start=-5))
    with agent:
        check_predicts(agent)


# ---- observations that are counted from elsewhere ------------------------------------------------


@pytest.mark.parametrize(
    "space",
    [
        spaces.MultiDiscrete([2, 3], start=[5, -1]),
        spaces.MultiDiscrete([[2, 3], [2, 2]], start=[[1, 2], [3, 4]]),
        spaces.MultiDiscrete([2, 3], start=[200, 7], dtype=np.uint8),
        spaces.Discrete(4, start=-2),
    ],
    ids=str,
)
def test_every_choice_becomes_its_own_one_hot_vector(space):
    first = np.asarray(space.start)[None]
    last = np.asarray(first + (space.nvec if hasattr(space, "nvec") else space.n) - 1)
    for torch_or_numpy in (
        lambda x: preprocess(space)(torch.from_numpy(x)).numpy(),
        as_numbers(space),
    ):
        low, high = (torch_or_numpy(x.astype(space.dtype))[0] for x in (first, last))
        assert low.shape == (flat_size(space),)
        sizes = space.nvec.reshape(-1) if hasattr(space, "nvec") else [space.n]
        expected = [np.eye(n, dtype=np.float32) for n in sizes]
        assert low.tolist() == np.concatenate([rows[0] for rows in expected]).tolist()
        assert high.tolist() == np.concatenate([rows[-1] for rows in expected]).tolist()


@pytest.mark.parametrize("acting", ["numpy", "torch"])
@pytest.mark.parametrize("policy", ["mlp", "lstm", "multi-input"])
def test_runs_train_on_choices_that_are_counted_from_elsewhere(policy, acting):
    observed = spaces.MultiDiscrete([2, 3], start=[5, -1])
    if policy == "multi-input":
        observed = spaces.Dict({"choices": observed, "room": spaces.Discrete(3, start=7)})
    agent, _ = trained("ppo2", spaces.Discrete(2), observed, acting, policy=policy)
    with agent:
        assert agent.run.clock.updates > 0
        check_predicts(agent)


# ---- spaces of derived classes -------------------------------------------------------------------


class Tray(spaces.Box):
    """A space of a program's own class."""


class Lever(spaces.Discrete):
    """Another one."""


class Desk(spaces.Dict):
    """One that holds others."""


def test_spaces_of_derived_classes_are_known_by_their_base():
    tray, lever = Tray(-1.0, 1.0, (2,), np.float32), Lever(3, start=1)
    for algo in ("ppo2", "dqn"):
        agent, _ = trained(algo, lever, tray)
        with agent:
            assert agent.run.clock.updates > 0
            check_predicts(agent)
    desk = Desk({"tray": tray, "left": spaces.Dict({"lever": lever})})
    agent, _ = trained("ppo2", lever, desk, policy="multi-input")
    with agent:
        assert agent.run.clock.updates > 0
        check_predicts(agent)


# ---- spaces that nothing can be made for ---------------------------------------------------------

BOX0 = spaces.Box(-1.0, 1.0, (0,), np.float32)
SCALAR = spaces.Box(-1.0, 1.0, (), np.float32)
WHOLE = spaces.Box(-3, 3, (2,), np.int64)
TEXT = spaces.Text(5)
REFUSED_OBSERVATIONS = {
    "no numbers": (BOX0, r"Box\(\(0,\), float32\) has no numbers"),
    "no rows": (spaces.Box(-1.0, 1.0, (0, 3)), r"Box\(\(0, 3\), float32\) has no numbers"),
    "no axis": (SCALAR, r"Box\(\(\), float32\) has no axis.*ReshapeObservation\(env, \(1,\)\)"),
    "no keys": (spaces.Dict({}), "Dict without keys"),
    "a number as a key": (
        spaces.Dict({1: OBSERVED, "a": TEXT}),
        "the key 1, which is not a text. Name it '1'.*TransformObservation",
    ),
    "none as a key": (spaces.Dict({None: OBSERVED, "a": OBSERVED}), "the key None, .*'None'"),
    "no numbers in a key": (spaces.Dict({"a": OBSERVED, "b": BOX0}), "key 'b'.*no numbers"),
    "no axis in a key": (spaces.Dict({"a": SCALAR}), "key 'a'.*no axis"),
    "text in a key": (
        spaces.Dict({"a": OBSERVED, "b": TEXT}),
        "key 'b'.*Text.*:FilterObservation:filter_keys=\\[a\\]",
    ),
    "a sequence in a dict in a key": (
        spaces.Dict({"a": spaces.Dict({"b": spaces.Sequence(OBSERVED)})}),
        "key 'a.b'.*Sequence.*FilterObservation",
    ),
    "a key that is there twice when it is flat": (
        spaces.Dict({"a": spaces.Dict({"b": OBSERVED}), "a.b": OBSERVED}),
        "key 'a.b' when it is flat. Rename",
    ),
    "text": (TEXT, r"Text\(5\).*TransformObservation"),
    "text in a tuple": (spaces.Tuple([OBSERVED, TEXT]), "key '1'.*Text.*FilterObservation"),
    "a sequence": (spaces.Sequence(OBSERVED), "Sequence.*TransformObservation"),
    "a graph": (spaces.Graph(OBSERVED, None), "Graph.*TransformObservation"),
    "one of": (spaces.OneOf([OBSERVED, TEXT]), "OneOf.*TransformObservation"),
}
REFUSED_ACTIONS = {
    "whole numbers": (WHOLE, r"Box\(\(2,\), int64\) is of whole numbers.*MultiDiscrete"),
    "no numbers": (BOX0, "its action_space Box.* has no numbers"),
    "no axis": (SCALAR, "its action_space Box.* has no axis.*TransformAction"),
    "text": (TEXT, r"Text\(5\).*TransformAction"),
    "a tuple": (spaces.Tuple([spaces.Discrete(2)]), "Tuple.*TransformAction"),
    "a dict": (spaces.Dict({"a": spaces.Discrete(2)}), "Dict.*TransformAction"),
}


def refused(algo, action_space, observation_space=OBSERVED):
    """The error of planning about these spaces; the environment is not used otherwise."""
    made = []

    def make():
        made.append(World(action_space, observation_space))
        return made[-1]

    with pytest.raises(PlanError) as caught:
        rlk.make(algo, env=make)
    assert len(made) == 1, "planning looks at one environment, and no other is made"
    return str(caught.value).replace("\n", " ")


@pytest.mark.parametrize("name", REFUSED_OBSERVATIONS)
def test_an_observation_space_that_nothing_can_be_made_for_is_refused_while_planning(name):
    space, message = REFUSED_OBSERVATIONS[name]
    for algo in ("ppo2", "dqn"):
        assert re.search(message, refused(algo, spaces.Discrete(2), space))


@pytest.mark.parametrize("name", REFUSED_ACTIONS)
def test_an_action_space_that_nothing_can_be_made_for_is_refused_while_planning(name):
    space, message = REFUSED_ACTIONS[name]
    for algo in ("ppo2", "sac"):
        assert re.search(message, refused(algo, space))


def test_a_vector_that_is_passed_is_looked_at_too():
    vector = DummyVecEnv([lambda: World(WHOLE)])
    with pytest.raises(PlanError, match="of whole numbers"):
        rlk.make("ppo2", env=vector)
