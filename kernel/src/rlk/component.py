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


def _is_factory(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if not callable(value) and not (isinstance(value, str) and value.count(":") == 1):
        raise ValueError(
            f"{attribute.name} must be a callable or 'package.module:object', got {value!r}"
        )


@attrs.frozen(kw_only=True)
class Component:
    """What a plugin offers under one name.

    Attributes:
        name: what a user types. An entry point of another name is an alias.
        factory: class or function, or `"package.module:object"`; imported when a plan is built.
        summary: one line for `rlk plugins list`.
        config: the attrs class of its settings, or None if it has none. It must import no torch.
        own: settings that this name fixes (`LnMlpPolicy` is `mlp` with `layer_norm`).
        defaults: what it wants elsewhere: a slot (`"policy": "mlp"`, or one name per action space
            for `"distribution"`), the optimiser of one parameter group (`"vf_optimiser": "adam"`),
            a setting of a slot (`"policy.act_fun": "relu"`), or one of the run (`"n_envs": 8`).
        feeds: own setting -> another component's, as `"prioritized-replay.alpha"`: the value moves
            there when that one is in the plan; both set and different is an error.
        switches: own boolean setting -> name of the plugin it puts in (`prioritized_replay`); own
            text setting -> the kind of the plugin that it names (`action_noise`: `noises`).
        reports: what an algorithm gives with every Update (`td_error`), what a storage provides.
        needs: what a storage, wrapper or extension must have reported to it.
        action_spaces: class names of the Gymnasium spaces it serves; empty: it does not care.
        observation_spaces: likewise. `"Image"` stands for a Box that holds an image.
        collects: how an algorithm gathers experience; for a storage, which algorithms it serves.
        recurrent: an algorithm that can train recurrent policies, or a policy that is one.
        stages: the sampling stages that a decorating storage takes; a base storage has none.
        scope: whether a wrapper wraps one environment or the vector of them.
        kind: its kind, where no entry point says it (a component in `--plugin ./file.py`).
        autostart: active without being asked for: in any `rlk run`, or only on a terminal."""

    name: str = attrs.field(validator=attrs.validators.matches_re(r"[A-Za-z][A-Za-z0-9._-]*"))
    factory: str | Callable[..., Any] = attrs.field(validator=_is_factory)
    summary: str = ""
    config: type | None = None
    own: Mapping[str, Any] = attrs.field(factory=dict)
    defaults: Mapping[str, Any] = attrs.field(factory=dict)
    feeds: Mapping[str, str] = attrs.field(factory=dict)
    switches: Mapping[str, str] = attrs.field(factory=dict)
    reports: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    action_spaces: tuple[str, ...] = ()
    observation_spaces: tuple[str, ...] = ()
    collects: Collects | None = None
    recurrent: bool = False
    stages: tuple[Stage, ...] = ()
    scope: Literal["env", "vector"] = "env"
    kind: str | None = None
    autostart: Literal["never", "run", "terminal"] = "never"

    def load(self) -> Callable[..., Any]:
        """The factory itself, imported now."""
        if not isinstance(self.factory, str):
            return self.factory
        module, _, path = self.factory.partition(":")
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
        return found  # type: ignore[no-any-return]
