"""The settings that algorithms of every family have."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from rlk_schedules import Linear, Schedule
from rlk_schedules.parse import is_curve_of, is_schedule
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


@attrs.frozen
class TwoRates:
    learning_rate: Any = 0.1
    critic_rate: Any = attrs.field(default=0.1, validator=is_schedule)
    critic_curve: str = attrs.field(default="constant", validator=is_curve_of("critic_rate"))


def test_the_name_of_a_curve_is_about_the_setting_that_it_is_told():
    assert TwoRates(learning_rate=Linear(0.1), critic_curve="linear").critic_rate == 0.1
    with pytest.raises(ValueError, match=r"^critic_rate=.* and critic_curve='linear' would scale"):
        TwoRates(critic_rate=Linear(0.1), critic_curve="linear")


class Dips(Schedule):
    """1, but -1 where one part of the run remains."""

    name = "dips"

    def __init__(self, where: float) -> None:
        self.where = where

    def __call__(self, remaining: float) -> float:
        return -1.0 if remaining == self.where else 1.0

    def __str__(self) -> str:
        return "dips"


@pytest.mark.parametrize("where", [1.0, 0.75, 0.5, 0.25, 0.0])
def test_a_shape_is_looked_at_in_each_quarter_of_the_run(where):
    with pytest.raises(ValueError, match=r"critic_rate must be .* and is -1 in dips"):
        TwoRates(critic_rate=Dips(where))
