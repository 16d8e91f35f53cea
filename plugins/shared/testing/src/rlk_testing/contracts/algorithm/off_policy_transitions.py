"""The part of the contract of off-policy algorithms that is about batches of transitions."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rlk.abilities import load_state, state_of
from rlk.saving.named_parameters import named_parameters
from rlk.spaces import map_observation
from rlk_testing.contracts.algorithm.off_policy_suite import OffPolicySuite
from rlk_testing.contracts.shared.applies import applies

if TYPE_CHECKING:
    from rlk.agent import Agent


@applies(lambda suite: suite.transitions)
class TransitionChecks(OffPolicySuite):
    """Checks that `OffPolicyContract` inherits: they change fields of the first batch."""

    def td_error(
        self, change: Callable[[Any], dict[str, Any]], target_moved_by: float = 0.0
    ) -> Any:
        """The td_error of the first update, float [B].

        Args:
            change: from the batch to other values for some of its fields.
            target_moved_by: added to every parameter of the target networks, or of the critic where
                there are none.
        """
        with self.agent_and_batch() as (agent, batch):
            if target_moved_by:
                self.move_target(agent, target_moved_by)
            other = dataclasses.replace(batch, **change(batch))
            found = agent.run.algorithm.update(other, agent.run.optimise).td_error
            assert found is not None, "it reports no td_error"
            return found

    def move_target(self, agent: Agent, by: float) -> None:
        """Add a number to every parameter that gives the value of the next observation."""
        if self.target is None:
            agent.run.optimise.groups[self.critic].flat.add_(by)
            return
        algorithm = agent.run.algorithm
        state = copy.deepcopy(state_of(algorithm))
        for value in named_parameters({}, {"target": state[self.target]}).values():
            value.add_(by)
        load_state(algorithm, state)

    def test_where_the_discount_is_zero_the_next_observation_counts_for_nothing(self) -> None:
        told = self.td_error(lambda batch: {"discount": batch.discount * 0.0})
        found = self.td_error(
            lambda batch: {
                "discount": batch.discount * 0.0,
                "next_observation": map_observation(reversed_rows, batch.next_observation),
            }
        )
        assert found.allclose(told, atol=1e-5), (
            "a terminated transition bootstraps: multiply the next value by batch.discount, which "
            "is gamma, 0 where the episode terminated, or a power of gamma"
        )

    def test_the_value_of_the_next_observation_counts_by_the_batchs_discount(self) -> None:
        def lasting(discount: float) -> Callable[[Any], dict[str, Any]]:
            return lambda batch: {"discount": batch.discount * 0.0 + discount}

        def reversed_batch(batch: Any) -> dict[str, Any]:
            following = map_observation(reversed_rows, batch.next_observation)
            return {**lasting(0.9)(batch), "next_observation": following}

        told = self.td_error(lasting(0.9), 1.0)
        assert not told.allclose(self.td_error(lasting(0.45), 1.0), atol=1e-3), (
            "td_error is the same for discounts of 0.9 and 0.45: multiply the next value by "
            "batch.discount, which n-step replay makes a power of gamma, not by config.gamma; if "
            "it learns from sequences, set transitions = False"
        )
        assert not self.td_error(lasting(0.9)).equal(self.td_error(reversed_batch)), (
            "td_error is the same for other next observations: the next value is that of "
            "batch.next_observation"
        )

    @applies(lambda suite: suite.target is not None)
    def test_the_next_value_is_that_of_the_target_network(self) -> None:
        def lasting(batch: Any) -> dict[str, Any]:
            return {"discount": batch.discount * 0.0 + 0.9}

        assert not self.td_error(lasting).allclose(self.td_error(lasting, 1.0), atol=1e-3), (
            f"td_error is the same whatever the target networks (state_dict()[{self.target!r}]) "
            "are: take the next value from target.module, not from the policy, and move the target "
            "after the step; without target networks, set target = None"
        )

    def test_priorities_are_the_errors_of_each_transition(self) -> None:
        def raised(batch: Any) -> dict[str, Any]:
            reward = batch.reward.clone()
            reward[3] += 100.0
            return {"reward": reward}

        told, found = self.td_error(lambda batch: {}), self.td_error(raised)
        if self.bounds_returns:
            assert not found[3].allclose(told[3], atol=1e-3), (
                "td_error is the same where the reward is greater by 100: report the part of the "
                "loss of each transition"
            )
        else:
            assert float(found[3].abs()) > float(told[3].abs()) + 1.0, (
                "td_error is no greater where the reward is greater by 100: report the error of "
                "each transition, or its part of the loss, without clipping; if it learns from "
                "sequences, set transitions = False, if it bounds returns, bounds_returns = True"
            )
        rest = [row for row in range(len(found)) if row != 3]
        assert found[rest].allclose(told[rest], atol=1e-5), (
            "td_error of a transition depends on the rewards of others"
        )


def reversed_rows(part: Any) -> Any:
    """A tensor with its rows in reverse order."""
    return part.flip(0)
