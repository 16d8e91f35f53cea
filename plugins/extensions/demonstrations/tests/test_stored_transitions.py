"""Every transition that a replay begins with is one of the data's, found by brute force."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from recorded_walks import WORLDS, Truth, at, same

import rlk
from rlk.agent import Agent
from rlk.errors import PlanError
from rlk_demonstrations import transitions
from rlk_expert_data import Trajectories, generate_expert_traj
from rlk_testing.contracts.storage.brute_force_replay import BruteForceReplay
from rlk_testing.tools.states import same as same_state

ALGORITHMS = {"continuous": "td3", "dict": "dqn"}
POLICIES = {"dict": "multi-input"}
GAMMA = 0.9


def begun(world: str, path: Any, *plugins: str, algo: str = "", **given: Any) -> Agent:
    """An agent whose replay has the data, and no other transition."""
    settings: dict[str, Any] = {"buffer_size": 200, "batch_size": 8, "learning_starts": 500}
    settings |= {"gamma": GAMMA, "seed": 1, "n_threads": 1, "verbose": 0}
    agent = rlk.make(
        algo or ALGORITHMS.get(world, "dqn"),
        env=WORLDS[world],
        policy=POLICIES.get(world, "mlp"),
        plugins=[f"demonstrations:expert_path={path}", *plugins],
        **{**settings, **given},
    )
    agent.run.notify("rlk_training_start")
    return agent


def unscaled(world: str, action: Any) -> Any:
    """An action as the algorithm stores it."""
    if world != "continuous":
        return action
    return (action - np.array([-1.0, 2.5])) / np.array([2.0, 2.5])


@pytest.mark.parametrize("n_envs", [1, 2, 4])
@pytest.mark.parametrize("world", list(WORLDS))
def test_every_stored_transition_is_that_of_the_data(record: Any, world: str, n_envs: int) -> None:
    path, truth = record(world)
    kept = truth[len(truth) % n_envs :]
    part = len(kept) // n_envs
    with begun(world, path, n_envs=n_envs) as agent:
        storage = agent.run.storage
        assert len(storage) == len(kept)
        found = storage.window(np.arange(len(storage)), 1)
    for i, (action, reward) in enumerate(zip(found.action[0], found.reward[0], strict=True)):
        row, env = divmod(i, n_envs)
        true = kept[env * part + row]
        assert same(at(found.observation, 0, i), true.observation)
        assert same(at(found.observation, 1, i), true.next_observation)
        assert np.allclose(action, unscaled(world, true.action), atol=1e-6)
        assert reward == np.float32(true.reward)
        assert found.terminated[0, i] == true.terminated
        assert found.truncated[0, i] == (true.last and not true.terminated)
    assert {true.terminated for true in truth if true.last} == {False, True}


@pytest.mark.parametrize("n_envs", [1, 2])
def test_observations_that_are_read_in_parts_are_the_same(
    record: Any, monkeypatch: pytest.MonkeyPatch, n_envs: int
) -> None:
    path, truth = record("array")
    found = []
    for at_a_time in (7, len(truth)):
        monkeypatch.setattr(transitions, "_AT_A_TIME", at_a_time)
        with begun("array", path, n_envs=n_envs) as agent:
            found.append(agent.run.storage.state_dict())
    assert same_state(*found)


def test_actions_at_bounds_that_float32_can_hardly_tell_apart_are_within_them() -> None:
    bounds = spaces.Box(np.float32(100.1), np.float32(100.3), (1,))
    data = Trajectories(
        observation=np.zeros((2, 1), np.float32),
        action=np.stack([bounds.low, bounds.high]),
        episode_start=np.array([True, False]),
        returns=np.zeros(1),
        reward=np.zeros(2),
    )
    found = transitions.transitions_of(data, spaces.Box(-1.0, 1.0, (1,)), bounds)
    assert found.action.ravel() == pytest.approx([-1.0, 1.0], abs=1e-3)
    further = replace(data, action=data.action + np.float32([[-0.001], [0.0]]))
    with pytest.raises(PlanError, match=r"are not all in Box.*100\.09"):
        transitions.transitions_of(further, spaces.Box(-1.0, 1.0, (1,)), bounds)


def n_step_return(part: list[Truth], n: int) -> tuple[float, float, Any]:
    """(return, discount, next observation) of the first transition of a part of the data."""
    total, discount = 0.0, 1.0
    for true in part[:n]:
        total += discount * true.reward
        discount *= GAMMA
        if true.last:
            break
    return total, 0.0 if true.terminated else discount, true.next_observation


@pytest.mark.parametrize(
    "plugins", [["n-step:n_steps=3"], ["n-step:n_steps=3", "prioritized-replay"]]
)
@pytest.mark.parametrize("n_envs", [1, 2])
@pytest.mark.parametrize("world", ["array", "continuous"])
def test_n_step_returns_of_the_data_are_those_of_brute_force(
    record: Any, world: str, n_envs: int, plugins: list[str]
) -> None:
    path, truth = record(world)
    kept = truth[len(truth) % n_envs :]
    part = len(kept) // n_envs
    with begun(world, path, *plugins, n_envs=n_envs) as agent:
        batch = agent.run.storage.sample(500)
    assert set(batch.index.tolist()) == set(range(len(kept)))
    for i, slot in enumerate(batch.index.tolist()):
        row, env = divmod(slot, n_envs)
        total, discount, after = n_step_return(kept[env * part + row : (env + 1) * part], 3)
        assert math.isclose(float(batch.reward[i]), total, rel_tol=1e-5, abs_tol=1e-5)
        assert math.isclose(float(batch.discount[i]), discount, abs_tol=1e-6)
        assert np.array_equal(batch.next_observation[i].numpy(), after)


def test_where_the_end_is_not_known_the_last_transition_is_left_out(
    record: Any, changed: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    _, truth = record("array")
    path = changed("array", episode_final_obs=None, episode_terminated=None)
    kept = [i for i, true in enumerate(truth) if not true.last]
    with begun("array", path, verbose=1) as agent:
        found = agent.run.storage.window(np.arange(len(agent.run.storage)), 1)
    assert len(found.slot) == len(kept) < len(truth)
    for slot, i in enumerate(kept):
        assert same(found.observation[0, slot], truth[i].observation)
        assert same(found.observation[1, slot], truth[i].next_observation)
        assert found.truncated[0, slot] == truth[i + 1].last and not found.terminated[0, slot]
    told = capsys.readouterr().err
    assert f"begins with {len(kept)} transitions, 17 episodes of {path}; the last trans" in told


@pytest.mark.parametrize("plugins", [[], ["prioritized-replay"], ["n-step:n_steps=3"]])
def test_goals_in_hindsight_are_those_of_the_data(tmp_path: Any, plugins: list[str]) -> None:
    env = {"id": "rlk/BitFlipping-v0", "n_bits": 4}
    given = {"env": env, "seed": 1, "buffer_size": 100, "gamma": GAMMA, "learning_starts": 0}
    with rlk.make("her", model="dqn", **given) as expert:
        generate_expert_traj(expert, tmp_path / "expert", n_episodes=5, deterministic=False)
    plugins = [f"demonstrations:expert_path={tmp_path / 'expert'}", *plugins]
    with rlk.make("her", model="dqn", plugins=plugins, batch_size=32, **given) as agent:
        run, made = agent.run, agent.get_env().unwrapped.envs[0].unwrapped
        steps = 3 if plugins[-1].startswith("n-step") else 1
        twin = BruteForceReplay(
            1,
            100,
            float(np.float32(GAMMA)),
            n_steps=steps,
            strategy="future",
            online="prioritized-replay" not in plugins,
            compute_reward=made.compute_reward,
            compute_terminated=made.compute_terminated,
        )
        add = run.add
        run.add = lambda step: (twin.add(step), add(step))
        run.notify("rlk_training_start")
        demonstrated = len(run.storage)
        rows = twin.check(run.storage.sample(300))
        agent.learn(10)
        twin.check(run.storage.sample(300))
    assert demonstrated == len(twin.played[0]) - 10 > 5
    assert any(variant for _, variant, _ in rows)
