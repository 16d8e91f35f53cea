"""Copies of policies with masks."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from rlk_sb3_contrib import MaskablePPO


def masked() -> MaskablePPO:
    from rlk_sb3.common.envs import IdentityEnv

    class Masked(IdentityEnv):
        def action_masks(self) -> Any:
            return np.ones(4, bool)

    return MaskablePPO("MlpPolicy", Masked(dim=4), n_steps=8, batch_size=8)


def test_the_policy_of_a_masked_model_takes_masks() -> None:
    model = masked()
    for policy in (model.policy, copy.deepcopy(model.policy)):
        for allowed in range(4):
            mask = np.arange(4) == allowed
            assert policy.predict(1, action_masks=mask)[0] == allowed
            many = policy.predict(np.array([1, 2]), action_masks=np.stack([mask, mask]))[0]
            assert many.tolist() == [allowed, allowed]
        assert policy.predict(1)[0] in range(4)
        with pytest.raises(ValueError, match="action_masks must have the shape"):
            policy.predict(1, action_masks=[True])
