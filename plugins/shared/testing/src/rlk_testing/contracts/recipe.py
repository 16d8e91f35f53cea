"""The contract of a recipe: a name that stands for an algorithm together with other choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from rlk.plain_values import plain
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk_testing.contracts.shared.contract import Contract, once_per_suite

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


class RecipeContract(Contract):
    """What every recipe must do. Its factory takes the config.

    Attributes:
        run: further settings of the run that is planned with it, such as `env`.
    """

    kind = "recipes"
    run: ClassVar[Mapping[str, Any]] = {}

    @once_per_suite
    def plan(self) -> Plan:
        """The plan of a run that asks for it, with the suite's settings."""
        return resolve(self.kernel(), make_spec(self.entry().name, {**self.settings, **self.run}))

    def test_it_stands_for_an_algorithm_that_is_installed(self) -> None:
        found = self.made()
        assert isinstance(found, Mapping) and all(isinstance(key, str) for key in found)
        assert found["algo"] in self.kernel().registries.algorithms, f"no {found.get('algo')!r}"
        assert isinstance(found.get("plugins", []), (list, tuple)), "plugins must be a list"

    def test_a_run_has_what_it_stands_for(self) -> None:
        plan, found = self.plan(), self.made()
        assert plan.algorithm.name == found["algo"]
        asked = [plugin for plugin in found.get("plugins", ()) if not plugin.startswith("no:")]
        names = {choice.name for choice in plan.choices()}
        assert {plugin.partition(":")[0] for plugin in asked} <= names

    def test_its_own_settings_are_found_by_their_names_alone(self) -> None:
        for key, target in self.record().forwarded():
            value = getattr(self.config(), key)
            given = {**self.settings, **self.run, key: value}
            plan = resolve(self.kernel(), make_spec(self.entry().name, given))
            name, _, setting = target.partition(".")
            (config,) = [one.config for one in plan.choices() if one.name == name]
            assert plain(getattr(config, setting)) == plain(value)
