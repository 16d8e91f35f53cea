"""The component record: what an entry point names, and all that planning needs to know of a plugin.
A component lives in a module that imports no torch; its factory is imported when a plan is
built. So listing, `--help`, `--explain` and every refusal cost milliseconds."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Literal

import attrs

Collects = Literal["on-policy", "off-policy", "both", "offline"]
Stage = Literal["choose", "window", "relabel", "fold"]

#: The order in which the sampling stages of a replay storage run.
STAGES: tuple[Stage, ...] = ("choose", "window", "relabel", "fold")
NAME = attrs.validators.matches_re(r"[A-Za-z][A-Za-z0-9._-]*")


def _is_factory(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if not callable(value) and not (isinstance(value, str) and value.count(":") == 1):
        raise ValueError(f"{attribute.name} must be callable or 'module:object', got {value!r}")


@attrs.frozen(kw_only=True)
class Component:
    """What a plugin offers under one name."""

    name: str = attrs.field(validator=NAME)  #: what a user types; another entry point is an alias
    factory: str | Callable[..., Any] = attrs.field(validator=_is_factory)  #: or "module:object"
    summary: str = ""  #: one line for `rlk plugins list`
    config: type | None = None  #: the attrs class of its settings; must import no torch
    #: Settings that this name fixes (`LnMlpPolicy` is `mlp` with `layer_norm`).
    own: Mapping[str, Any] = attrs.field(factory=dict)
    #: What it wants elsewhere: a slot (`"policy": "mlp"`, or for `"distribution"` one name per
    #: action space), the optimiser of one parameter group (`"vf_optimiser": "adam"`), a setting of
    #: a slot (`"policy.act_fun": "relu"`), or one of the run (`"n_envs": 8`).
    defaults: Mapping[str, Any] = attrs.field(factory=dict)
    #: Own setting -> another component's, as `"prioritized-replay.alpha"`: the value moves there
    #: when that one is in the plan; both set and different is an error.
    forwards: Mapping[str, str] = attrs.field(factory=dict)
    #: Own boolean setting -> the plugin that it puts in (`prioritized_replay`), which sets it to
    #: True when it is put in by name.
    activates: Mapping[str, str] = attrs.field(factory=dict)
    #: Own text setting -> the kind of the plugin that it names (`action_noise`: `noises`).
    selects: Mapping[str, str] = attrs.field(factory=dict)
    #: Whether it runs code that a name or a file points to; no saved model is made through it.
    runs_code: bool = False
    reports: tuple[str, ...] = ()  #: what comes with every Update (`td_error`), or what it provides
    needs: tuple[str, ...] = ()  #: what a storage, wrapper or extension must have reported to it
    action_spaces: tuple[str, ...] = ()  #: Gymnasium's class names; empty: it does not care
    observation_spaces: tuple[str, ...] = ()  #: likewise; "Image" is a Box that holds an image
    collects: Collects | None = None  #: how an algorithm learns; which ones a storage serves
    recurrent: bool = False  #: trains recurrent policies, or is one
    stages: tuple[Stage, ...] = ()  #: that a decorating storage takes; a base storage has none
    scope: Literal["env", "vector"] = "env"  #: what a wrapper wraps
    kind: str | None = None  #: where no entry point says it (a component in `--plugin ./file.py`)
    #: Active without being asked for: in any `rlk run`, only on a terminal, or wherever an agent is
    #: made (what makes a run faster and changes nothing else).
    autostart: Literal["never", "run", "terminal", "always"] = "never"

    def load(self) -> Callable[..., Any]:
        """The factory itself, imported now."""
        if not isinstance(self.factory, str):
            return self.factory
        module, _, path = self.factory.partition(":")
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
        return found  # type: ignore[no-any-return]
