"""Hindsight, n-step returns and priorities in any combination, with every off-policy algorithm.

While it learns, every batch that the storage gives is checked against a twin that keeps whole
episodes in lists. Algorithms that are not installed are skipped; the stand-in serves for Box
actions in any case.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from matrix.worlds import GOAL_KEYS, Strained

import rlk
from rlk.agent import Agent
from rlk.errors import PlanError
from rlk.records import Batch, Step
from rlk_testing.contracts.storage.brute_force_replay import BruteForceReplay
from rlk_testing.environments import DiscreteMatch
from rlk_testing.stand_ins import stand_in_kernel
from rlk_testing.tools.states import same
from rlk_toy_environments.bit_flipping import BitFlippingEnv

KERNEL = stand_in_kernel(discover=True)
N_BITS, GAMMA, N_STEPS, STEPS = 4, 0.9, 3, 90
#: Rows of the ring buffer: fewer than steps, so that it wraps around.
ROWS = 25
PLUGINS = ("prioritized-replay", "hindsight-replay", f"n-step:n_steps={N_STEPS}")
COMBINATIONS = [
    combination
    for count in range(len(PLUGINS) + 1)
    for combination in itertools.combinations(PLUGINS, count)
]
#: Algorithm -> settings with which it learns early.
ALGORITHMS: dict[str, dict[str, Any]] = {
    "dqn": {"gamma": GAMMA, "learning_starts": 20, "batch_size": 16},
    "sac": {"gamma": GAMMA, "learning_starts": 20, "batch_size": 16, "env.continuous": True},
    "td3": {
        "gamma": GAMMA,
        "learning_starts": 20,
        "batch_size": 16,
        "train_freq": 1,
        "gradient_steps": 1,
        "env.continuous": True,
    },
    "ddpg": {
        "gamma": GAMMA,
        "learning_starts": 20,
        "batch_size": 16,
        "nb_rollout_steps": 1,
        "nb_train_steps": 1,
        "env.continuous": True,
    },
    "stand-in": {"storage": "replay", "gamma": GAMMA, "batch_size": 24, "env.continuous": True},
}


@contextmanager
def agent(algo: str, plugins: tuple[str, ...], n_envs: int, **overrides: Any) -> Iterator[Agent]:
    """An agent on bit flipping, on one thread."""
    if algo not in KERNEL.registries.algorithms:
        pytest.skip(f"the algorithm {algo} is not installed")
    bits = {"env": "rlk/BitFlipping-v0", "env.n_bits": N_BITS, "env.random_goal": True}
    settings = {
        **({} if "env" in overrides else bits),
        "policy": "multi-input",
        "policy.layers": [16],
        "replay.buffer_size": ROWS * n_envs,
        "seed": 3,
    }
    made = rlk.make(
        algo,
        kernel=KERNEL,
        plugins=list(plugins),
        n_envs=n_envs,
        **{**settings, **ALGORITHMS[algo], **overrides},
    )
    with made:
        yield made


def attached(run: Any, twin: BruteForceReplay) -> list[Any]:
    """Report every step of a run to its storage's twin, which checks every sampled batch.

    Returns:
        A list to which the result of `BruteForceReplay.check` is appended for every batch.
    """
    add, sample = run.add, run.storage.sample
    checked: list[Any] = []

    def adds(step: Step) -> None:
        twin.add(step)
        add(step)

    def samples(batch_size: int) -> Batch:
        batch: Batch = sample(batch_size)
        checked.append(twin.check(batch))
        return batch

    run.add, run.storage.sample = adds, samples
    return checked


def twin_for(made: Agent, plugins: tuple[str, ...], strategy: str = "future") -> BruteForceReplay:
    """The reference for its storage."""
    world = BitFlippingEnv(N_BITS)
    return BruteForceReplay(
        made.plan.n_envs,
        ROWS,
        float(np.float32(GAMMA)),
        n_steps=N_STEPS if PLUGINS[2] in plugins else 1,
        strategy=strategy if PLUGINS[1] in plugins else None,
        compute_reward=world.compute_reward,
        compute_terminated=world.compute_terminated,
    )


#: Storages see no more of an algorithm than its actions: all combinations are tried with discrete
#: ones (`dqn`) and continuous ones (`stand-in`), the other algorithms with all storages at once.
TRIED = [
    (algo, plugins)
    for algo in ALGORITHMS
    for plugins in (COMBINATIONS if algo in ("dqn", "stand-in") else (PLUGINS,))
]
#: Nor do they see of the number of environments what they see of actions.
WITH_N_ENVS = [
    *[(algo, plugins, 1 if algo == "stand-in" else 4) for algo, plugins in TRIED],
    *[("dqn", PLUGINS, 1), ("stand-in", PLUGINS, 4)],
]


def named(one: Any) -> str:
    """The part of a test's name that stands for a parameter."""
    return "+".join(one) if isinstance(one, tuple) else str(one)


