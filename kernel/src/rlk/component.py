"""The component record: what an entry point names, and all that planning needs to know of a plugin.

A component lives in a module that imports no torch; its factory is imported when a run is built.
That is why listing, `--help`, `--explain` and every refusal cost milliseconds.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import attrs

Collects = Literal["on-policy", "off-policy", "both", "offline"]
Stage = Literal["choose", "window", "relabel", "fold"]

#: The order in which the sampling stages of a replay storage run.
STAGES: tuple[Stage, ...] = ("choose", "window", "relabel", "fold")
NAME = attrs.validators.matches_re(r"[A-Za-z][A-Za-z0-9._-]*")


def _is_none_or_callable(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if value is not None and not callable(value):
        raise ValueError(f"{attribute.name} must be a function or None, got {value!r}")


def _is_factory(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if not callable(value) and not (isinstance(value, str) and value.count(":") == 1):
        raise ValueError(f"{attribute.name} must be callable or 'module:object', got {value!r}")


def _is_config(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if value is not None and not (isinstance(value, type) and attrs.has(value)):
        raise ValueError(
            f"{attribute.name} must be an attrs class (@attrs.frozen) or None, got {value!r}"
        )


@attrs.frozen(kw_only=True)
class Component:
    """What a plugin offers under one name."""

    #: What a user types; an entry point of another name is an alias.
    name: str = attrs.field(validator=NAME)
    #: What makes one: a class or a function, or where it is, as "module:object".
    factory: str | Callable[..., Any] = attrs.field(validator=_is_factory)
    #: One line for `rlk plugins list`.
    summary: str = ""
    #: What other libraries call it (`EvalCallback`): who types that is told its own name.
    known_as: tuple[str, ...] = ()
    #: The attrs class of its settings; its module must not import torch.
    config: type | None = attrs.field(default=None, validator=_is_config)
    #: Settings that this name fixes (`LnMlpPolicy` is `mlp` with `layer_norm`).
    own: Mapping[str, Any] = attrs.field(factory=dict)
    #: What it wants elsewhere: a slot (`"policy": "mlp"`, or for `"distribution"` one name per
    #: action space), the optimiser of one parameter group (`"vf_optimiser": "adam"`), a setting of
    #: a slot (`"policy.act_fun": "relu"`), of a component that may be put in, by its name, or one
    #: of the run (`"n_envs": 8`).
    defaults: Mapping[str, Any] = attrs.field(factory=dict)

    # ---- settings of an algorithm that concern other components ----------------------------------

    #: Own setting -> another component's, as `"prioritized-replay.alpha"`, or several of them: the
    #: value is used there when that component is in the run; setting both to different values is
    #: an error. A recipe has it too: what a user sets is that other setting, by a shorter name.
    #: Several may have one target: they are names of one setting.
    forwards: Mapping[str, str | tuple[str, ...]] = attrs.field(factory=dict)
    #: Own setting -> the plugin that it puts in unless it is False or None (`prioritized_replay`),
    #: into a slot too (`use_sde`: a distribution). The setting becomes True when that plugin is
    #: put in by name.
    activates: Mapping[str, str] = attrs.field(factory=dict)
    #: Own text setting -> the kind of the plugin that it names (`action_noise`: `noises`).
    selects: Mapping[str, str] = attrs.field(factory=dict)

    # ---- what it goes together with --------------------------------------------------------------

    #: What comes with every Update of an algorithm (`td_error`), or what another one provides.
    reports: tuple[str, ...] = ()
    #: What the algorithm must report for this component to work.
    needs: tuple[str, ...] = ()
    #: The class names of Gymnasium's action spaces that it serves; empty: any.
    action_spaces: tuple[str, ...] = ()
    #: Likewise for observations; "Image" is a Box that holds an image, and what
    #: `spaces.kinds` says may be one.
    observation_spaces: tuple[str, ...] = ()
    #: How an algorithm learns; which algorithms a storage serves: None is any. An algorithm that is
    #: `both` learns from the latest collection and from sequences of earlier ones.
    collects: Collects | None = None
    #: Whether an algorithm trains recurrent policies, or a policy is one.
    recurrent: bool = False
    #: Whether the policy of an algorithm gives one action for an observation, by an actor that
    #: takes another policy in its place (`abilities.FollowsPolicy`).
    deterministic: bool = False
    #: The sampling stages that a decorating storage takes; a base storage has none.
    stages: tuple[Stage, ...] = ()
    #: What a wrapper wraps: one environment, or the vector of them. A vector backend of the scope
    #: `vector` makes environments only together: its vector says which spaces one has, and wrappers
    #: of one environment go around it in their vector forms (`abilities.WrapsVectors`). A noise of
    #: the scope `policy` changes the policy that acts, which has to be deterministic: it is the
    #: innermost noise, and there is one.
    scope: Literal["env", "vector", "policy"] = "env"

    #: Of a wrapper that makes one of Gymnasium's of an environment with another interface:
    #: `adapts(env)` says whether it is meant for that one. A run without it is refused then, and
    #: the error names it.
    adapts: Callable[[Any], bool] | None = attrs.field(default=None, validator=_is_none_or_callable)

    #: `check(config, plan)`, called while planning: it raises PlanError where settings and plan do
    #: not go together in a way that no other field says (a batch that no collection gives).
    check: Callable[[Any, Any], None] | None = attrs.field(
        default=None, validator=_is_none_or_callable
    )

    #: What answers hooks in every run that it is a part of, called with its config, if it has one:
    #: a class or a function, or where it is. Extensions, callbacks and loggers answer themselves.
    hooks: str | Callable[..., Any] | None = attrs.field(
        default=None, validator=attrs.validators.optional(_is_factory)
    )

    # ---- how it gets into a run ------------------------------------------------------------------

    #: Its kind, where no entry point says it (a component in `--plugin ./file.py`).
    kind: str | None = None
    #: Whether it runs code that a name or a file points to; no saved model is made through it.
    runs_code: bool = False
    #: When it is active without being asked for: in every run with a folder (`run`), in every one
    #: that prints (`verbose`), in one that prints where a person watches a terminal (`terminal`),
    #: or wherever an agent is made (`always`, for what makes a run faster and changes nothing
    #: else).
    autostart: Literal["never", "run", "verbose", "terminal", "always"] = "never"

    def forwarded(self) -> Iterator[tuple[str, str]]:
        """Every pair of an own setting and one of another component that has its value."""
        for key, targets in self.forwards.items():
            for target in (targets,) if isinstance(targets, str) else targets:
                yield key, target

    def load(self) -> Callable[..., Any]:
        """The factory itself, imported now."""
        return _imported(self.factory)

    def load_hooks(self) -> Callable[..., Any] | None:
        """What makes its hooks, imported now; None where it has none."""
        return None if self.hooks is None else _imported(self.hooks)


def _imported(place: str | Callable[..., Any]) -> Callable[..., Any]:
    if not isinstance(place, str):
        return place
    module, _, path = place.partition(":")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]
