"""The contract of an environment component: it maps a name to what makes that environment."""

from __future__ import annotations

import pickle
from typing import Any, ClassVar

from rlk_testing.applies import applies
from rlk_testing.contract import Contract, is_installed, run_python

_FOREIGN = ("nobody/Nothing-v0", "", "NoSuchEnvironment-v0")
_ASK = """
import sys
from rlk.registry.kernel import default_kernel
asked = default_kernel().registries.environments.get({name!r}).component().load()
for env in {envs!r}:
    asked(env)
print("torch" if "torch" in sys.modules else "")
"""
_UNPICKLE = """
import pickle, sys
maker = pickle.loads({maker!r})
print("torch" if "torch" in sys.modules else "")
"""


class EnvironmentContract(Contract):
    """What every environment component must do.

    Its factory is a function of a name. It returns a callable that makes the environment, or None
    if it does not know the name.

    Attributes:
        ids: some of the names that it knows; each of these environments is made.
    """

    kind = "environments"
    ids: ClassVar[tuple[str, ...]] = ()

    def answer(self, env: str) -> Any:
        """What it returns for a name."""
        return self.record().load()(env)

    def test_it_answers_none_to_the_environments_of_others(self) -> None:
        for env in _FOREIGN:
            assert self.answer(env) is None, f"to {env!r} it answers {self.answer(env)!r}"

    def test_it_answers_with_what_makes_the_environment(self) -> None:
        for env in self.ids:
            assert callable(self.answer(env)), f"to {env!r} it answers {self.answer(env)!r}"

    @applies(is_installed)
    def test_being_asked_imports_no_torch(self) -> None:
        imported = run_python(_ASK.format(name=self.entry().name, envs=[*_FOREIGN, *self.ids]))
        assert imported == "", f"it is asked at every plan, and imports {imported}"

    def test_what_it_answers_travels_to_a_worker_and_imports_no_torch_there(self) -> None:
        for env in self.ids:
            maker = pickle.dumps(self.answer(env))
            assert type(pickle.loads(maker)) is type(self.answer(env))
        for env in self.ids[:1]:
            assert run_python(_UNPICKLE.format(maker=pickle.dumps(self.answer(env)))) == ""

    @applies(lambda suite: bool(suite.ids))
    def test_every_name_that_it_answers_to_is_made(self) -> None:
        for env in self.ids:
            made = self.answer(env)()
            made.reset(seed=0)
            made.close()

    def test_the_names_it_lists_for_messages_are_strings(self) -> None:
        known: list[Any] = getattr(self.record().load(), "known", list)()
        assert all(isinstance(name, str) for name in known)
