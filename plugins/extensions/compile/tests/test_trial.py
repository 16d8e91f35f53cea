"""The comparison of one compiled update with the eager one."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch

from rlk.records import Update
from rlk_compile import trial
from rlk_compile.trace import Untraceable
from rlk_compile.trial import restored, tried

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


@pytest.mark.parametrize("place", [0, 1, 2], ids=["step", "metric", "TD error"])
def test_a_difference_of_one_percent_is_the_largest_that_is_accepted(place: int) -> None:
    near, far = [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]
    near[place], far[place] = 1.008, 1.015
    assert 0.006 < differing((1.0, 1.0, 1.0), (near[0], near[1], near[2])) < 0.01
    with pytest.raises(Untraceable, match=r"differs by [12]% from"):
        differing((1.0, 1.0, 1.0), (far[0], far[1], far[2]))


def stepped(start: torch.Tensor, one: Any, other: Any) -> float:
    """The difference of two updates that add different steps to a tensor."""

    def update(step: Any) -> Callable[[], Update]:
        def run() -> Update:
            with torch.no_grad():
                start.add_(step)
            return Update({})

        return run

    return tried(update(one), update(other), [start], []).difference


def test_a_difference_is_relative_to_the_step_not_to_the_values() -> None:
    with pytest.raises(Untraceable, match=r"differs by 50% from"):
        stepped(torch.full((4,), 1000.0), 1.0, 0.5)


def test_a_step_of_the_size_of_a_rounding_error_may_be_another() -> None:
    """The numbers next to 1000 in float32 are 0.00006 away."""
    assert stepped(torch.full((4,), 1000.0), 0.00006, 0.0) < 0.01


def test_a_number_of_updates_must_be_the_same() -> None:
    with pytest.raises(Untraceable, match="its step differs from the eager one"):
        stepped(torch.zeros(1, dtype=torch.int64), 1, 2)


def test_steps_whose_squares_are_too_large_for_float32_are_compared() -> None:
    assert stepped(torch.zeros(4), 1e30, 1e30 * (1 + 1e-6)) < 1e-5


def test_parameters_are_put_back_although_they_require_gradients() -> None:
    start = torch.zeros(2, requires_grad=True)
    with restored([start]), torch.no_grad():
        start.add_(1.0)
    assert start.tolist() == [0.0, 0.0]


def reporting(**metrics: float) -> Callable[[], Update]:
    return lambda: Update({name: torch.tensor(value) for name, value in metrics.items()})


def test_metrics_near_zero_are_not_compared_by_their_digits() -> None:
    assert tried(reporting(kl=1e-9), reporting(kl=3e-9), [], []).difference < 1e-6


def test_every_metric_is_compared() -> None:
    with pytest.raises(Untraceable, match="its step differs"):
        tried(reporting(loss=1.0, kl=1.0), reporting(loss=1.0, kl=2.0), [], [])


def test_a_compiled_update_that_fails_is_refused_with_its_error() -> None:
    def fails() -> Update:
        raise RuntimeError("no memory\nand much more")

    with pytest.raises(Untraceable, match=r"^compiled, it fails: no memory$"):
        tried(reporting(), fails, [], [])


def test_the_best_of_several_times_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = itertools.accumulate(itertools.chain(*((100.0, each) for each in (3, 1, 2) * 2)))
    monkeypatch.setattr(trial.time, "perf_counter", lambda: next(seconds))
    compared = tried(reporting(), reporting(), [], [])
    assert (compared.eager, compared.compiled) == (1.0, 1.0)


def test_tensors_and_random_numbers_are_put_back_after_an_error_too() -> None:
    tensor = torch.zeros(2)
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    with pytest.raises(KeyError), restored([tensor]):
        tensor.add_(torch.rand(2))
        raise KeyError
    assert tensor.tolist() == [0.0, 0.0] and torch.rand(1).equal(expected)
