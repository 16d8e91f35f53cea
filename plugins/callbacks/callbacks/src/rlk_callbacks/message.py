"""Messages of callbacks to the user during training."""

from __future__ import annotations

import sys


def print_message(callback: str, text: str) -> None:
    """Print on stderr; a progress bar stays below what is printed there."""
    print(f"{callback}: {text}", file=sys.stderr, flush=True)
