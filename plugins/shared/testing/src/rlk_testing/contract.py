"""What all suites share: finding the component, making it, and the checks for every kind."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cache, wraps
from typing import Any, ClassVar, TypeVar
from weakref import WeakKeyDictionary

import attrs
import numpy as np

from rlk import settings
from rlk.component import Component
from rlk.planning.references import wrong_references
from rlk.registry.entry import Entry
from rlk.registry.kernel import Kernel
from rlk_testing import light_imports
from rlk_testing.applies import applies
from rlk_testing.kernels import own_kernel

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


@cache
def installed() -> Kernel:
    """A kernel with all installed components and the environments of `rlk_testing.environments`."""
    return with_environments(own_kernel())


def with_environments(kernel: Kernel) -> Kernel:
    """The kernel, to which names such as `rlk_testing.environments:Walk` have been added."""
    named = "rlk_testing.environments:environment_named"
    kernel.registries.environments.register("test-environments", named, summary="of rlk_testing")
    return kernel


def _required(config: Any) -> dict[str, Any]:
    """The values of the fields that have no default."""
    fields = attrs.fields(type(config))
    return {
        f.name: getattr(config, f.name) for f in fields if f.init and f.default is attrs.NOTHING
    }


def run_python(code: str) -> str:
    """Run code in a fresh Python process and return what it prints.

    Raises:
        AssertionError: with the process's standard error, if it fails.
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def one_thread() -> AbstractContextManager[None]:
    """Run torch on one thread inside: small networks are fastest so, and sums are reproducible."""
    from rlk.running import device  # not at the top: it imports torch

    return device.on_threads(1)


@contextmanager
def global_draws() -> Iterator[list[str]]:
    """A list that, on exit, has a message for every global generator that was used inside."""
    import torch

    # After a draw, setting the same seed once more also changes the state, and is noticed.
    random.random(), np.random.random(), torch.rand(())
    before = random.getstate(), np.random.get_state(), torch.get_rng_state()
    found: list[str] = []
    yield found
    if random.getstate() != before[0]:
        found.append("it uses Python's global generator")
    now = np.random.get_state()
    if not all(np.array_equal(a, b) for a, b in zip(now, before[1], strict=True)):
        found.append("it uses numpy's global generator; draw from the stream it is given")
    if not torch.equal(torch.get_rng_state(), before[2]):
        found.append("it uses torch's global generator; draw from the stream it is given")


@contextmanager
def global_generators_untouched() -> Iterator[None]:
    """Raises AssertionError if what runs inside draws from a global generator, or seeds one."""
    with global_draws() as found:
        yield
    assert not found, "; ".join(found)


def plain(value: Any, where: str = "state") -> None:
    """Raises AssertionError if a state holds more than JSON values, arrays and tensors."""
    import torch

    if value is None or isinstance(value, (bool, int, float, str, torch.Tensor)):
        return
    if isinstance(value, (np.ndarray, np.generic)):
        assert value.dtype != object, (
            f"{where} is an array of objects, which no checkpoint can hold"
        )
        return
    if isinstance(value, Mapping):
        for key, part in value.items():
            assert isinstance(key, str), f"{where} has the key {key!r}; keys must be strings"
            plain(part, f"{where}[{key!r}]")
        return
    if isinstance(value, (list, tuple)):
        for i, part in enumerate(value):
            plain(part, f"{where}[{i}]")
        return
    raise AssertionError(f"{where} holds a {type(value).__name__}, which no checkpoint can hold")


def same(one: Any, other: Any) -> bool:
    """Whether two states are equal, arrays and tensors bit for bit."""
    import torch

    if isinstance(one, Mapping) or isinstance(other, Mapping):
        both = (
            isinstance(one, Mapping) and isinstance(other, Mapping) and one.keys() == other.keys()
        )
        return both and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) or isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, (np.ndarray, torch.Tensor)) or isinstance(other, (np.ndarray, torch.Tensor)):
        a, b = np.asarray(one), np.asarray(other)
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if one != one and other != other:
        return True
    return bool(one == other)
