"""What callbacks have to say while training goes on."""

from __future__ import annotations

import sys


def notice(callback: str, text: str) -> None:
    """Say it on stderr; a progress bar takes what is printed there and keeps itself below it."""
    print(f"{callback}: {text}", file=sys.stderr, flush=True)
