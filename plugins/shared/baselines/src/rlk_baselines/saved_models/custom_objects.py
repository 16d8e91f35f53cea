"""The argument `custom_objects` of `load`: values that replace those in a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rlk.program_warnings import warn_program
from rlk.restoring.saved_spaces import same_sizes, space_of
from rlk.spaces import describe, plain_space
from rlk_baselines.refusals import Refused
from rlk_old_gym.spaces import as_gymnasium_space

#: Names that are in every file, but are not constructor arguments.
SPACES = ("observation_space", "action_space")


def with_use(model: str, custom_objects: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """The custom objects that are constructor arguments; warns about any others.

    Args:
        model: the name of the model class.
        custom_objects: as they were passed, without the spaces.
        known: the names of the constructor arguments.
    """
    if unknown := sorted(custom_objects.keys() - {*known}):
        warn_program(
            f"{model}.load: custom_objects that are not arguments of the constructor have no "
            f"effect: {', '.join(unknown)}."
        )
    return {name: value for name, value in custom_objects.items() if name not in unknown}


def spaces_apart(custom_objects: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split custom objects into spaces, which replace those of the file, and the rest."""
    spaces = {
        name: as_gymnasium_space(custom_objects[name], f"custom_objects[{name!r}]")
        for name in SPACES
        if custom_objects.get(name) is not None
    }
    return spaces, {key: value for key, value in custom_objects.items() if key not in SPACES}


def refuse_other_sizes(model: str, given: Mapping[str, Any], saved: Mapping[str, Any]) -> None:
    """Raise Refused for spaces of another kind or size than those that the networks are for.

    Args:
        model: the name of the model class.
        given: the spaces in custom_objects.
        saved: what the file says of the model; None in place of a space that no file can hold.
    """
    for name, space in given.items():
        there = space_of(saved[name]) if saved[name] else None
        if there is not None and not same_sizes(plain_space(space), there):
            raise Refused(
                f"{model}.load: custom_objects has {name} {describe(space)}, and the saved "
                f"networks are for {describe(there)}. Pass a space of this size, or make a new "
                "model."
            )
