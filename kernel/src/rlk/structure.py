"""The contents of a file as a record, whose types are checked before they are used."""

from __future__ import annotations

from typing import Any, TypeVar

import cattrs

from rlk.errors import BadFile
from rlk.strict_types import strict_converter

Record = TypeVar("Record")

_converters = {
    known: strict_converter(forbid_extra_keys=known, detailed_validation=True)
    for known in (True, False)
}


def structured(
    record: type[Record], value: Any, what: str, *, only_known_keys: bool = True
) -> Record:
    """An attrs record of the contents of a file; types are checked strictly.

    Args:
        record: the class.
        value: nested dicts and lists.
        what: its name in the error.
        only_known_keys: whether a key that the record does not have is refused instead of ignored.

    Raises:
        BadFile: naming the first place where the value does not fit the record.
    """
    try:
        return _converters[only_known_keys].structure(value, record)
    except Exception as error:
        first = cattrs.transform_error(error, path=what, format_exception=_reason)[0]
        reason, _, where = first.rpartition(" @ ")
        raise BadFile(f"{where}: {reason}.") from None


def _reason(error: BaseException, _: Any) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing"
    if isinstance(error, cattrs.ForbiddenExtraKeysError):
        unknown = ", ".join(sorted(map(repr, error.extra_fields)))
        return f"{unknown} is not known here"
    if isinstance(error, ValueError) and error.args:
        return str(error.args[0]).rstrip(".")
    return f"{type(error).__name__}: {error}"
