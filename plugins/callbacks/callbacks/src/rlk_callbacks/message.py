"""Messages of callbacks to the user during training."""

from __future__ import annotations

import sys

from rlk.terminal import print_on


def print_message(callback: str, text: str) -> None:
    """Print on stderr; a progress bar stays below the text."""
    print_on(sys.stderr, f"{callback}: {text}")
