"""What is collected, and when there are updates, as in Stable-Baselines3."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from against_peers.side_by_side import BOX, DISCRETE, PARTS, SEEN, World, close, sb3
from gymnasium import spaces

import rlk_sb3
from rlk.spaces import map_observation
from rlk_on_policy.advantages import advantages

OFF = {"buffer_size": 300, "batch_size": 4}
BOTH = (sb3, rlk_sb3)


class Steady(gym.Env):
    """Always observes the same; episodes have 5 and 7 steps in turn. It keeps the actions."""

    observation_space = spaces.Box(-1.0, 1.0, (2,), np.float32)

    def __init__(self, action_space):
        self.action_space, self.actions, self.episode, self.steps = action_space, [], -1, 0

    def reset(self, *, seed=None, options=None):
        self.episode, self.steps = self.episode + 1, 0
        return np.full(2, 0.5, np.float32), {}

    def step(self, action):
        self.actions.append(np.array(action))
        self.steps += 1
        is_last = self.steps == (5, 7)[self.episode % 2]
        return np.full(2, 0.5, np.float32), 0.0, is_last, False, {}


def in_steady_worlds(library, kind, n_envs, **settings):
    """A model, and its environments."""
    envs = [Steady(DISCRETE if kind == "DQN" else BOX) for _ in range(n_envs)]
    vector = library.common.vec_env.DummyVecEnv([lambda env=env: env for env in envs])
    made = getattr(library, kind)(
        "MlpPolicy", vector, seed=0, policy_kwargs={"net_arch": [4]}, **settings
    )
    return made, envs


# ---- what is stored ------------------------------------------------------------------------------


def worlds(library, n_envs, observations, actions):
    functions = [lambda seed=seed: World(observations, actions, seed) for seed in range(n_envs)]
    return library.common.vec_env.DummyVecEnv(functions)


def parts(observations):
    """The parts of observations in the order of their names, [..., numbers]."""
    found: list[np.ndarray] = []
    map_observation(found.append, observations)
    return found


@pytest.mark.parametrize("n_envs", [1, 3])
@pytest.mark.parametrize("observations", [SEEN, PARTS], ids=["Box", "Dict"])
@pytest.mark.parametrize("kind", ["A2C", "PPO"])
def test_rollouts_are_the_same_over_two_calls_of_learn(tmp_path, kind, observations, n_envs):
    settings = {"n_steps": 16, "learning_rate": 0.0, "gae_lambda": 0.9}
    settings |= {"batch_size": 16} if kind == "PPO" else {}
    policy = "MultiInputPolicy" if observations is PARTS else "MlpPolicy"
    vectors = [worlds(library, n_envs, observations, BOX) for library in BOTH]
    there = getattr(sb3, kind)(policy, vectors[0], seed=0, **settings)
    there.save(tmp_path / "there")
    here = getattr(rlk_sb3, kind).load(tmp_path / "there", env=vectors[1])
    for is_first in (True, False):
        for model in (there, here):
            model.learn(16 * n_envs, reset_num_timesteps=is_first)
        rollout, buffer = here.agent.run.storage.latest(), there.rollout_buffer

        def in_time(rows):  # after an update, its rows are one environment after the other
            return rows.reshape(n_envs, 16, -1).swapaxes(0, 1)

        advantage = advantages(rollout, here.agent.run.policy, there.gamma, there.gae_lambda)
        close(np.reshape(advantage, (16, n_envs, 1)), in_time(buffer.advantages))
        for found, expected in zip(
            parts(rollout.observation), parts(buffer.observations), strict=True
        ):
            close(np.reshape(found, (16, n_envs, -1)), in_time(expected))


@pytest.mark.parametrize("n_envs", [1, 3])
@pytest.mark.parametrize("observations", [SEEN, PARTS], ids=["Box", "Dict"])
@pytest.mark.parametrize("kind", ["DQN", "SAC", "TD3"])
def test_replays_have_the_same_transitions_also_when_they_are_full(kind, observations, n_envs):
    policy = "MultiInputPolicy" if observations is PARTS else "MlpPolicy"
    actions = DISCRETE if kind == "DQN" else BOX
    both = [
        getattr(library, kind)(
            policy,
            worlds(library, n_envs, observations, actions),
            seed=0,
            **{**OFF, "buffer_size": 30 * n_envs, "learning_starts": 10**6},
        )
        for library in BOTH
    ]
    for timesteps in (20, 30):
        there, here = (
            transitions(model.learn(timesteps * n_envs, reset_num_timesteps=False))
            for model in both
        )
        assert here == there
    assert len(here) == 30 * n_envs


def transitions(model):
    """The transitions in a model's replay but for the actions: sampled until none is missed."""
    found = model.replay_buffer.sample(4000)
    observed = [*parts(found.observations), *parts(found.next_observations)]
    rows = np.concatenate([*observed, found.rewards, found.dones], 1)
    return {tuple(row) for row in rows.round(4).tolist()}


# ---- when there are updates ----------------------------------------------------------------------

