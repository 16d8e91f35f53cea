"""The kernel's contract for extensions: on one rank, `torch-distributed` changes nothing."""

from __future__ import annotations

from rlk_testing import ExtensionContract


class TestTorchDistributed(ExtensionContract):
    component = "torch-distributed"

    def test_one_rank_says_that_it_is_one(self) -> None:
        with self.agent() as agent:
            assert agent.run.communicator.size == 1
            (note,) = [note for note in agent.plan.notes if note.startswith("torch-distributed:")]
        assert "one rank (no launcher of torch.distributed started this)" in note
        assert "torchrun --nproc-per-node 4 -m rlk run" in note
