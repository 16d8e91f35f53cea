"""What is left of a search space where planning refuses a part of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from rlk.errors import PlanError, UnknownName
from rlk_tune.ranges import parse_searches
from rlk_tune.usable import usable


def plan(tried: Mapping[str, Any]) -> None:
    """A batch has to fit into a collection of 64 steps by default, and `odd` is no setting."""
    if "odd" in tried:
        raise PlanError("unknown setting 'odd'.\nSee: a list")
    if tried.get("batch", 8) > tried.get("steps", 64):
        raise PlanError("batch is too large")


def test_what_planning_takes_is_left_as_it_is() -> None:
    space = parse_searches(["batch=8,16", "steps=64,128"])
    assert usable(space, (), plan) == (space, [])


def test_a_value_that_fits_beside_others_is_kept() -> None:
    space = parse_searches(["batch=8,128", "steps=64,128"])
    assert usable(space, ("batch",), plan) == (space, [])


def test_values_that_fit_nowhere_are_left_out_and_said() -> None:
    space = parse_searches(["batch=8,128,256", "steps=64,128", "odd=1:2"])
    left, notes = usable(space, (), plan)
    assert left == parse_searches(["batch=8,128", "steps=64,128"])
    assert notes == [
        "not searched: batch=256 (batch is too large)",
        "not searched: odd=1:2 (unknown setting 'odd'.)",
    ]


def test_a_typed_value_that_fits_nowhere_is_refused() -> None:
    space = parse_searches(["batch=8:256", "steps=64,128"])
    with pytest.raises(PlanError, match="--search batch=8:256: 256 cannot be used"):
        usable(space, ("batch",), plan)


def test_a_typed_setting_that_does_not_exist_is_refused_without_a_word_on_its_values() -> None:
    def known(tried: Mapping[str, Any]) -> None:
        if "policy.odd" in tried:
            raise UnknownName("setting", "odd", ["layers"])
        if tried.get("policy") == "odd":
            raise UnknownName("policy", "odd", ["mlp"])

    with pytest.raises(UnknownName, match=r"^unknown setting 'odd'\. Known: layers\.$"):
        usable(parse_searches(["policy.odd=1:2"]), ("policy.odd",), known)
    with pytest.raises(PlanError, match=r"odd cannot be used\.\nunknown policy 'odd'"):
        usable(parse_searches(["policy=odd,mlp"]), ("policy",), known)


def test_bounds_with_decimals_are_refused_for_a_setting_of_whole_numbers() -> None:
    def whole(tried: Mapping[str, Any]) -> None:
        if not float(tried.get("size", 1)).is_integer():
            raise PlanError(f"size must be a whole number, got {tried['size']}.")

    space = parse_searches(["size=log:1e3:1e5"])
    with pytest.raises(PlanError, match="For whole numbers, type --search size=log:1000:100000"):
        usable(space, ("size",), whole)
    assert usable(parse_searches(["size=log:1000:100000"]), ("size",), whole)[1] == []
    with pytest.raises(PlanError, match=r"0\.5 cannot be used\.\nsize must be a whole number"):
        usable(parse_searches(["size=0.5:3.5"]), ("size",), whole)


def test_a_single_value_that_is_left_is_not_searched() -> None:
    space = parse_searches(["batch=8,256", "steps=64,128"])
    left, notes = usable(space, (), plan)
    assert left == parse_searches(["steps=64,128"])
    assert notes == ["not searched: batch=8,256 (batch is too large)"]