ONCE, THRICE = [(40, True)], [(40, True), (20, False), (24, True)]
SLOPE = {"learning_rate": lambda left: 1e-3 * left}
#: Where `learning_starts` is reached exactly, updates begin one collection earlier here.
UPDATES = {
    "every fourth step": ("DQN", 1, {"learning_starts": 10, "train_freq": 4}, ONCE),
    "as many as timesteps": ("DQN", 3, {"train_freq": 4, "gradient_steps": -1}, ONCE),
    "several calls": ("DQN", 3, {"train_freq": 2, "gradient_steps": 2}, THRICE),
    "episodes": ("DQN", 1, {"train_freq": (1, "episode"), "learning_starts": 7}, [(36, True)]),
    "a slope": ("SAC", 2, {"train_freq": 3, "gradient_steps": -1, **SLOPE}, [(24, True)]),
    "a slope over several calls": (
        "TD3",
        1,
        {"train_freq": 2, "learning_starts": 9, **SLOPE},
        THRICE,
    ),
}


@pytest.mark.parametrize(("kind", "n_envs", "settings", "calls"), UPDATES.values(), ids=UPDATES)
def test_updates_are_made_at_the_same_timesteps_with_the_same_rate(kind, n_envs, settings, calls):
    settings = {**OFF, "learning_starts": 4, **settings}
    there, here = (in_steady_worlds(library, kind, n_envs, **settings)[0] for library in BOTH)
    expected, found = note_updates_there(there), note_updates_here(here)
    for timesteps, is_new in calls:
        for model in (there, here):
            model.learn(timesteps, reset_num_timesteps=is_new)
    assert found == expected
    assert here.num_timesteps == there.num_timesteps


def note_updates_there(model):
    """(timesteps, updates, learning rate) of every call of `train`."""
    noted, train = [], model.train

    def noting(gradient_steps, batch_size):
        train(gradient_steps=gradient_steps, batch_size=batch_size)
        owner = model.policy if hasattr(model.policy, "optimizer") else model.actor
        rate = owner.optimizer.param_groups[0]["lr"]
        noted.append((model.num_timesteps, gradient_steps, pytest.approx(rate)))

    model.train = noting
    return noted


def note_updates_here(model):
    noted, run = [], model.agent.run
    update = run.update

    def noting(batch, optimise):
        before = noted.pop()[1] if noted and noted[-1][0] == run.timesteps else 0
        rate = next(iter(run.optimise.learning_rates().values()))
        noted.append((run.timesteps, before + 1, rate))
        return update(batch, optimise)

    run.update = noting
    return noted


# ---- exploration ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n_envs", [1, 2])
def test_epsilon_is_the_same_after_every_step_over_several_calls(n_envs):
    settings = {"exploration_fraction": 0.5, "exploration_final_eps": 0.1, "buffer_size": 100}
    rates = []
    for library in BOTH:
        model, _ = in_steady_worlds(library, "DQN", n_envs, learning_starts=10**6, **settings)
        for timesteps, is_new in [(20, True), (10, False), (20, True)]:
            of_call = []
            rates.append(of_call)

            def keep(found, _, of_call=of_call):
                of_call.append(found["self"].exploration_rate)
                return True

            model.learn(timesteps, callback=keep, reset_num_timesteps=is_new)
    for there, here in zip(rates[:3], rates[3:], strict=True):
        # There, a callback finds the rate of the step that has been made, here that of the next.
        assert len(here) > 2
        assert here[:-1] == pytest.approx(there[1:])


NOISE = {
    "a rollout": ("PPO", 1, {"n_steps": 12, "batch_size": 12}),
    "every fifth step": ("PPO", 2, {"n_steps": 12, "batch_size": 12, "sde_sample_freq": 5}),
    "every fourth step of A2C": ("A2C", 2, {"n_steps": 6, "sde_sample_freq": 4}),
    "a collection of SAC": ("SAC", 1, {"train_freq": 8}),
    "every third step of SAC": ("SAC", 2, {"train_freq": 8, "sde_sample_freq": 3}),
    "an episode": ("SAC", 1, {"train_freq": (1, "episode")}),
    "a warm-up of random actions": ("SAC", 1, {"train_freq": 8, "learning_starts": 10}),
    "a warm-up with it": (
        "SAC",
        1,
        {"train_freq": 8, "learning_starts": 10, "use_sde_at_warmup": True},
    ),
}


@pytest.mark.parametrize(("kind", "n_envs", "settings"), NOISE.values(), ids=NOISE)
def test_state_dependent_noise_is_drawn_anew_at_the_same_steps(kind, n_envs, settings):
    """With the same observation and weights, an action changes only if its noise does."""
    if kind == "SAC":
        settings = {"buffer_size": 100, "batch_size": 4, "learning_starts": 0, **settings}
    changes = []
    for library in BOTH:
        settings_of_all = {"use_sde": True, "learning_rate": 0.0, **settings}
        model, envs = in_steady_worlds(library, kind, n_envs, **settings_of_all)
        for timesteps, is_new in [(24, True), (12, False)]:
            model.learn(timesteps * n_envs, reset_num_timesteps=is_new)
        of_each = [np.abs(np.diff(env.actions, axis=0)).max(1) > 1e-6 for env in envs]
        changes.append([np.flatnonzero(one).tolist() for one in of_each])
    assert changes[1] == changes[0]
    assert changes[0][0]
