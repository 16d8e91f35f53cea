"""The grammar of `--search`."""

from __future__ import annotations

import pytest

from rlk.errors import PlanError
from rlk_tune.ranges import Choice, Interval, parse_range, parse_search, parse_searches


@pytest.mark.parametrize(
    ("text", "range_"),
    [
        ("0.5:1.0", Interval(0.5, 1.0)),
        ("1:20", Interval(1, 20)),
        ("log:1e-5:1e-2", Interval(1e-5, 1e-2, is_log=True)),
        ("log: 8 : 2048", Interval(8, 2048, is_log=True)),
        ("-1:1", Interval(-1, 1)),
        ("0.9,0.95", Choice(("0.9", "0.95"))),
        ("relu , tanh", Choice(("relu", "tanh"))),
        ("[64,64],[256,256]", Choice(("[64,64]", "[256,256]"))),
        ("none,normal-noise:sigma=0.1", Choice(("none", "normal-noise:sigma=0.1"))),
        ("'a:b=1,c=2',none", Choice(("'a:b=1,c=2'", "none"))),
    ],
)
def test_a_range_is_an_interval_or_values_to_choose_from(
    text: str, range_: Interval | Choice
) -> None:
    assert parse_range("it", text) == range_
    assert parse_range("it", str(range_)) == range_


def test_whole_numbers_are_drawn_between_whole_bounds_alone() -> None:
    assert Interval(1, 2).is_whole
    assert not Interval(1, 2.0).is_whole


def test_a_number_with_decimals_is_tried_unless_only_whole_numbers_are_drawn() -> None:
    assert Interval(1, 20).probes() == (1, 20)
    low, high, between = Interval(1e3, 1e5, is_log=True).probes()
    assert (low, high) == (1e3, 1e5)
    assert low < between < high and not between.is_integer()


def test_a_value_is_what_set_would_make_of_it() -> None:
    range_ = parse_range("it", "[64,64],none,true,1e-3,relu,'3'")
    assert [range_.value(text) for text in range_.probes()] == [
        [64, 64],
        None,
        True,
        0.001,
        "relu",
        "3",
    ]
    assert Interval(1, 2).value(2) == 2


def test_a_name_stands_before_the_first_equals_sign() -> None:
    assert parse_search("action_noise=none,normal-noise:sigma=0.1")[0] == "action_noise"
    assert parse_searches(["a=1:2", "policy.layers=[8],[9]"]).keys() == {"a", "policy.layers"}


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("gamma", r"NAME=A,B,C, as in --search gamma=0.9,0.99; got 'gamma'"),
        ("gamma=", r"got 'gamma='"),
        ("=1:2", r"got '=1:2'"),
        ("gamma=0.9", r"--search gamma=0.9: a single value .* type --set gamma=0.9; else NAME"),
        (
            "gamma=low:high",
            r"--search gamma=low:high: 'low:high' is not a range. Type NAME=LOW:HIGH",
        ),
        ("gamma=1:2:3", r"is not a range"),
        ("gamma=log:1", r"is not a range"),
        ("gamma=0:inf", r"is not a range"),
        ("gamma=true:false", r"is not a range"),
        ("gamma=0.9:0.1", r"LOW must be below HIGH, .* Type --search gamma=0.1:0.9"),
        ("gamma=0.9:0.9", r"a single value is not a range. To fix it, type --set gamma=0.9; else"),
        ("gamma=0.9,0.9", r"a single value is not a range. To fix it, type --set gamma=0.9; else"),
        ("gamma=0.9,", r"a single value is not a range. To fix it, type --set gamma=0.9; else"),
        ("gamma=,", r"a value is missing between the commas. Type NAME=LOW:HIGH"),
        ("lr=log:0:1", r"--search lr=log:0:1: log: needs bounds above 0, got 0"),
        ("gamma=0.9,,0.8", r"a value is missing between the commas. Type --search gamma=0.9,0.8"),
        ("gamma=0.9,0.9,1", r"occurs twice .* Type --search gamma=0.9,1"),
    ],
)
def test_what_is_no_range_is_refused_with_what_to_type(typed: str, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        parse_search(typed)


def test_a_setting_has_one_range() -> None:
    with pytest.raises(PlanError, match="--search gamma is given twice: 0\\.9,1 and"):
        parse_searches(["gamma=0.9,1", "gamma=0.1:0.2"])
