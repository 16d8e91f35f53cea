"""Recognises the errors of Python, numpy, torch and rlk for memory that cannot be allocated."""

from __future__ import annotations

from rlk.errors import OutOfMemory

#: What errors of torch and numpy say if memory could not be allocated, or its size overflows.
_NO_MEMORY = (
    "OutOfMemory",
    "can't allocate memory",
    "Storage size calculation overflowed",
    "Maximum allowed dimension exceeded",
    "array is too big; ",
)


def lacks_memory(error: BaseException) -> bool:
    """Whether memory could not be allocated."""
    names = (type(error).__name__, str(error))
    said = any(words in name for words in _NO_MEMORY for name in names)
    return isinstance(error, MemoryError | OutOfMemory) or said
