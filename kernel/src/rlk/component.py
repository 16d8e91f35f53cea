"""The component record: what an entry point names, and all that planning knows about a plugin.

A component lives in a module that imports no torch; its factory is imported when a run is built.
That is why listing, `--help`, `--explain` and every refusal take only milliseconds.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from string import Formatter
from typing import Any, Literal, get_args

import attrs

from rlk.errors import either

Collects = Literal["on-policy", "off-policy", "both", "offline"]
Stage = Literal["choose", "window", "relabel", "fold"]
Wraps = Literal["env", "vector"]
Autostart = Literal["never", "run", "verbose", "terminal", "always"]

#: The order in which the sampling stages of a replay storage run.
STAGES: tuple[Stage, ...] = ("choose", "window", "relabel", "fold")


def is_name(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    """An attrs validator for the name of a component."""
    check_name(attribute.name, value)


def check_name(what: str, value: object) -> None:
    """ValueError for what cannot be the name of a component; `what` says what it is, a field."""
    if not (isinstance(value, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]*", value)):
        raise ValueError(
            f"{what} must begin with a letter, followed by letters, digits, '.', '_' or "
            f"'-', got {value!r:.80}"
        )


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


def _is_one_of(words: tuple[Any, ...]) -> Callable[..., None]:
    """A validator for a field that has one of these values."""

    def validator(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
        if value not in words:
            raise ValueError(f"{attribute.name} must be {either(words)}, got {value!r}")

    return validator


def _are_texts(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if value == ():  # usual, and several hundred fields are looked at whenever `rlk` starts
        return
    name = attribute.name
    if isinstance(value, str):
        raise ValueError(f"{name} must be a tuple, got a text. Write a comma: {name}=({value!r},)")
    if not isinstance(value, (tuple, list)) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"{name} must be a tuple of texts, got {value!r}")


def _maps_texts(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    pairs = value.items() if isinstance(value, Mapping) else [(value, None)]
    if not all(isinstance(one, str) for pair in pairs for one in pair):
        raise ValueError(f"{attribute.name} must map texts to texts, got {value!r:.80}")


def _are_templates(_: object, attribute: attrs.Attribute[Any], value: Mapping[str, str]) -> None:
    for word, text in value.items():
        where = f"{attribute.name} {word!r}: {text!r:.80}"
        try:
            parts = [*Formatter().parse(text)]
        except ValueError as error:
            raise ValueError(f"{where}: {error}. Double a brace that is text") from None
        for _, field, form, conversion in parts:
            if field is not None and (not field.isidentifier() or form or conversion):
                raise ValueError(
                    f"{where} has a field that is no word such as {{value}}. Double a brace that "
                    "is text"
                )


def _are_stages(_: object, attribute: attrs.Attribute[Any], value: tuple[str, ...]) -> None:
    for one in value:
        if one not in STAGES:
            raise ValueError(f"{attribute.name} may have {', '.join(STAGES)}, got {one!r}")


@attrs.frozen(kw_only=True)
class Component:
    """What a plugin offers under one name."""

    #: What a user types; an entry point of another name is an alias. A part of a run has a name
    #: without dots, which is no slot's (`kinds.why_unusable`): `NAME.KEY` is one of its settings.
    name: str = attrs.field(validator=is_name)
    #: A class or function that makes one, or its place as "module:object".
    factory: str | Callable[..., Any] = attrs.field(validator=_is_factory)
    #: One line for `rlk plugins list`.
    summary: str = ""
    #: Its names in other libraries (`EvalCallback`): an error for such a name shows its own name.
    known_as: tuple[str, ...] = attrs.field(default=(), validator=_are_texts)
    #: What other libraries have for its settings, for errors: their word -> what to type behind
    #: `--plugin NAME:`, where `{value}` is the value given and `{other}` that of another word.
    #: `"learning_rate": "actor_lr={value}"` has another name here, `"ortho_init=False":
    #: "init=uniform"` is for one value, `"net_arch={…}"` for tables and lists with one,
    #: `"net_arch=[…lstm…]"` for lists with that text (`[…{…}…]`: with a table), and "" only puts
    #: it in. A text with a full stop at its end is a sentence, said as it is but for such
    #: fields. Braces that are text are doubled: `{{`. The words of an algorithm count in its own
    #: runs, except for the names of other ones: `"algo=qrdqn"`.
    instead_of: Mapping[str, str] = attrs.field(
        factory=dict, validator=[_maps_texts, _are_templates]
    )
    #: The attrs class of its settings; its module must not import torch.
    config: type | None = attrs.field(default=None, validator=_is_config)
    #: Its settings with another default under this name (`LnMlpPolicy` is `mlp` with `layer_norm`).
    own_defaults: Mapping[str, Any] = attrs.field(factory=dict)
    #: Of an algorithm alone (others have `rlk_configure` to propose settings): its
    #: defaults for the rest of the run: the component of a slot (`"policy": "mlp"`, or for
    #: `"distribution"` one name per action space), the optimiser of one parameter group
    #: (`"vf_optimiser": "adam"`), a setting of a slot (`"policy.act_fun": "relu"`) or of a
    #: component that may be put in, by its name, or a setting of the run (`"n_envs": 8`).
    defaults: Mapping[str, Any] = attrs.field(factory=dict)

    # ---- settings of an algorithm that concern other components ----------------------------------

    #: Own setting -> another component's, as `"prioritized-replay.alpha"`, that of whatever fills a
    #: slot and has it (`"storage.buffer_size"`), or several of them: the value is used there when
    #: such a component is in the run; setting both to different values is an error. In a recipe, a
    #: key is a shorter name of the setting that it is forwarded to. Several keys may have the same
    #: target: they are names of one setting.
    forwards: Mapping[str, str | tuple[str, ...]] = attrs.field(factory=dict)
    #: Own setting -> the plugin that it puts in unless it is False or None (`prioritized_replay`);
    #: the plugin may fill a slot (`use_sde`: a distribution). The setting becomes True when that
    #: plugin is put in by name. A setting that nobody sets counts with its config's default, here
    #: and in `selects`.
    activates: Mapping[str, str] = attrs.field(factory=dict)
    #: Own text setting -> the kind of the plugin that it names (`action_noise`: `noises`).
    selects: Mapping[str, str] = attrs.field(factory=dict)

    # ---- what it is compatible with --------------------------------------------------------------

    #: What every Update of an algorithm reports (`td_error`), or what another component provides.
    reports: tuple[str, ...] = attrs.field(default=(), validator=_are_texts)
    #: What the algorithm must report for this component to work.
    needs: tuple[str, ...] = attrs.field(default=(), validator=_are_texts)
    #: The class names of Gymnasium's action spaces that it supports; empty: any.
    action_spaces: tuple[str, ...] = attrs.field(default=(), validator=_are_texts)
    #: Likewise for observations; "Image" is a Box that holds an image, or may hold one according
    #: to `spaces.kinds`.
    observation_spaces: tuple[str, ...] = attrs.field(default=(), validator=_are_texts)
    #: How an algorithm learns, or which algorithms a storage supports (None: any). An algorithm
    #: that is `both` learns from the latest collection and from sequences of earlier ones; one that
    #: is `offline` makes passes over a storage that has its data. What samples a replay that other
    #: data has filled is `off-policy`, with a collector that steps nothing.
    collects: Collects | None = attrs.field(
        default=None, validator=_is_one_of((*get_args(Collects), None))
    )
    #: Whether a collector steps no environment: its algorithm learns from what the storage holds,
    #: and `log_interval` counts iterations, because no episode ends.
    steps_nothing: bool = False
    #: Whether an algorithm trains recurrent policies, or a policy is one.
    recurrent: bool = False
    #: Whether an algorithm's actor accepts another policy (`abilities.FollowsPolicy`), because its
    #: action is a function of policy and observation. A greedy actor with a carry is no such one.
    deterministic: bool = False
    #: The sampling stages that a decorating storage takes; a base storage has none.
    stages: tuple[Stage, ...] = attrs.field(default=(), validator=[_are_texts, _are_stages])
    #: What a wrapper wraps: one environment, or the vector of them.
    wraps: Wraps = attrs.field(default="env", validator=_is_one_of(get_args(Wraps)))
    #: Whether a vector backend makes environments only together: the spaces of one are found from
    #: its vector, and wrappers of one environment wrap it in their vector forms
    #: (`abilities.WrapsVectors`).
    makes_only_vectors: bool = False
    #: Whether a noise changes the policy that acts, which must be deterministic, instead of the
    #: action: it is the innermost noise, and a run has at most one.
    perturbs_policy: bool = False
    #: For a wrapper of one environment: whether the return of an episode stays what it is inside of
    #: it, or is reported in its last info (`rlk.episode_ends`). Otherwise a run adds up the rewards
    #: inside of it, to report them.
    keeps_returns: bool = False

    #: For a wrapper that adapts environments of another interface to Gymnasium's: `adapts(env)`
    #: says whether this environment is such a one. A run in it without the wrapper is refused, and
    #: the error names the wrapper.
    adapts: Callable[[Any], bool] | None = attrs.field(default=None, validator=_is_none_or_callable)

    #: `check(config, plan)`, called while planning: it raises PlanError for conflicts of settings
    #: and plan that no other field describes (a batch that no collection fills). If its message
    #: names a setting with its value (`n_steps=16`) that a preset or a plugin proposed, a line says
    #: who did.
    check: Callable[[Any, Any], None] | None = attrs.field(
        default=None, validator=_is_none_or_callable
    )

    #: A class or function, or its place, called with the component's config, if it has one: it
    #: makes the object that implements hooks in every run with this component, of an algorithm or
    #: what fills a slot all but `rlk_configure`. Extensions, callbacks and loggers implement hooks
    #: themselves.
    hooks: str | Callable[..., Any] | None = attrs.field(
        default=None, validator=attrs.validators.optional(_is_factory)
    )

    #: What connects the processes that share a run, or its place: a function without arguments that
    #: does nothing in a process that was started alone. Planning calls it if the user or a file
    #: names the component (not by a place), before it judges any name or setting: the others would
    #: wait for ever for a process that is refused before they are connected.
    connects: str | Callable[..., Any] | None = attrs.field(
        default=None, validator=attrs.validators.optional(_is_factory)
    )

    # ---- how it gets into a run ------------------------------------------------------------------

    #: Its kind, where no entry point says it (a component in `--plugin ./file.py`).
    kind: str | None = attrs.field(
        default=None, validator=attrs.validators.optional(attrs.validators.instance_of(str))
    )
    #: Whether it runs code that a name or a file points to; saved models are never loaded by it.
    runs_code: bool = False
    #: Whether training alone needs it, as an extension that compiles updates or a wrapper that
    #: looks for NaN: a saved model acts without it where it is not installed. What fills a slot of
    #: training, as a storage does, need not say so.
    only_trains: bool = False
    #: When it is active by default: in every run with a folder (`run`), in every run that prints
    #: (`verbose`), in one that prints to a terminal (`terminal`), or wherever an agent is made
    #: (`always`, for components that make a run faster and change nothing else).
    autostart: Autostart = attrs.field(default="never", validator=_is_one_of(get_args(Autostart)))

    def forwarded(self) -> Iterator[tuple[str, str]]:
        """Every pair of an own setting and another component's setting that takes its value."""
        for key, targets in self.forwards.items():
            for target in (targets,) if isinstance(targets, str) else targets:
                yield key, target

    def load(self) -> Callable[..., Any]:
        """The factory itself, imported now."""
        return imported(self.factory)


def imported(target: str | Callable[..., Any] | None) -> Any:
    """A function or class that a component names, imported now if it is named by its place."""
    if not isinstance(target, str):
        return target
    module, _, path = target.partition(":")
    found = _module(module)
    for name in path.split("."):
        found = getattr(found, name)
    return found


def _module(name: str) -> Any:
    """The module, imported now.

    Python's global generator is left as it was: a library may draw from it in its import, as rich
    does, and the program's numbers would depend on which components print.
    """
    import random  # not at the top: planning does without it

    before = random.getstate()
    try:
        return importlib.import_module(name)
    finally:
        random.setstate(before)
