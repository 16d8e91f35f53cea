"""A terminal that keeps what is printed on it."""

from __future__ import annotations

import io


class Screen(io.StringIO):
    """A text stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True
