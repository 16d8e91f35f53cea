"""The settings of the backend `subprocess`."""

from __future__ import annotations

from typing import Literal

import attrs
from attrs import validators

from rlk.settings import above, at_least, documented, setting

StartMethod = Literal["fork", "spawn", "forkserver"]


@documented
@attrs.frozen(kw_only=True)
class SubprocessConfig:
    """How many workers there are, and how they are started."""

    n_workers: int | None = attrs.field(
        default=None,
        **setting(
            "worker processes, at least 1, each with an equal share of the environments; "
            "none means as many as usable cores, at most one per environment",
            validators.optional([validators.instance_of(int), at_least(1)]),
        ),
    )
    start_method: StartMethod | None = attrs.field(
        default=None,
        **setting(
            "how workers are started: forkserver (the same as none), spawn, or fork; "
            "fork may deadlock if this process runs threads",
            validators.optional(validators.in_(("fork", "spawn", "forkserver"))),
        ),
    )
    timeout_seconds: float | None = attrs.field(
        default=600.0,
        **setting(
            "seconds that a worker may take for an answer (to make its environments, "
            "for one step of all of them), above 0, counted in whole seconds; after "
            "that, an error names the environment that hangs and the run ends; none "
            "waits forever",
            above(0.0, or_none=True),
        ),
    )
    restart_workers: bool = attrs.field(
        default=False,
        **setting(
            "whether a worker is replaced if it dies, hangs, or has an environment "
            "that raises in a step: its episodes are truncated, and "
            "rollout/worker_restarts counts it; else the run ends",
            validators.instance_of(bool),
        ),
    )
