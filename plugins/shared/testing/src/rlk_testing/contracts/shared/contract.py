"""What all suites share: finding the component, making it, and the checks for every kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ClassVar, TypeVar
from weakref import WeakKeyDictionary

import attrs

from rlk import settings
from rlk.component import Component
from rlk.planning.references import wrong_references
from rlk.registry.entry import Entry
from rlk.registry.kernel import Kernel
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.tools import light_imports
from rlk_testing.tools.kernels import installed, own_kernel, with_environments

Answer = TypeVar("Answer")
SuiteT = TypeVar("SuiteT", bound="Contract")


def has_settings(suite: Contract) -> bool:
    """Whether the component has a config."""
    return suite.record().config is not None


def has_usual_settings(suite: Contract) -> bool:
    """Whether this suite runs the component with its usual settings (see `Contract.variant`)."""
    return not suite.variant


def is_installed(suite: Contract) -> bool:
    """Whether an installed distribution has the component, so that a fresh Python finds it."""
    return suite.entry().dist != "this program"


def may_have(suite: Contract, *methods: str) -> bool:
    """Whether an instance may have these methods: False only if the factory is a class without one.

    What a function makes is not known before it is called.
    """
    factory = suite.record().load()
    return not isinstance(factory, type) or all(hasattr(factory, name) for name in methods)


def once_per_suite(method: Callable[[SuiteT], Answer]) -> Callable[[SuiteT], Answer]:
    """Call a method once per suite and keep its result, which checks may read but not change."""
    answers: WeakKeyDictionary[type, Answer] = WeakKeyDictionary()

    @wraps(method)
    def answer(self: SuiteT) -> Answer:
        if type(self) not in answers:
            answers[type(self)] = method(self)
        return answers[type(self)]

    return answer


class Contract:
    """The part that the suites of all kinds share.

    Attributes:
        component: the name that a user types, or a `Component` that is not installed.
        settings: the component's settings in these checks, where a default is too large for a test.
        variant: True if another suite tests the component with its usual settings; checks whose
            outcome does not depend on settings are then left out of this one.
    """

    kind: ClassVar[str] = ""
    component: ClassVar[str | Component] = ""
    settings: ClassVar[Mapping[str, Any]] = {}
    variant: ClassVar[bool] = False

    # ---- building blocks for checks --------------------------------------------------------------

    @once_per_suite
    def kernel(self) -> Kernel:
        """A kernel with all installed components, and with the suite's if that is an object."""
        if isinstance(self.component, str):
            return installed()
        kernel = with_environments(own_kernel())
        kernel.registries[self.kind].register(self.component.name, self.component)
        return kernel

    def entry(self) -> Entry:
        """The component's entry in the registry."""
        component = self.component
        return (
            self.kernel()
            .registries[self.kind]
            .get(component if isinstance(component, str) else component.name)
        )

    def record(self) -> Component:
        return self.entry().component()

    def config(self, **changes: Any) -> Any:
        """The component's config with `settings` and these changes; None if it has no config."""
        record = self.record()
        if record.config is None:
            return None
        return settings.structure(
            record.config, {**record.own_defaults, **self.settings, **changes}, self.entry().title
        )

    def made(self, *arguments: Any, **keywords: Any) -> Any:
        """An instance, made as a run makes it: `factory(*arguments, config, **keywords)`."""
        config = self.config()
        given = arguments if config is None else (*arguments, config)
        return self.record().load()(*given, **keywords)

    # ---- checks for every kind -------------------------------------------------------------------

    def test_its_name_is_found_in_the_registry_of_its_kind(self) -> None:
        assert self.component, f"{type(self).__name__} names no component: component = 'name'"
        assert isinstance(self.record(), Component)

    def test_it_says_in_one_line_what_it_is(self) -> None:
        summary = self.record().summary
        assert summary.strip(), "Component(summary=…) is empty; `rlk plugins list` shows it"
        assert "\n" not in summary and len(summary) <= 120, (
            f"too long for a line of a list: {summary!r}"
        )

    def test_its_factory_can_be_imported(self) -> None:
        assert callable(self.record().load())

    def test_everything_that_its_record_names_is_there(self) -> None:
        wrong = list(wrong_references(self.record(), self.kind, self.kernel().registries))
        assert not wrong, "; ".join(wrong)

    @applies(lambda suite: is_installed(suite) or has_settings(suite))
    def test_planning_with_it_imports_neither_torch_nor_gymnasium(self) -> None:
        entry = self.entry()
        if is_installed(self):
            found = light_imports.report()[f"{self.kind}/{entry.name}"]
        else:
            found = light_imports.of_module(self.record().config.__module__)
        assert not found.imports, (
            f"the module that holds the component of {entry.title} imports "
            f"{', '.join(found.imports)}: name the factory as a string, and keep torch and "
            f"gymnasium out of component.py and config.py"
        )
        assert not found.error, f"the component of {entry.title} cannot be loaded: {found.error}"

    @applies(has_settings)
    def test_every_setting_has_a_help_text(self) -> None:
        fields = attrs.fields(type(self.config()))
        missing = [field.name for field in fields if not field.metadata.get("help", "").strip()]
        assert not missing, f"no help text (rlk.settings.setting) on {missing}, which users read"

    @applies(has_settings)
    def test_every_default_can_be_written_to_a_file(self) -> None:
        config = self.config()
        written = settings.unstructure(type(config)(**_required(config)))
        for name, value in written.items():
            json.dumps(value)
            assert not (isinstance(value, dict) and set(value) == {"callable"}), (
                f"the default of {name} is a callable, which neither plan.json nor a checkpoint "
                f"can hold"
            )

    @applies(has_settings)
    def test_its_settings_survive_being_written_down_and_read_again(self) -> None:
        config = self.config()
        written = json.loads(json.dumps(settings.unstructure(config)))
        read = settings.structure(type(config), written, self.entry().title)
        assert settings.unstructure(read) == settings.unstructure(config)


def _required(config: Any) -> dict[str, Any]:
    """The values of the fields that have no default."""
    fields = attrs.fields(type(config))
    return {
        f.name: getattr(config, f.name) for f in fields if f.init and f.default is attrs.NOTHING
    }
