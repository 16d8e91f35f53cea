"""The kernel's contract for extensions: on one rank, `mpi` changes nothing."""

from __future__ import annotations

import pytest

from rlk_testing import ExtensionContract


class TestMpi(ExtensionContract):
    component = "mpi"

    def test_one_rank_learns_with_it_what_it_learns_without(self) -> None:
        def parameters(without: bool):
            with self.agent(without=without) as agent:
                agent.learn(self.timesteps)
                return agent.run.parameters.flat.clone()

        assert parameters(False).equal(parameters(True))

    def test_one_rank_says_that_it_is_one_and_enters_no_mpi(self) -> None:
        with self.agent() as agent:
            assert agent.run.communicator.size == 1
            (note,) = [note for note in agent.plan.notes if note.startswith("mpi:")]
        assert "one rank (no launcher of MPI started this)" in note
        assert "mpirun -n 4 rlk run" in note

    def test_a_negative_interval_is_refused(self) -> None:
        with pytest.raises(Exception, match="check"):
            self.entry().component().config(check=-1)
