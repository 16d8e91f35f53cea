"""An info that tells which of its keys a method reads. Workers import this module, so no torch."""

from __future__ import annotations

from typing import Any


class KeyRead(Exception):
    """A method reads this key of a `TrialInfo`. It is no KeyError, which methods may catch."""


class TrialInfo(dict[str, float]):
    """An info of known keys; reading another one by its name raises `KeyRead`.

    A key that is read only if it is there (`get`, `in`) counts, too: without it, the method would
    compute another reward than in a step that had it.
    """

    def __missing__(self, key: str) -> float:
        raise KeyRead(key)

    def get(self, key: str, default: Any = None) -> Any:
        return self[key]

    def __contains__(self, key: Any) -> bool:
        if key not in self.keys():
            raise KeyRead(key)
        return True
