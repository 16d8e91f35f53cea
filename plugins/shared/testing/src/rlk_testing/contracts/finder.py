"""The contract of a finder: it returns the component at a place, such as `package.module:Name`."""

from __future__ import annotations

from typing import ClassVar

from rlk.component import Component
from rlk.errors import PlanError
from rlk.registry.kinds import KINDS
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.shared.contract import Contract, is_installed
from rlk_testing.tools.fresh_python import run_python

_FOREIGN = ("nobody.anywhere:Nothing", "./no_such_file.py")
_ASK = """
import sys
from rlk.registry.kernel import default_kernel
default_kernel().registries.finders.get({name!r}).component().load()
print("torch" if "torch" in sys.modules else "")
"""


class FinderContract(Contract):
    """What every finder must do; its factory itself is the function from place to component.

    Attributes:
        places: some of the places that it knows.
    """

    kind = "finders"
    places: ClassVar[tuple[str, ...]] = ()

    def test_what_it_does_not_know_is_refused_or_left_to_others(self) -> None:
        find = self.record().load()
        for place in _FOREIGN:
            try:
                found = find(place, None)
            except PlanError:
                continue
            assert found is None, f"at {place!r} it finds {found!r}"

    @applies(lambda suite: bool(suite.places))
    def test_what_it_finds_is_a_component_that_says_its_kind(self) -> None:
        for place in self.places:
            found = self.record().load()(place, None)
            assert isinstance(found, Component), f"at {place!r} it finds {found!r}"
            assert found.kind in KINDS, f"what is at {place!r} is of the kind {found.kind!r}"

    @applies(lambda suite: bool(suite.places))
    def test_a_run_that_names_its_places_finds_them_by_it(self) -> None:
        for place in self.places:
            asked, _ = self.kernel().registries.finders.ask("plugin", place, None)
            assert asked.name == self.entry().name, f"{place!r} is resolved by {asked.name!r}"

    @applies(is_installed)
    def test_it_is_there_without_torch(self) -> None:
        assert run_python(_ASK.format(name=self.entry().name)) == ""
