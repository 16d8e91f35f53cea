"""The contract of an environment component: it tells which modules register an id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import pytest

from rlk.testing.contract import Contract, run_python

_FOREIGN = (
    "CartPole-v1",
    "Pendulum-v1",
    "nobody/Nothing-v0",
    "",
    "module:Class",
    "./file.py:Class",
)
_ASK = """
import sys
from rlk.kernel import default_kernel
asked = default_kernel().registries.environments.get({name!r}).component().load()
for env in {envs!r}:
    asked(env)
print(" ".join(name for name in ("torch", "gymnasium") if name in sys.modules))
"""


class EnvironmentContract(Contract):
    """What every environment component must do; its factory *is* the function from id to modules.

    Attributes:
        ids: some of the ids that it knows; each must come up in Gymnasium.
    """

    kind = "environments"
    ids: ClassVar[tuple[str, ...]] = ()

    def modules(self, env: str) -> list[str]:
        """What it names for an id."""
        named: Iterable[Any] = self.record().load()(env) or ()
        return list(named)

    def test_it_names_no_modules_for_the_environments_of_others(self) -> None:
        for env in _FOREIGN:
            assert self.modules(env) == [], f"for {env!r} it wants {self.modules(env)} imported"

    def test_it_names_modules_as_a_list_of_strings(self) -> None:
        for env in (*_FOREIGN, *self.ids):
            named = self.record().load()(env)
            assert not isinstance(named, str), (
                f"for {env!r} it gives the string {named!r}: a tuple of one"
            )
            assert all(isinstance(module, str) for module in named or ())

    def test_being_asked_imports_nothing_heavy(self) -> None:
        entry = self.entry()
        if entry.dist == "this program":
            pytest.skip("it is not installed")
        imported = run_python(_ASK.format(name=entry.name, envs=[*_FOREIGN, *self.ids]))
        assert imported == "", f"it is asked at every plan, and imports {imported}"

    def test_every_id_that_it_knows_is_found_in_gymnasium(self) -> None:
        if not self.ids:
            pytest.skip("the suite was given no ids")
        from rlk.environment import EnvChoice

        for env in self.ids:
            assert self.modules(env), f"it names no module for {env!r}"
            choice = EnvChoice(env, {}, tuple(self.modules(env)))
            made = choice.make()
            made.reset(seed=0)
            made.close()
