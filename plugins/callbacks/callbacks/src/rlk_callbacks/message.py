"""Messages of callbacks to the user during training."""

from __future__ import annotations

import sys


def print_message(callback: str, text: str) -> None:
    """Print on stderr; a progress bar stays below the text."""
    print(f"{callback}: {text}", file=sys.stderr, flush=True)
