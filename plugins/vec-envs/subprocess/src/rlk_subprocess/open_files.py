"""The limit of open files, which many workers reach: the learner has one open for each."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator

from rlk.errors import EnvironmentFailed


@contextlib.contextmanager
def limit_is_named() -> Iterator[None]:
    """EnvironmentFailed, which says what to type, where this process may open no more files."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
        import resource  # not at the top: Windows does not have it

        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        raise EnvironmentFailed(
            f"the workers of 'subprocess' cannot be started: this process may open {limit:,} files "
            "(`ulimit -n`), and each worker takes one. Use fewer workers, "
            "--set subprocess.n_workers=K, or raise the limit: ulimit -n N"
        ) from error
