"""The comparison of one compiled update with the eager one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from rlk.records import Update
from rlk_compile.trace import Untraceable
from rlk_compile.trial import tried

NAN, INFINITE = float("nan"), float("inf")
Values = tuple[float, float, float]


def differing(eager: Values, compiled: Values) -> float:
    """The difference of two updates that add to a tensor and report a metric and TD errors."""
    weight, count = torch.zeros(4), torch.zeros(1, dtype=torch.int64)

    def update(step: float, metric: float, td_error: float) -> Callable[[], Update]:
        def run() -> Update:
            weight[1:].add_(step)
            count.add_(1)
            return Update({"loss": torch.tensor(metric)}, torch.tensor([0.5, td_error]))

        return run

    return tried(update(*eager), update(*compiled), [weight, count], []).difference


@pytest.mark.parametrize("place", [0, 1, 2], ids=["step", "metric", "TD error"])
@pytest.mark.parametrize("value", [NAN, INFINITE, 2.0])
def test_an_update_with_other_numbers_is_refused(place: int, value: float) -> None:
    other = [1.0, 1.0, 1.0]
    other[place] = value
    with pytest.raises(Untraceable, match=r"its step differs .*from the eager one"):
        differing((1.0, 1.0, 1.0), (other[0], other[1], other[2]))
    with pytest.raises(Untraceable, match=r"its step differs .*from the eager one"):
        differing((other[0], other[1], other[2]), (1.0, 1.0, 1.0))


@pytest.mark.parametrize("value", [NAN, INFINITE, 1.0])
def test_the_same_numbers_are_no_difference_even_if_they_are_not_finite(value: float) -> None:
    assert differing((1.0, value, value), (1.0, value, value)) == 0.0
    assert differing((value, 1.0, 1.0), (value, 1.0, 1.0)) == 0.0


def test_a_rounding_error_is_accepted() -> None:
    assert 0.0 < differing((1.0, 1.0, 1.0), (1.0 + 1e-6, 1.0, 1.0)) < 1e-5
