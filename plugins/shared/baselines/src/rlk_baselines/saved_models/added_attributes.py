"""Attributes that a program has added to a model, `model.stage = 3`, in the model's file.

A file holds those that JSON gives back: numbers, strings, booleans, None, and lists and dicts of
them. Names that begin with an underscore, and those of the model itself, are left out, so that no
file replaces a method or chooses where something is written.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rlk.documents import check_depth, check_size
from rlk.errors import BadFile
from rlk.program_warnings import warn_program
from rlk_baselines.arguments import plain_number

if TYPE_CHECKING:
    from rlk_baselines.common.base_class import BaseRLModel


def in_a_file(model: BaseRLModel, exclude: Iterable[str] = ()) -> dict[str, Any]:
    """The attributes that a file holds; warns of those that it cannot hold.

    Args:
        model: the model.
        exclude: the names of attributes to leave out, without a warning.
    """
    own = _names_of_the_model(model)
    added = {
        name: plain_number(value)
        for name, value in vars(model).items()
        if not name.startswith("_") and name not in own and name not in {*exclude}
    }
    plain = {name: value for name, value in added.items() if _is_plain(value)}
    if lost := sorted(added.keys() - plain.keys()):
        warn_program(
            f"{type(model).__name__}.save: the file does not hold {', '.join(lost)}. Of attributes "
            "that a program adds, it holds numbers, strings, booleans, None, and lists and dicts "
            "of them; set the others again after load."
        )
    return plain


def restore(model: BaseRLModel, saved: Any) -> None:
    """Give a loaded model the attributes of its file; warns of names that are the model's own.

    Raises:
        BadFile: unless `saved` has the form of what `in_a_file` returns.
    """
    if not isinstance(saved, Mapping) or not _is_plain(dict(saved)):
        raise BadFile(f"the saved model is damaged: its attributes are {saved!r:.80}.")
    own = _names_of_the_model(model)
    taken = sorted(name for name in saved if name.startswith("_") or name in own)
    if taken:
        warn_program(
            f"{type(model).__name__}.load: the file has attributes by names that the model has "
            f"itself, which are left out: {', '.join(taken)}."
        )
    vars(model).update({name: value for name, value in saved.items() if name not in taken})


def _names_of_the_model(model: BaseRLModel) -> set[str]:
    """The names of the constructor's arguments, and of what the classes of rlk have."""
    kinds = [kind for kind in type(model).__mro__ if kind.__module__.startswith("rlk_")]
    annotated = {name for kind in kinds for name in inspect.get_annotations(kind)}
    return {*model._given, *dir(kinds[0]), *annotated}


def _is_plain(value: Any) -> bool:
    """Whether JSON of the size that a file may have gives a value back as it is."""
    try:
        text = json.dumps(value)
        check_size(text.encode())
        check_depth(value)
        return bool(json.loads(text) == value)
    except (TypeError, ValueError, RecursionError):
        return False