@pytest.mark.parametrize(("algo", "plugins", "n_envs"), WITH_N_ENVS, ids=named)
def test_every_batch_is_the_twins(algo: str, plugins: tuple[str, ...], n_envs: int) -> None:
    with agent(algo, plugins, n_envs) as made:
        checked = attached(made.run, twin_for(made, plugins))
        before = made.run.parameters.flat.clone()
        made.learn(STEPS * n_envs)
        assert not made.run.parameters.flat.equal(before)
    rows = [row for batch in checked for row in batch]
    variants = {variant for _, variant, _ in rows}
    assert len(rows) > 500
    assert len({place for place, _, _ in rows}) > 60 * n_envs
    assert variants == (set(range(5)) if PLUGINS[1] in plugins else {0})


@pytest.mark.parametrize("strategy", ["final", "episode", "random"])
@pytest.mark.parametrize("n_envs", [1, 4])
@pytest.mark.parametrize("prioritized", [False, True])
def test_so_it_is_with_every_strategy(strategy: str, n_envs: int, prioritized: bool) -> None:
    plugins = PLUGINS if prioritized else PLUGINS[1:]
    settings = {"hindsight-replay.goal_selection_strategy": strategy}
    with agent("stand-in", plugins, n_envs, **settings) as made:
        checked = attached(made.run, twin_for(made, plugins, strategy))
        made.learn(STEPS * n_envs)
    assert sum(source is not None for batch in checked for _, _, source in batch) > 200


def test_so_it_is_in_mapped_files(tmp_path: Path) -> None:
    mapped = {"replay.mapped": str(tmp_path / "maps")}
    with agent("dqn", PLUGINS, 4, **mapped) as made:
        checked = attached(made.run, twin_for(made, PLUGINS))
        made.learn(STEPS * 4)
        assert (tmp_path / "maps").is_dir()
    assert sum(map(len, checked)) > 500


@pytest.mark.parametrize(("n_envs", "mapped"), [(1, False), (4, True)])
@pytest.mark.parametrize("plugins", [(), (PLUGINS[0], PLUGINS[2])], ids="+".join)
def test_so_it_is_with_frames_that_are_kept_once(
    plugins: tuple[str, ...], n_envs: int, mapped: bool, tmp_path: Path
) -> None:
    stacks: dict[str, Any] = {"env": stacked, "policy": "mlp"}
    stacks |= {"replay.mapped": str(tmp_path)} if mapped else {}
    with agent("dqn", plugins, n_envs, **stacks) as made:
        checked = attached(made.run, twin_for(made, plugins))
        made.learn(STEPS * n_envs)
        state = made.run.storage.state_dict()
        assert state["layout"]["frame_stack"] == 16 and state["frames"]
    assert sum(map(len, checked)) > 500


def stacked() -> gym.Env[Any, Any]:
    """An environment whose observations are stacks, large enough to be kept as frames."""
    return gym.wrappers.FrameStackObservation(DiscreteMatch(length=5), 16)


