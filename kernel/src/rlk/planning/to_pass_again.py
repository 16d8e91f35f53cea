"""What must be passed again to use a saved run, because a file must not run code by itself.

The name of an installed component is enough. Code at a place (`./file.py:Class`) is named
again on the command line, and an object can be passed only by a program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from rlk import settings
from rlk.planning.lost_settings import COMPUTING, chosen_fields, texts_in
from rlk.planning.parse import parse_value, typed_value
from rlk.planning.restored_environment import code_in
from rlk.registry.external import PASSED, is_place
from rlk.registry.kinds import SLOTS, is_group_slot, singular

if TYPE_CHECKING:
    from rlk.planning.choice import Choice
    from rlk.planning.environment import EnvChoice
    from rlk.planning.plan import Plan


class ToPassAgain(NamedTuple):
    """What a command that uses a run needs besides the run's folder."""

    options: list[str]  #: to type, as words of a command line
    objects: list[str]  #: what only a program can pass, as it is written there: `env=…`

    @property
    def keywords(self) -> list[str]:
        """All of it, options too, as a program passes it to `rlk.load`."""
        options = list(zip(self.options[::2], self.options[1::2], strict=True))
        found = [_keyword(option, value) for option, value in options if option != "--plugin"]
        found += [text for text in self.objects if text != _PLUGINS]
        plugins = [repr(value) for option, value in options if option == "--plugin"]
        plugins += ["…"] if _PLUGINS in self.objects else []
        return [*found, f"plugins=[{', '.join(plugins)}]"] if plugins else found


#: Plugins that were passed as objects.
_PLUGINS = "plugins=[…]"


def to_pass_again(plan: Plan, *, observers: bool) -> ToPassAgain:
    """What must be passed so that the environment and the plugins of a plan are found again.

    Args:
        plan: of the run.
        observers: include components that only watch: a resumed run needs them, acting does not.
    """
    found = [_of_environment(plan.env)]
    for slot, choice in plan.choices():
        if observers or slot not in ("callback", "logger"):
            if observers:
                found.append(_of_marked_settings(choice))
            found.append(_of_component(slot, choice))
    options = [word for one in found for word in one.options]
    objects = [text for one in found for text in one.objects]
    return ToPassAgain(options, list(dict.fromkeys(objects)))


def _of_environment(env: EnvChoice) -> ToPassAgain:
    """The environment itself, and keywords that name code."""
    options, objects = [], []
    if env.again is None:
        made = getattr(env.made, "__name__", "")
        objects.append(f"env={made if made.isidentifier() else '…'}")
    elif env.again:
        options += ["--env", env.again]
    for key, value in env.kwargs.items():
        if code_in(plain := settings.plain_setting(value)) is not None:
            options += ["--set", f"env.{key}={typed_value(plain)}"]
    return ToPassAgain(options, objects)


def _of_marked_settings(choice: Choice) -> ToPassAgain:
    """Settings that name a file to write to, or an environment of their own."""
    options, objects, config = [], [], choice.component.config
    values = settings.unstructure(choice.config)
    for name in chosen_fields(config, "written", values):
        if values[name] is not None:
            options += ["--set", f"{choice.name}.{name}={typed_value(values[name])}"]
    for name in chosen_fields(config, "environment", values):
        value = getattr(choice.config, name)
        if any(map(is_place, texts_in(value))):
            options += ["--set", f"{choice.name}.{name}={typed_value(values[name])}"]
        elif settings.was_callable(values[name]):
            objects.append(f"**{{'{choice.name}.{name}': …}}")
    return ToPassAgain(options, objects)


def _of_component(slot: str, choice: Choice) -> ToPassAgain:
    """A component from a place or an object, and the functions that a network is made with."""
    options, objects = [], []
    if is_place(choice.dist) and (slot in SLOTS or is_group_slot(slot)):
        options += ["--set", f"{slot}={choice.dist}"]
    elif is_place(choice.dist):
        options += ["--plugin", choice.dist]
    elif choice.dist == PASSED and slot in SLOTS:
        objects.append(f"{slot}={choice.name if choice.name.isidentifier() else '…'}")
    elif choice.dist == PASSED and slot != singular("extensions"):
        objects.append(_PLUGINS)
    return ToPassAgain(options, [*objects, *_functions(slot, choice.config)])


def _functions(slot: str, config: Any) -> list[str]:
    """The functions that the network is made with, as Python keywords."""
    if slot not in COMPUTING:
        return []
    lost = [
        key for key, value in settings.unstructure(config).items() if settings.was_callable(value)
    ]
    return [f"**{{'{slot}.{key}': …}}" for key in lost]


def _keyword(option: str, value: str) -> str:
    """`--env` or `--set`, with its value, as a keyword of Python."""
    if option == "--env":
        return f"env={value!r}"
    key, _, text = value.partition("=")
    written = repr(parse_value(text))
    return f"{key}={written}" if key.isidentifier() else f"**{{{key!r}: {written}}}"
