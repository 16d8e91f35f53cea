"""A plain loop over environments, and the comparison of a vector environment with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

from rlk.planning.environment import EnvChoice, MakeEnv
from rlk_testing.contracts.storage.trajectory import at
from rlk_testing.environments import Walk

Info = dict[str, Any]


def maker(environment: type[gym.Env[Any, Any]], **keywords: Any) -> MakeEnv:
    """A function that makes an environment; like those of a run, it can be sent to a worker."""
    return MakeEnv(EnvChoice(environment.__name__, keywords, environment))


def makers(n_envs: int, **keywords: Any) -> list[MakeEnv]:
    """Functions that each make a `Walk`."""
    return [maker(Walk, **keywords)] * n_envs


class Stepped(NamedTuple):
    """The results of one step of all environments; lists have one entry per environment."""

    observations: list[Any]
    rewards: list[float]
    terminated: list[bool]
    truncated: list[bool]
    finals: dict[int, Any]  #: final observations of episodes that ended, by environment
    infos: list[Info]  #: of the step or, if an episode ended, of the reset after it
    final_infos: dict[int, Info]  #: of the last steps of episodes, by environment


class Loop:
    """Environments stepped one by one.

    Attributes:
        terminated, truncated: how many episodes have ended that way.
        latest: the latest observation of every environment.
    """

    def __init__(self, make: Sequence[Any]) -> None:
        self.envs: list[gym.Env[Any, Any]] = [one() for one in make]
        self.terminated = self.truncated = 0
        self.latest: list[Any] = []

    def reset(self, seeds: Sequence[int], options: Info | None = None) -> list[Any]:
        pairs = zip(self.envs, seeds, strict=True)
        self.latest = [env.reset(seed=seed, options=options)[0] for env, seed in pairs]
        return self.latest

    def reset_some(self, mask: Any, options: Info | None = None) -> list[Any]:
        """Reset the environments where the mask, bool [N], is True; returns `latest`."""
        for i in np.flatnonzero(mask):
            self.latest[i] = self.envs[i].reset(options=options)[0]
        return self.latest

    def actions(self, t: int) -> Any:
        """Actions that differ from step to step and between environments."""
        n = len(self.envs)
        if isinstance(self.envs[0].action_space, gym.spaces.Discrete):
            return (np.arange(n) + t) % 3
        return np.sin(np.arange(2 * n, dtype=np.float32) + t).reshape(n, 2).astype(np.float32)

    def step(self, actions: Any) -> Stepped:
        result = Stepped([], [], [], [], {}, [], {})
        for i, env in enumerate(self.envs):
            observation, reward, over, cut, info = env.step(actions[i])
            self.terminated += bool(over)
            self.truncated += bool(cut)
            if over or cut:
                result.finals[i], result.final_infos[i] = observation, info
                observation, info = env.reset()
            result.observations.append(observation)
            result.rewards.append(float(reward))
            result.terminated.append(bool(over))
            result.truncated.append(bool(cut))
            result.infos.append(info)
        self.latest = result.observations
        return result


def check_step(found: Any, expected: Stepped, when: str, *, has_infos: bool) -> None:
    """Raises AssertionError unless a vector environment's step equals that of the loop.

    Args:
        found: observation, reward, terminated, truncated, infos.
        when: for error messages.
        has_infos: whether `infos` also holds what the environments say, besides final infos.
    """
    observation, reward, terminated, truncated, infos = found
    check(observation, expected.observations, f"the observation {when}")
    rewards = np.asarray(expected.rewards, reward.dtype)
    assert np.array_equal(reward, rewards), f"the reward {when} is {reward}, must be {rewards}"
    assert list(terminated) == expected.terminated, f"terminated {when}"
    assert list(truncated) == expected.truncated, f"truncated {when}"
    n = len(expected.rewards)
    is_final = infos.get("_final_obs", np.zeros(n, bool))
    assert {int(i) for i in np.flatnonzero(is_final)} == set(expected.finals), (
        f"final observations {when}: of {np.flatnonzero(is_final)}, must be {set(expected.finals)}"
    )
    for i, final in expected.finals.items():
        check(infos["final_obs"][i], final, f"final_obs[{i}] {when}")
    finals = [expected.final_infos.get(i, {}) for i in range(n)]
    check_infos(infos.get("final_info", {}), finals, f"final_info {when}")
    if has_infos:
        check_infos(infos, expected.infos, f"infos {when}")


def arrays_of(result: Any) -> dict[str, Any]:
    """Observation, reward, terminated and truncated of a step, by name."""
    names = ("observation", "reward", "terminated", "truncated")
    return dict(zip(names, result[:4], strict=True))


def check_same_step(found: Any, expected: Any, when: str) -> None:
    """Raises AssertionError unless two vector environments have returned the same from a step.

    Args:
        found, expected: observation, reward, terminated, truncated, infos, of which only the final
            observations are compared.
        when: for error messages.
    """
    for name, part in arrays_of(expected).items():
        check(arrays_of(found)[name], part, f"{name} {when}")
    nobody = np.zeros(len(expected[1]), bool)
    is_final, wanted = (one[4].get("_final_obs", nobody) for one in (found, expected))
    assert np.array_equal(is_final, wanted), (
        f"final observations {when}: of {np.flatnonzero(is_final)}, must be of "
        f"{np.flatnonzero(wanted)}"
    )
    for i in np.flatnonzero(wanted):
        check(found[4]["final_obs"][i], expected[4]["final_obs"][i], f"final_obs[{i}] {when}")


def check_infos(found: Info, expected: Sequence[Info], what: str) -> None:
    """Raises AssertionError unless batched infos hold what each environment said."""
    own = ("final_obs", "final_info", "kept")
    keys = [key for key in found if not key.startswith("_") and key not in own]
    for i, info in enumerate(expected):
        said = {key for key in keys if found[f"_{key}"][i]}
        assert said == set(info), f"{what} have {said} of environment {i}, must have {set(info)}"
        for key, value in info.items():
            assert np.array_equal(found[key][i], value), (
                f"{what}[{key!r}][{i}] is {found[key][i]!r}, must be {value!r}"
            )


def check(batch: Any, expected: Any, what: str) -> None:
    """Raises AssertionError unless a batch, or one observation, equals what is expected."""
    if isinstance(expected, list):
        for i, one in enumerate(expected):
            check(at(batch, i), one, f"{what} (environment {i})")
    elif isinstance(expected, dict):
        assert batch.keys() == expected.keys(), f"{what} has the keys {list(batch)}"
        for key, part in expected.items():
            check(batch[key], part, f"{what} [{key!r}]")
    else:
        assert np.array_equal(batch, expected), f"{what} is {batch!r}, must be {expected!r}"
        found, wanted = np.asarray(batch).dtype, np.asarray(expected).dtype
        assert found == wanted, f"{what} is {found}, must be {wanted}"


def shares(one: Any, other: Any) -> bool:
    """Whether two observations share memory."""
    if isinstance(one, dict):
        return any(shares(one[key], other[key]) for key in one)
    return bool(np.shares_memory(one, other))
