"""Several wrappers at once: equal on every backend, and a resumed run continues bit for bit."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rlk
from rlk_testing.environments import BoxMatch
from rlk_testing.stand_ins import stand_in_kernel

KERNEL = stand_in_kernel(discover=True)
PLUGINS = [
    "action-repeat:repeat=2",
    "time-feature:max_steps=8",
    "history:horizon=2",
    "frame-stack:n_stack=2",
    "reward-clip:max_reward=0.9",
    "check-nan:raise_exception=true",
]


def agent(**settings: Any) -> rlk.Agent:
    keywords = {"n_envs": 2, "n_steps": 6, "seed": 3, "n_threads": 1, "learning_rate": 1e-4}
    return rlk.make(
        "stand-in", kernel=KERNEL, env=BoxMatch, plugins=PLUGINS, **keywords, **settings
    )


def trained(made: rlk.Agent, timesteps: int) -> tuple[Any, Any]:
    """The parameters after so many more timesteps, and the latest observations."""
    with made:
        made.learn(timesteps, reset_num_timesteps=False)
        steps = [made.run.env.step(np.full((2, 2), 0.1, np.float32))[0].copy() for _ in range(9)]
        return made.run.parameters.flat.clone(), np.stack(steps)


def test_a_run_in_workers_is_that_in_this_process() -> None:
    one, two = (
        trained(agent(**settings), 24)
        for settings in ({"vec_env": "dummy"}, {"vec_env": "subprocess"})
    )
    assert one[0].equal(two[0]) and np.array_equal(one[1], two[1])


def test_a_resumed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    with agent(vec_env="dummy") as made:
        made.learn(30)
        path = made.save_checkpoint(tmp_path / "checkpoint")
        again = rlk.load(path, kernel=KERNEL, env=BoxMatch)
        assert again.differs == []
        one, two = trained(made, 24), trained(again, 24)
    assert one[0].equal(two[0]) and np.array_equal(one[1], two[1])
    # 5 features and a time, twice with two actions, and all of that twice.
    assert one[1].shape[-1] == (2 * (BoxMatch().observation_space.shape[0] + 1) + 2 * 2) * 2


def test_a_model_acts_as_in_them_where_the_environment_is_not_there(tmp_path: Path) -> None:
    plugins = ["frame-stack:n_stack=2", "normalize"]
    with rlk.make("ppo2", env=BoxMatch, plugins=plugins, n_steps=8, n_threads=1, seed=1) as made:
        made.learn(32)
        observation = made.run.env.reset(seed=1)[0]
        expected = made.predict(observation, deterministic=True)[0]
        path = made.save(tmp_path / "model")
    with rlk.load(path, to_act=True) as acting:
        assert acting.plan.env.why_spaces_alone
        assert np.array_equal(acting.predict(observation, deterministic=True)[0], expected)


def test_a_plan_says_how_they_nest_and_what_is_observed() -> None:
    with agent() as made:
        (line,) = (line for line in str(made.plan).splitlines() if line.startswith("env nests"))
        names = [name for name in re.split(r"[()\s]+", line.removeprefix("env nests")) if name]
        assert names[:6] == [plugin.partition(":")[0] for plugin in reversed(PLUGINS)]
        assert made.plan.observation_space.shape == made.run.env.single_observation_space.shape


def test_a_vector_that_was_passed_can_be_wrapped_but_for_action_repeat() -> None:
    from gymnasium.vector import AutoresetMode, SyncVectorEnv

    def vector() -> Any:
        return SyncVectorEnv([BoxMatch] * 2, autoreset_mode=AutoresetMode.SAME_STEP)

    keywords = {"kernel": KERNEL, "n_steps": 6, "learning_rate": 1e-4, "n_threads": 1}
    with rlk.make("stand-in", env=vector(), plugins=PLUGINS[1:], **keywords) as made:
        made.learn(24)
    with pytest.raises(rlk.errors.PlanError, match=r"action-repeat.*was passed as a vector"):
        rlk.make("stand-in", env=vector(), plugins=PLUGINS, **keywords)


def test_normalize_goes_around_what_changes_observations() -> None:
    keywords = {"kernel": KERNEL, "env": BoxMatch, "n_steps": 6, "learning_rate": 1e-4}
    with rlk.make("stand-in", plugins=["history", "normalize"], n_threads=1, **keywords) as made:
        made.learn(24)
    for outer in ("frame-stack", "time-feature"):
        with pytest.raises(rlk.errors.PlanError, match=f"normalize after --plugin {outer}"):
            rlk.make("stand-in", plugins=["normalize", outer], **keywords)
