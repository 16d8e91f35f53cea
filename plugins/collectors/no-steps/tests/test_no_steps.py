"""Training from what the storage holds: the clock, what is learnt, and what is refused."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from torch import nn

import rlk
from rlk.errors import PlanError, RlkError
from rlk_expert_data import generate_expert_traj
from rlk_no_steps.collector import NoSteps
from rlk_running_statistics import ObservationStatistics
from rlk_testing.environments import DiscreteMatch, environment_named

DISCRETE = "rlk_testing.environments:DiscreteMatch"
BOX = "rlk_testing.environments:BoxMatch"
SMALL: dict[str, Any] = {"seed": 1, "n_threads": 1, "buffer_size": 200, "batch_size": 16}


def made(algo: str, env: str, *plugins: Any, **settings: Any) -> rlk.Agent:
    given = {"collector": "no-steps", "plugins": plugins, **SMALL, **settings}
    return rlk.make(algo, env=env, **given)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment -> the file of what an agent did there that acts at random."""
    files = {}
    for name in (DISCRETE, BOX):
        path = tmp_path_factory.mktemp("recorded") / "random.npz"
        env = environment_named(name)()
        env.action_space.seed(1)
        sample = env.action_space.sample
        generate_expert_traj(lambda _, draw=sample: draw(), path, env, n_episodes=20, seed=3)
        files[name] = str(path)
    return files


# ---- the clock -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("collects", "timesteps"), [("offline", 7), ("off-policy", 4 * 2)])
def test_a_collection_counts_the_timesteps_of_all_ranks(collects: str, timesteps: int) -> None:
    component = SimpleNamespace(collects=collects)
    run: Any = SimpleNamespace(
        plan=SimpleNamespace(algorithm=SimpleNamespace(component=component)),
        clock=SimpleNamespace(timesteps=5),
        storage=range(7),
        algorithm=SimpleNamespace(steps_per_collect=lambda: 4),
        n_envs=2,
        communicator=SimpleNamespace(size=3),
        policy=nn.Identity(),
    )
    assert NoSteps(run).collect() is True
    assert run.clock.timesteps == 5 + timesteps * 3


# ---- learning ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("algo", "env", "settings", "updates"),
    [
        ("dqn", DISCRETE, {"learning_starts": 0}, 20),
        ("ddpg", BOX, {"nb_rollout_steps": 4, "nb_train_steps": 2}, 10),
        ("td3", BOX, {"learning_starts": 0, "train_freq": 4, "gradient_steps": 2}, 10),
        ("sac", BOX, {"learning_starts": 5}, 16),
    ],
)
@pytest.mark.parametrize("more", [(), ("prioritized-replay", "n-step")], ids=["replay", "stack"])
def test_off_policy_algorithms_learn_from_demonstrations_alone(
    recorded: dict[str, str],
    algo: str,
    env: str,
    settings: dict[str, Any],
    updates: int,
    more: tuple[str, ...],
) -> None:
    plugin = f"demonstrations:expert_path={recorded[env]}"
    with made(algo, env, plugin, *more, **settings) as agent:
        before = agent.run.parameters.flat.clone()
        agent.learn(20)
        assert agent.num_timesteps == 20 and agent.run.clock.updates == updates
        assert not agent.run.parameters.flat.equal(before)
        assert len(agent.run.storage) == 160, "nothing is collected"


def test_they_learn_from_the_replay_of_another_run_alone(tmp_path: Path) -> None:
    with made("sac", BOX, collector="steps", learning_starts=0) as first:
        path = first.learn(60).save_replay_buffer(tmp_path / "first")
    for plugins in ([], [f"replay-start:run={path}"]):
        with made("td3", BOX, *plugins, learning_starts=0, train_freq=1) as agent:
            if not plugins:
                agent.load_replay_buffer(path)
            before = agent.run.parameters.flat.clone()
            agent.learn(20)
            assert len(agent.run.storage) == 60
            assert not agent.run.parameters.flat.equal(before)


def test_the_environment_of_training_is_never_stepped(recorded: dict[str, str]) -> None:
    class Untouched(DiscreteMatch):
        def reset(self, **_: Any) -> Any:
            raise AssertionError("no-steps has reset the environment")

    plugin = f"demonstrations:expert_path={recorded[DISCRETE]}"
    with made("dqn", Untouched, plugin, learning_starts=0) as agent:
        agent.learn(5)
        assert agent.run.clock.updates == 5


