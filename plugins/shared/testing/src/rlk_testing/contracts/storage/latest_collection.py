"""The part of a storage's contract that is about handing out the latest collection."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from rlk.errors import RlkError
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.storage.suite import StorageSuite
from rlk_testing.contracts.storage.trajectory import ACTIONS, SPACES, Trajectory, at, equal, numbers


@applies(lambda suite: suite.record().collects in ("on-policy", "both"))
class LatestCollectionChecks(StorageSuite):
    """Checks for storages that have `latest()`."""

    def test_a_rollout_is_exactly_what_was_added(self) -> None:
        for name, space in SPACES.items():
            for action in ACTIONS.values():
                trajectory = Trajectory(space, action)
                try:
                    storage = self.opened(trajectory)
                except RlkError:
                    assert name != "float32", (
                        "it must take observations that are a vector of float32"
                    )
                    continue
                for step in trajectory.steps(self.n_steps):
                    storage.add(step)
                check_rollout(storage.latest(), trajectory, self.n_steps)

    def test_the_next_collection_takes_the_place_of_the_last(self) -> None:
        storage, trajectory = self.filled(self.n_steps)
        for _ in range(3):
            for step in trajectory.steps(self.n_steps):
                storage.add(step)
            check_rollout(storage.latest(), trajectory, self.n_steps)

    def test_every_end_of_an_episode_comes_with_what_it_ended_on(self) -> None:
        for ends in (0.0, 0.9):
            storage, trajectory = self.filled(self.n_steps, ends=ends, n_envs=3)
            rollout = storage.latest()
            check_rollout(rollout, trajectory, self.n_steps)
            assert (len(rollout.final_time) > 0) == (ends > 0)

    def test_a_rollout_counts_its_transitions_once_it_is_complete(self) -> None:
        storage, trajectory = self.filled(self.n_steps - 1)
        assert len(storage) == 0, "an unfinished collection cannot be learnt from"
        for step in trajectory.steps(1):
            storage.add(step)
        assert len(storage) == self.n_steps * trajectory.n_envs

    def test_rewards_and_flags_have_the_types_of_the_record(self) -> None:
        storage, _ = self.filled(self.n_steps)
        rollout = storage.latest()
        assert rollout.reward.dtype == np.float32
        assert rollout.terminated.dtype == rollout.truncated.dtype == np.bool_

    def test_a_rollout_comes_back_from_its_state(self) -> None:
        storage, trajectory = self.filled(self.n_steps)
        twin, _ = self.filled(0)
        twin.load_state_dict(copy.deepcopy(storage.state_dict()))
        check_rollout(twin.latest(), trajectory, self.n_steps)


def check_rollout(rollout: Any, trajectory: Trajectory, n_steps: int) -> None:
    """Raises AssertionError unless a rollout holds the last steps of the trajectory."""
    n_envs = trajectory.n_envs
    assert rollout.reward.shape == (n_steps, n_envs)
    first = len(trajectory.seen) - n_steps * n_envs
    expected = np.arange(first, first + n_steps * n_envs).reshape(n_steps, n_envs)
    assert np.array_equal(numbers(rollout.reward), expected), (
        "rewards are not those of the last steps, in order"
    )
    ends = {
        (int(t), int(n)): i
        for i, (t, n) in enumerate(zip(rollout.final_time, rollout.final_env, strict=True))
    }
    for t in range(n_steps):
        for n in range(n_envs):
            seen, where = trajectory.seen[expected[t, n]], f"of step {t}, environment {n}"
            assert equal(at(at_time(rollout.observation, t), n), seen.observation), (
                f"observation {where}"
            )
            assert equal(rollout.action[t, n], seen.action), f"action {where}"
            assert bool(rollout.terminated[t, n]) == seen.terminated, f"terminated {where}"
            assert bool(rollout.truncated[t, n]) == seen.truncated, f"truncated {where}"
            assert float(rollout.extras["log_prob"][t, n]) == seen.log_prob, f"extras {where}"
            assert ((t, n) in ends) == (seen.terminated or seen.truncated), (
                f"the end of an episode {where}"
            )
            if (t, n) in ends:
                final = at(rollout.final_observation, ends[t, n])
                assert equal(final, seen.next_observation), f"final observation {where}"
            if t == n_steps - 1 and (t, n) not in ends:
                assert equal(at(rollout.next_observation, n), seen.next_observation), (
                    f"next observation {where}"
                )


def at_time(observation: Any, t: int) -> Any:
    """The observations [N, ...] at time t, from [T, N, ...]."""
    if isinstance(observation, dict):
        return {key: value[t] for key, value in observation.items()}
    return observation[t]
