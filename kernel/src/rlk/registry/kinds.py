"""The kinds of components, and the slots of a run that they fill."""

from __future__ import annotations

from rlk.errors import nearest

#: Slots of a run, which hold one component each, except those in `STACKED`: the option that fills
#: the slot, and the kind of its component.
SLOTS = {
    "policy": "policies",
    "distribution": "distributions",
    "noise": "noises",
    "vec_env": "vec_envs",
    "storage": "storages",
    "collector": "collectors",
    "optimiser": "optimisers",
    "serializer": "serializers",
}
#: Slots that hold one component or several, each wrapped around the one before it.
STACKED = ("noise",)
#: Slots in which another component serves a saved model as well: training alone uses them, or, as
#: for `vec_env`, any will do. A part of training begins without the state of the one before it.
REPLACEABLE = ("vec_env", "storage", "collector", "optimiser", "serializer")
#: Kinds with any number of active components in a run.
LISTS = ("wrappers", "extensions", "callbacks", "loggers")
#: Kinds whose components are parts of a run, in which `NAME.KEY` is a setting of one.
OF_RUNS = ("algorithms", *SLOTS.values(), *LISTS)
#: Words with a meaning of their own before the dot of a setting (`policy.layers`) or the colon of a
#: plugin (`no:NAME`).
_WORDS = ("env", "no", "algorithm", *SLOTS)
#: Every kind that the kernel knows; plugins may add more with `Registries.add_kind`.
KINDS = (
    *("algorithms", "recipes", *SLOTS.values(), *LISTS),
    *("environments", "finders", "commands", "presets"),
)


def slot_of(kind: str) -> str:
    """The slot that components of a kind fill, or "" if they fill none."""
    return next((slot for slot, filled_by in SLOTS.items() if filled_by == kind), "")


def option_of(slot: str) -> str:
    """The option that fills a slot on the command line: `--vec-env`."""
    return f"--{slot.replace('_', '-')}"


def group_slot(group: str) -> str:
    """The slot of the optimiser of one parameter group: `vf_optimiser`."""
    return f"{group}_optimiser"


def is_group_slot(key: str) -> bool:
    """Whether a key names the optimiser of one parameter group, as `vf_optimiser` does."""
    return key.endswith("_optimiser")


def why_unusable(name: str, kind: str) -> str | None:
    """Why a component of that kind cannot have that name, because its settings have it as a prefix.

    None if it can. Commands have dots: `plugins.list` is `rlk plugins list`.
    """
    if kind not in OF_RUNS:
        return None
    if "." in name:
        other = name.replace(".", "-")
        return f"the name {name!r} has a dot, which only a setting may follow. Call it {other!r}"
    if name in _WORDS:
        words = ", ".join(_WORDS)
        return f"{name!r} means something else in a run ({words} do). Call it 'my-{name}'"
    return None


def singular(kind: str) -> str:
    """A kind as messages name one of its components: `storages` → `storage`, `policies` → `policy`.

    An underscore becomes a hyphen: `vec_envs` is `vec-env`, `compile_passes` is `compile-pass`.
    """
    name = kind.replace("_", "-")
    if name.endswith("ies"):
        return name.removesuffix("ies") + "y"
    return name.removesuffix("es") if name.endswith("sses") else name.removesuffix("s")


def misspelt(kind: str) -> str | None:
    """The kernel's kind that was probably meant, or None: plugins may have kinds of their own."""
    near = () if kind in KINDS else nearest(kind, KINDS)
    return near[0] if near else None
