"""The part of the contract of algorithms that is about recurrent state."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rlk_testing.contracts.algorithm.suite import AlgorithmSuite
from rlk_testing.contracts.shared.applies import applies

if TYPE_CHECKING:
    from rlk.agent import Agent


def plans_a_recurrent_policy(suite: AlgorithmSuite) -> bool:
    """Whether the policy of the suite's runs is recurrent."""
    return suite.record().recurrent and suite.plan().policy.component.recurrent


@applies(plans_a_recurrent_policy)
class RecurrentAgentChecks(AlgorithmSuite):
    """Checks that `AlgorithmContract` inherits, for suites whose `settings` choose such a policy.

    They test `predict`; training a recurrent policy is tested by the other checks.
    """

    @contextlib.contextmanager
    def recurrent(self) -> Iterator[Agent]:
        """An agent loaded from the suite's recorded training."""
        training = self.training()
        with self.loaded(training.model, training.agent) as agent:
            yield agent

    def test_a_state_is_predicted_with_for_any_number_of_environments(self) -> None:
        with self.recurrent() as agent:
            for n in (1, 2, 5):
                seen, state = np.stack(self.observations(agent, n)), None
                for _ in range(3):
                    actions, state = agent.predict(seen, state)
                    assert len(actions) == n and np.shape(state)[0] == n
            with pytest.raises(ValueError, match="state"):
                agent.predict(seen, np.asarray(state)[:-1])

    def test_a_mask_starts_the_episodes_of_some_environments_and_no_others(self) -> None:
        with self.recurrent() as agent:
            seen = np.stack(self.observations(agent, 3))
            _, state = agent.predict(seen)
            _, goes_on = agent.predict(seen, state)
            _, masked = agent.predict(seen, state, np.array([False, True, False]))
            _, fresh = agent.predict(seen)
            assert np.array_equal(masked[[0, 2]], goes_on[[0, 2]])
            assert np.allclose(masked[1], fresh[1], atol=1e-6)
            assert not np.allclose(goes_on, fresh), "the state makes no difference"
