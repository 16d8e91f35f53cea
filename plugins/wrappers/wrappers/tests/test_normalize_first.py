"""The very first collection with `normalize` only gives statistics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import rlk
from rlk.hookspecs import hookimpl

STEPS, N_ENVS = 32, 4
EACH = STEPS * N_ENVS


class Looks:
    """Notes after every collection: timesteps, and what the policy makes of its observations."""

    def __init__(self) -> None:
        self.timesteps: list[int] = []
        self.inputs: list[torch.Tensor] = []

    @hookimpl
    def rlk_rollout_end(self, run: Any) -> None:
        self.timesteps.append(run.timesteps)
        seen = torch.as_tensor(run.storage.latest().observation).reshape(EACH, -1)
        self.inputs.append(run.policy.preprocess(seen).clone())


def agent_of(*plugins: Any, **settings: Any) -> Any:
    keywords = {"env": "Pendulum-v1", "n_envs": N_ENVS, "n_steps": STEPS, "seed": 1, **settings}
    return rlk.make("ppo2", plugins=list(plugins), **keywords)


def test_what_is_learnt_from_first_is_normalised_by_a_collection_before_it() -> None:
    looks = Looks()
    with agent_of("normalize", looks) as agent:
        agent.learn(3 * EACH)
    assert looks.timesteps == [2 * EACH, 3 * EACH]
    first = looks.inputs[0]
    assert first.mean(0).abs().max() < 0.5 and (first.std(0) - 1).abs().max() < 0.5


class Compares:
    """Notes after every collection whether the parameters are those of the start."""

    def __init__(self) -> None:
        self.found: list[bool] = []

    @hookimpl
    def rlk_training_start(self, run: Any) -> None:
        self.start = run.parameters.flat.clone()

    @hookimpl
    def rlk_rollout_end(self, run: Any) -> None:
        self.found.append(torch.equal(run.parameters.flat, self.start))


def test_the_policy_has_not_learnt_before() -> None:
    compares = Compares()
    with agent_of("normalize", compares) as agent:
        agent.learn(3 * EACH)
    assert compares.found == [True, False]


def test_there_is_one_such_collection_in_the_life_of_a_model(tmp_path: Path) -> None:
    looks = Looks()
    with agent_of("normalize") as agent:
        agent.learn(2 * EACH)
        path = agent.save_checkpoint(tmp_path / "here")
        agent.learn(EACH, reset_num_timesteps=False)
        expected = agent.run.parameters.flat.clone()
    with rlk.load(path, plugins=[looks]) as again:
        again.learn(EACH, reset_num_timesteps=False)
        assert looks.timesteps == [3 * EACH]
        assert torch.equal(again.run.parameters.flat, expected)


@pytest.mark.parametrize("settings", [{"training": False}, {"norm_obs": False}])
def test_where_there_are_no_statistics_to_wait_for_the_first_is_learnt_from(
    settings: dict[str, Any],
) -> None:
    looks = Looks()
    with agent_of("normalize", looks, normalize=settings) as agent:
        agent.learn(EACH)
    assert looks.timesteps == [EACH]


def test_off_policy_there_is_none() -> None:
    with rlk.make("dqn", env="CartPole-v1", plugins=["normalize"], learning_starts=2) as agent:
        agent.learn(5)
        assert agent.run.clock.iterations == 5


def test_a_listener_may_stop_it() -> None:
    class Stops:
        @hookimpl
        def rlk_step(self, run: Any) -> bool:
            return run.timesteps < EACH // 2

    with agent_of("normalize", Stops()) as agent:
        agent.learn(3 * EACH)
        assert agent.run.timesteps == EACH // 2