def test_what_the_data_shows_is_learnt(recorded: dict[str, str]) -> None:
    plugin = f"demonstrations:expert_path={recorded[DISCRETE]}"
    with made("dqn", DISCRETE, plugin, learning_starts=0, learning_rate=1e-2) as agent:
        agent.learn(300)
        for right in range(3):
            action, _ = agent.predict(np.eye(3, dtype=np.float32)[right], deterministic=True)
            assert action == 1 + right


# ---- observations that a policy normalises -------------------------------------------------------


class Far(gym.Env[Any, Any]):
    """Observations of a scale of 100, in episodes of ten steps."""

    observation_space = gym.spaces.Box(0.0, 200.0, (2,), np.float32)
    action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self._left = 10
        return self._observation(), {}

    def step(self, action: Any) -> Any:
        self._left -= 1
        return self._observation(), float(action[0]), self._left == 0, False, {}

    def _observation(self) -> Any:
        return self.np_random.uniform(0.0, 200.0, 2).astype(np.float32)


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("far") / "far.npz"
    generate_expert_traj(lambda _: np.zeros(1, np.float32), path, Far(), n_episodes=12, seed=3)
    return path


def statistics_of(agent: rlk.Agent) -> ObservationStatistics:
    modules = agent.run.policy.modules()
    (found,) = [one for one in modules if isinstance(one, ObservationStatistics)]
    return found


@pytest.mark.parametrize(
    ("algo", "plugins", "settings"),
    [
        ("ddpg", [], {"normalize_observations": True, "nb_rollout_steps": 4}),
        ("sac", ["observation-statistics"], {"learning_starts": 0}),
        ("sac", ["normalize:norm_reward=false"], {"learning_starts": 0}),
    ],
)
def test_a_policy_normalises_by_the_observations_of_the_replay(
    far: Path, algo: str, plugins: list[str], settings: dict[str, Any]
) -> None:
    with made(algo, Far, f"demonstrations:expert_path={far}", *plugins, **settings) as agent:
        agent.learn(8)
        statistics, seen = statistics_of(agent), np.load(far)["obs"]
        assert statistics.observation.count == pytest.approx(len(seen), abs=0.01)
        np.testing.assert_allclose(statistics.mean, seen.mean(0), rtol=1e-4)
        np.testing.assert_allclose(statistics.std, seen.std(0), rtol=1e-3)


def test_statistics_that_a_policy_has_are_kept(far: Path) -> None:
    plugins = (f"demonstrations:expert_path={far}", "observation-statistics")
    with made("sac", Far, *plugins, learning_starts=0) as agent:
        statistics = statistics_of(agent)
        statistics.begin([np.full((3, 2), 7.0)])
        agent.learn(4)
        assert statistics.observation.count == pytest.approx(3, abs=0.01)


def test_a_storage_that_returns_no_observations_is_refused_where_they_are_normalised(
    far: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("rlk_replay.storage.Replay.observations")
    plugin = f"demonstrations:expert_path={far}"
    with made("sac", Far, plugin, learning_starts=0) as agent:
        agent.learn(4)
    with (
        made("sac", Far, plugin, "observation-statistics", learning_starts=0) as agent,
        pytest.raises(RlkError, match=r"'mlp' .* normalises .*'no-steps' .*'replay' .*--collector"),
    ):
        agent.learn(4)


# ---- what is refused -----------------------------------------------------------------------------


def test_a_storage_that_holds_nothing_is_refused_when_training_begins() -> None:
    with (
        made("dqn", DISCRETE, learning_starts=0) as agent,
        pytest.raises(RlkError, match=r"'no-steps' .*'replay' .* holds nothing .*demonstrations:"),
    ):
        agent.learn(5)


@pytest.mark.parametrize("algo", ["ppo2", "acer"])
def test_an_algorithm_that_learns_from_the_latest_collection_is_refused(algo: str) -> None:
    with pytest.raises(PlanError, match=rf"'no-steps' .*no environment, but algorithm '{algo}'"):
        rlk.make(algo, env=DISCRETE, collector="no-steps")


def test_updates_that_wait_for_episodes_are_refused(recorded: dict[str, str]) -> None:
    plugin = f"demonstrations:expert_path={recorded[BOX]}"
    with pytest.raises(PlanError, match=r"train_freq='1 episode' .* 'no-steps' .* Use --set"):
        made("sac", BOX, plugin, train_freq="1 episode")