@pytest.mark.parametrize(
    ("algo", "plugins"), [one for one in TRIED if one[0] in ("dqn", "sac")], ids=named
)
def test_a_restored_run_continues_bit_for_bit(
    algo: str, plugins: tuple[str, ...], tmp_path: Path
) -> None:
    with agent(algo, plugins, 2) as made:
        made.learn(60)
        path = made.save_checkpoint(tmp_path / "checkpoint")
        with rlk.load(path, kernel=KERNEL) as restored:
            assert restored.differs == []
            for one in (made, restored):
                one.learn(60, reset_num_timesteps=False)
            assert restored.run.parameters.flat.equal(made.run.parameters.flat)
            assert same(restored.run.storage.state_dict(), made.run.storage.state_dict())


@pytest.fixture(scope="module")
def twin_and_batch() -> tuple[BruteForceReplay, Any]:
    """A reference that has seen a training, and a batch of its storage."""
    with agent("dqn", PLUGINS, 2) as made:
        twin = twin_for(made, PLUGINS)
        attached(made.run, twin)
        made.learn(100)
        return twin, made.run.storage.sample(4)


@pytest.mark.parametrize(
    ("field", "key"),
    [
        *itertools.product(["observation", "next_observation"], GOAL_KEYS),
        *[(field, "") for field in ("action", "reward", "discount")],
    ],
)
def test_the_twin_notices_what_is_wrong(twin_and_batch: Any, field: str, key: str) -> None:
    twin, batch = twin_and_batch
    value = getattr(batch, field)
    wrong = {**value, key: value[key] ^ 1} if isinstance(value, dict) else value + 1
    with pytest.raises(AssertionError, match="row 0"):
        twin.check(dataclasses.replace(batch, **{field: wrong}))
    twin.check(batch)


@pytest.mark.parametrize(("n_steps", "vec_env"), [(1, "subprocess"), (3, "dummy")])
def test_infos_that_rewards_depend_on_are_those_of_the_step(n_steps: int, vec_env: str) -> None:
    plugins = ("hindsight-replay:info_keys=['strain']", f"n-step:n_steps={n_steps}")
    with agent("dqn", plugins, 3, vec_env=vec_env, env=Strained) as made:
        twin = BruteForceReplay(
            3,
            ROWS,
            float(np.float32(GAMMA)),
            n_steps=n_steps,
            strategy="future",
            # The strain is what the step led to, whatever the goal.
            compute_reward=lambda achieved, desired, info: (
                -abs(float(achieved[0] - desired[0])) - abs(float(achieved[0]))
            ),
        )
        checked = attached(made.run, twin)
        made.learn(200)
    assert sum(source is not None for batch in checked for _, _, source in batch) > 300


def test_one_seed_gives_one_run_with_everything_on() -> None:
    found = []
    for seed in (1, 1, 2):
        with agent("dqn", PLUGINS, 4, seed=seed) as made:
            found.append(made.learn(200).run.parameters.flat.clone())
    assert found[0].equal(found[1]) and not found[0].equal(found[2])


def test_a_collection_that_was_cut_short_leaves_every_batch_right() -> None:
    class Stops:
        @rlk.hookimpl
        def rlk_step(self, run: Any, step: Any) -> bool:
            return run.timesteps % 52 != 0

    with agent("dqn", (*PLUGINS, Stops()), 4, train_freq=4) as made:  # type: ignore[arg-type]
        attached(made.run, twin_for(made, PLUGINS))
        for _ in range(8):
            made.learn(100, reset_num_timesteps=False)
        assert made.num_timesteps >= 8 * 52
        assert made.run.clock.updates > 15


def test_the_plan_says_how_they_nest() -> None:
    with agent("dqn", tuple(reversed(PLUGINS)), 1) as made:
        names = [choice.name for choice in made.plan.storages]
    assert names == ["replay", "prioritized-replay", "n-step", "hindsight-replay"]


def test_hindsight_for_observations_without_goals_is_refused_while_planning() -> None:
    with pytest.raises(PlanError, match=r"(?s)hindsight-replay.* are Dict, .*no:hindsight-replay"):
        rlk.make("dqn", env="CartPole-v1", plugins=["hindsight-replay"], kernel=KERNEL)
