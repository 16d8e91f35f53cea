"""The kernel's contracts: of the extension, and of the wrapper that it puts in."""

from __future__ import annotations

import contextlib

from rlk_action_masking import ActionMasks
from rlk_testing import ExtensionContract, WrapperContract
from rlk_testing.environments import Walk

SMALL = {"n_steps": 32, "nminibatches": 2, "noptepochs": 1, "policy": {"layers": [16]}}


class Masked:
    """A run of the game, which refuses what is forbidden."""

    algo = "ppo2"
    env = "rlk_testing.environments:MaskedGame"

    @contextlib.contextmanager
    def agent(self, **settings):
        given = {**SMALL, "plugins": ("action-masking",), **settings}
        with super().agent(**given) as agent:
            yield agent


class TestActionMasking(Masked, ExtensionContract):
    component = "action-masking"


class WalkWithMasks(Walk):
    def action_masks(self):
        return [self.steps % 2 == 0, True, False]


class TestActionMasks(Masked, WrapperContract):
    component = "action-masks"

    def around_one(self):
        return ActionMasks(WalkWithMasks())
