"""How a run acts outside of training: for one observation, or for a batch of any size.

Dimensions: B observations in a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rlk import spaces
from rlk.abilities import TellsProbabilities, offers
from rlk.errors import RlkError
from rlk.running.actors import check_act
from rlk.running.moved_parameters import adopt_if_moved
from rlk.running.observation_check import observation_check

if TYPE_CHECKING:
    from rlk.protocols import Actor
    from rlk.records import Array
    from rlk.running.run import Run


class Acting:
    """Acts with actors of its own, which draw from a stream of their own.

    Acting must not change what training draws.

    Args:
        run: the run.
        actor: what `predict` acts with; None is a new actor of the run.
        checked: whether observations that the policy would misread are refused.
    """

    def __init__(self, run: Run, actor: Actor | None = None, *, checked: bool = True) -> None:
        self.run, self._actor = run, actor
        self._check = observation_check(run) if checked else None

    def predict(
        self,
        observation: Any,
        state: Any = None,
        mask: Array | None = None,
        deterministic: bool = False,
    ) -> tuple[Any, Any]:
        """As `Agent.predict`."""
        adopt_if_moved(self.run)
        if self._actor is None:
            self._actor = self.run.make_actor(self.run.streams.numpy("predict"))
        inputs, was_batched = self._actor_input(self._actor, observation, state, mask)
        with self.run.modes.acting():
            act = self._actor.act(*inputs, deterministic)
        check_act(self._actor, act)
        return (act.env_action if was_batched else act.env_action[0]), act.carry

    def action_probability(
        self,
        observation: Any,
        state: Any = None,
        mask: Array | None = None,
        actions: Any = None,
        logp: bool = False,
    ) -> Any:
        """As `Agent.action_probability`."""
        # The algorithm's own actor: one that a plugin put in its place can only act.
        actor: Any = self.run.algorithm.actor(self.run.streams.numpy("predict"))
        if not offers(actor, TellsProbabilities):
            raise RlkError(
                f"{self.run.plan.algorithm.title} acts by a deterministic policy, whose actions "
                "have no probabilities. Ask for the action itself: agent.predict(observation)"
            )
        inputs, was_batched = self._actor_input(actor, observation, state, mask)
        if actions is None:
            with self.run.modes.acting():
                found = actor.probabilities(*inputs)
            if was_batched:
                return found
            return [part[0] for part in found] if isinstance(found, list) else found[0]
        size = spaces.batch_size(inputs[0])
        chosen = self._actions(actions, size)
        with self.run.modes.acting():
            log_prob = actor.log_prob(*inputs, chosen).reshape(size, 1)
        probability = log_prob if logp else np.exp(log_prob)
        return probability if was_batched else probability[0]

    def _actor_input(
        self, actor: Actor, observation: Any, state: Any, mask: Array | None
    ) -> tuple[tuple[Any, Any, Array], bool]:
        """Observation [B, ...], carry and episode starts for an actor; whether it was a batch."""
        batch, was_batched = spaces.batched(self.run.plan.observation_space, observation)
        if self._check is not None:
            self._check(batch)
        size = spaces.batch_size(batch)
        start = episode_starts(size, state, mask)
        carry = actor.start(size) if state is None else state
        return (batch, carry, start), was_batched

    def _actions(self, actions: Any, size: int) -> Array:
        """Actions [B, *shape] of the environment, for so many observations.

        Raises:
            ValueError: if their number or shape is wrong, or the space does not contain them.
        """
        space = self.run.action_space
        array, expected = np.asarray(actions), (size, *(space.shape or ()))
        if size == 1 and array.shape == expected[1:]:
            array = array[None]
        if array.shape != expected:
            raise ValueError(
                f"the actions for a batch of {size} have the shape {list(expected)}, got "
                f"{list(array.shape)}"
            )
        if spaces.kind(space) == "Box":
            return array
        whole = array.astype(space.dtype)
        for given, one in zip(array, whole, strict=True):
            if not (np.array_equal(given, one) and space.contains(one)):
                raise ValueError(f"{given} is not an action of {space}")
        return whole


def episode_starts(size: int, state: Any, mask: Any) -> Array:
    """Where an episode begins, bool [B], from the arguments of `Agent.predict`.

    Raises:
        ValueError: if `mask` has more or fewer values than there are observations.
    """
    if mask is None:
        return np.full(size, state is None)
    start = np.asarray(mask, dtype=bool)
    if start.size != size:
        raise ValueError(
            f"mask has one value for each observation: {size} in this call, got {start.size}"
        )
    return start.reshape(size)
