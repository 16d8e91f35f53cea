"""The settings that algorithms of every family have."""

from __future__ import annotations

import attrs
import pytest

from rlk_schedules.settings import GAMMA, MAX_GRAD_NORM


@attrs.frozen
class Config:
    gamma: float = attrs.field(default=0.99, **GAMMA)
    max_grad_norm: float | None = attrs.field(default=None, **MAX_GRAD_NORM)


def test_a_discount_is_from_0_to_1_and_a_norm_is_above_0_or_none():
    assert [Config(gamma=gamma).gamma for gamma in (0.0, 1.0)] == [0.0, 1.0]
    for gamma in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="gamma"):
            Config(gamma=gamma)
    assert Config(max_grad_norm=0.5).max_grad_norm == 0.5
    for norm in (0.0, -0.5, float("nan")):
        with pytest.raises(ValueError, match="max_grad_norm must be above 0, or none"):
            Config(max_grad_norm=norm)
