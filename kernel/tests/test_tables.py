"""Settings that are tables: given whole or key by key, saved, and taken up again."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest

from rlk.hookspecs import hookimpl
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.restoring.saved_plan import as_json, spec_of


class Bounds:
    def __init__(self, config):
        self.config = config

    @hookimpl
    def rlk_training_start(self):
        """A plugin has at least one hook."""


@attrs.frozen(kw_only=True)
class LimitsConfig:
    limits: dict[str, Any] = attrs.field(factory=lambda: {"a": 1})


@pytest.fixture
def kernel(rlk_stand_in_kernel):
    rlk_stand_in_kernel.registries.extensions.register("bounds", Bounds, config=LimitsConfig)
    return rlk_stand_in_kernel


def limits_of(plan):
    (bounds,) = plan.extensions
    return bounds.config.limits


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"bounds.limits": {"a": {"b": 1}}}, {"a": {"b": 1}}),
        ({"bounds": {"limits": {"a": {"b": 1}}}}, {"a": {"b": 1}}),
        ({"bounds.limits.a.b": 1, "bounds.limits.c": 2}, {"a": {"b": 1}, "c": 2}),
        ({"bounds.limits": {}}, {}),
        ({}, {"a": 1}),
    ],
)
def test_a_table_is_given_whole_or_key_by_key(kernel, given, expected):
    spec = make_spec("stand-in", {"env": "CartPole-v1", "plugins": ["bounds"], **given})
    assert limits_of(resolve(kernel, spec)) == expected


@pytest.mark.parametrize("limits", [{"a": {"b": 1}}, {"a.b": {"c": 2}, "d": []}, {}, {"a": 1}])
def test_a_table_comes_back_from_a_file_whatever_is_in_it(kernel, limits):
    spec = make_spec("stand-in", {"env": "CartPole-v1", "plugins": ["bounds"]})
    saved = json.loads(json.dumps(as_json(resolve(kernel, spec))))
    (bounds,) = (one for one in saved["components"] if one["name"] == "bounds")
    bounds["settings"] = {"limits": limits}
    assert limits_of(resolve(kernel, spec_of(saved, kernel, resumes=True))) == limits
    changed = spec_of(saved, kernel, resumes=True, changes={"bounds.limits.d.e": 3})
    assert limits_of(resolve(kernel, changed)) == {**limits, "d": {"e": 3}}
