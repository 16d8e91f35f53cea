"""Checks that an exported program acts as its agent does.

Dimensions: B observations, D numbers of an action, S numbers of state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np

from rlk.abilities import TellsProbabilities, offers
from rlk.errors import RlkError
from rlk.records import Array
from rlk_export.sampling import observations

if TYPE_CHECKING:
    from rlk.running.acting import Acting

#: From the arguments of the module, as arrays, to its outputs by name.
Runs = Callable[[tuple[Any, ...]], Mapping[str, Array]]
#: Sizes of the batches that are compared, one of which was traced.
BATCHES = (1, 2, 13)
#: Steps for which a recurrent policy is compared.
STEPS = 3
#: Tolerances: of a number, and of the width of a Box; float32 is summed in another order.
RELATIVE, OF_WIDTH = 1e-4, 1e-5
#: Actions are equally likely if their log-probabilities differ by less; float32 is not exact.
TIE = 1e-3


def check(acting: Acting, runs: Runs, state_size: int | None) -> None:
    """Compare the actions for sampled observations, and states, with `Agent.predict`.

    Args:
        acting: how the exported run acts.
        runs: the program, read back from its file.
        state_size: S of a recurrent policy; None for any other.

    Raises:
        RlkError: if they differ; the message says where and by how much.
    """
    rng = np.random.default_rng(0)
    for size in BATCHES:
        if state_size is None:
            observation = observations(acting.run.plan.observation_space, size, rng)
            action, _ = acting.predict(observation, deterministic=True)
            _check_action(acting, runs((observation,))["action"], action, observation)
        else:
            _check_steps(acting, runs, size, state_size, rng)


def _check_steps(
    acting: Acting, runs: Runs, size: int, state_size: int, rng: np.random.Generator
) -> None:
    """Some steps of a recurrent policy; every second environment starts an episode at each."""
    state, carry = np.zeros((size, state_size), np.float32), None
    for step in range(STEPS):
        observation = observations(acting.run.plan.observation_space, size, rng)
        start = (np.arange(size) + step) % 2 == 0 if step else np.ones(size, bool)
        asked = {"state": carry, "mask": start}
        action, after = acting.predict(observation, **asked, deterministic=True)
        found = runs((observation, state, start))
        _check_action(acting, found["action"], action, observation, asked)
        state, carry = found["next_state"], after
        expected = _state_of(after)
        if not np.allclose(state, expected, rtol=RELATIVE, atol=OF_WIDTH):
            raise RlkError(_differs("states", state, expected))


def _state_of(carry: Any) -> Array:
    """The recurrent state in a result of `predict`, which may also contain noise."""
    return carry["carry"] if isinstance(carry, Mapping) else carry


def _check_action(
    acting: Acting, found: Array, expected: Array, observation: Any, asked: Any = None
) -> None:
    if found.dtype != expected.dtype or found.shape != expected.shape:
        raise RlkError(
            f"its actions are {found.dtype} {list(found.shape)}, and the agent's "
            f"{expected.dtype} {list(expected.shape)}"
        )
    if not np.isfinite(expected).all():
        raise RlkError(
            "the agent's own actions are not finite for observations sampled from its space"
        )
    space = acting.run.plan.action_space
    if isinstance(space, gym.spaces.Box):
        if not np.allclose(found, expected, rtol=RELATIVE, atol=tolerance(space)):
            raise RlkError(_differs("actions", found, expected))
        return
    rows = np.flatnonzero((found != expected).reshape(len(found), -1).any(1))
    if len(rows) and not _are_ties(acting, found, expected, observation, asked or {}):
        raise RlkError(_differs("actions", found, expected))


def tolerance(space: gym.spaces.Box) -> Array:
    """By how much numbers of a Box may differ, whatever their size, [*shape]."""
    width = space.high.astype(np.float64) - space.low.astype(np.float64)
    return OF_WIDTH * np.where(np.isfinite(width), width, 1.0)


def _are_ties(acting: Acting, found: Array, expected: Array, observation: Any, asked: Any) -> bool:
    """Whether each action is as likely as the agent's action, within the accuracy of float32."""
    stream = acting.run.streams.numpy("predict")
    if not offers(acting.run.algorithm.actor(stream), TellsProbabilities):
        return False
    one, other = (
        acting.action_probability(observation, **asked, actions=actions, logp=True)
        for actions in (found, expected)
    )
    return bool(np.allclose(one, other, rtol=0.0, atol=TIE))


def _differs(what: str, found: Array, expected: Array) -> str:
    differ = np.asarray(found != expected).reshape(len(found), -1).any(1)
    apart = np.abs(found.astype(np.float64) - expected.astype(np.float64)).max()
    return (
        f"{int(differ.sum())} of {len(found)} {what} differ from the agent's, by up to {apart:.3g}"
    )
