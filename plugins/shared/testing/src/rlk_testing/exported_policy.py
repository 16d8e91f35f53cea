"""The part of the contract of policies that is about `rlk export`: torch.export traces them."""

from __future__ import annotations

from typing import Any

import torch

from rlk_testing.applies import applies
from rlk_testing.contract import one_thread
from rlk_testing.policy_suite import PolicySuite


class ExportedPolicyChecks(PolicySuite):
    """Checks that `PolicyContract` inherits."""

    @applies(lambda suite: suite.exports)
    def test_rlk_export_can_write_it_as_a_program_for_any_batch(self) -> None:
        from rlk_export.program import Acts, ActsAndRemembers, acting_copy
        from rlk_export.tracing import example_of, traced

        kind: Any = ActsAndRemembers if self.record().recurrent else Acts
        for space in self.tried():
            with one_thread(), torch.no_grad():
                module = kind(acting_copy(self.policy(space)), "pi", lambda found: found)
                size = getattr(module, "state_size", None)
                program = traced(module, example_of(space, size), f"the policy in {space}").module()
                for rows in (1, 5):
                    given = example_of(space, size, rows)
                    for name, expected in module(*given).items():
                        assert torch.allclose(program(*given)[name], expected, atol=1e-5), (
                            f"in {space} the program gives another {name} for {rows} observations"
                        )
