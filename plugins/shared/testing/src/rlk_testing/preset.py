"""The contract of a preset source: tuned settings by algorithm and environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk_testing.applies import applies
from rlk_testing.contract import Contract


class PresetContract(Contract):
    """What every source of presets must do. Its factory takes nothing.

    Attributes:
        known: (algorithm, environment) pairs that it has settings for; each must give a plan.
    """

    kind = "presets"
    known: ClassVar[tuple[tuple[str, str], ...]] = ()

    def test_it_has_nothing_for_what_nobody_tuned(self) -> None:
        source = self.made()
        assert source.find("no-such-algorithm", "CartPole-v1") is None
        for algo, _ in self.known:
            assert source.find(algo, "NoSuchEnvironment-v0") is None

    @applies(lambda suite: bool(suite.known))
    def test_it_has_settings_for_what_it_knows(self) -> None:
        for algo, env in self.known:
            found = self.made().find(algo, env)
            assert isinstance(found, Mapping) and found, f"{algo} on {env}: {found!r}"
            assert all(isinstance(key, str) for key in found)
            assert isinstance(found.get("plugins", []), (list, tuple)), "plugins must be a list"

    @applies(lambda suite: bool(suite.known))
    def test_what_it_gives_out_is_not_its_own(self) -> None:
        source = self.made()
        for algo, env in self.known:
            first: Any = source.find(algo, env)
            kept = dict(first)
            if isinstance(first, dict):
                first.clear()
            assert dict(source.find(algo, env) or {}) == kept, (
                "changing the result of find() changes the source"
            )

    @applies(lambda suite: bool(suite.known))
    def test_its_settings_make_a_plan_that_says_where_they_came_from(self) -> None:
        name, kernel = self.entry().name, self.kernel()
        for algo, env in self.known:
            if algo not in kernel.registries.algorithms:
                pytest.skip(f"algorithm {algo!r} is not installed")
            plan = resolve(kernel, make_spec(algo, {"env": env, "preset": name}))
            assert plan.preset and name in plan.preset, f"the plan's preset is {plan.preset!r}"
            by = [*plan.sources.values(), *plan.algorithm.sources.values()]
            assert any(name in source for source in by), "no setting of the plan came from it"
