"""The contract of a preset source: tuned settings by algorithm and environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import pytest

from rlk import settings
from rlk.errors import RlkError
from rlk.planning.plan import Plan
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.shared.contract import Contract


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
        name = self.entry().name
        for _, _, plan in self.plans():
            assert plan.preset and name in plan.preset, f"the plan's preset is {plan.preset!r}"
            origins = (*plan.sources.values(), *plan.algorithm.sources.values())
            by = [origin.by for origin in origins]
            assert any(name in source for source in by), "no setting of the plan came from it"

    @applies(lambda suite: bool(suite.known))
    def test_every_setting_and_plugin_that_it_gives_reaches_the_plan(self) -> None:
        """A proposal that fits nothing is left out of a plan; a user's demand is refused.

        So a plan in which a user demands the same must be accepted, and be the same plan.
        """
        for algo, env, proposed in self.plans():
            given: Any = self.made().find(algo, env)
            try:
                demanded = resolve(self.kernel(), make_spec(algo, {"env": env, **given}))
            except RlkError as error:
                pytest.fail(f"{algo} on {env}: a user who sets the same is refused: {error}")
            told, found = settings_of(demanded), settings_of(proposed)
            lost = [name for name in told.keys() | found if told.get(name) != found.get(name)]
            assert not lost, (
                f"{algo} on {env}: something outranks what it gives for {', '.join(sorted(lost))} "
                "(--explain shows what)"
            )

    def plans(self) -> Iterator[tuple[str, str, Plan]]:
        """(algorithm, environment, plan with its settings) for the pairs in `known`.

        Those of algorithms that are not installed are left out.
        """
        algorithms = self.kernel().registries.algorithms
        installed = [(algo, env) for algo, env in self.known if algo in algorithms]
        if not installed:
            pytest.skip(f"none of the algorithms is installed: {[algo for algo, _ in self.known]}")
        for algo, env in installed:
            spec = make_spec(algo, {"env": env, "preset": self.entry().name})
            yield algo, env, resolve(self.kernel(), spec)


def settings_of(plan: Plan) -> dict[str, Any]:
    """Every setting of a plan: those of its components by role and name, and the run's."""
    found: dict[str, Any] = {"the environment": plan.env, **plan.run_settings()}
    for choice in plan.choices():
        part = f"{choice.role} {choice.name}"
        found[part] = True
        for key, value in settings.unstructure(choice.config).items():
            found[f"{part}: {key}"] = value
    return found
