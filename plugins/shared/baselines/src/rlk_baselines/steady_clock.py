"""A clock that is not moved when somebody sets the system's clock.

Unlike differences of `time.monotonic`, those of its times are right in another process, too, in
which the state of an environment is restored.
"""

from __future__ import annotations

import time

_OFFSET = time.time() - time.monotonic()


def now() -> float:
    """Seconds since 1970, by the system's clock as it was when this module was imported."""
    return _OFFSET + time.monotonic()
