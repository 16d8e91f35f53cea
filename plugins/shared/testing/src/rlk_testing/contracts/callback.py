"""The contract of a callback."""

from __future__ import annotations

import pytest

from rlk_testing.contracts.shared.observer_checks import ObserverChecks


class CallbackContract(ObserverChecks):
    """What every callback must do: watch a run without changing what it learns."""

    kind = "callbacks"

    def test_a_run_learns_with_it_what_it_learns_without(self) -> None:
        left, _ = self.two_runs()
        with self.agent(without=True) as agent:
            agent.learn(self.timesteps)
        if left.timesteps < agent.num_timesteps:
            pytest.skip("it stopped the run early, which a callback may")
        assert left.parameters.equal(agent.run.parameters.flat), (
            "a callback changed what was learnt: does it draw from a stream of the run?"
        )
