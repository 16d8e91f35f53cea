"""The settings of the backend `subprocess`."""

from __future__ import annotations

from typing import Literal

import attrs
from attrs import validators

from rlk_vector_environments.timeout import above_zero

StartMethod = Literal["fork", "spawn", "forkserver"]


@attrs.frozen(kw_only=True)
class SubprocessConfig:
    """How many workers there are, and how they are started."""

    n_workers: int | None = attrs.field(
        default=None,
        validator=validators.optional([validators.instance_of(int), validators.ge(1)]),
        metadata={
            "help": "worker processes, at least 1, each with an equal share of the environments; "
            "none means as many as usable cores, at most one per environment"
        },
    )
    start_method: StartMethod | None = attrs.field(
        default=None,
        validator=validators.optional(validators.in_(("fork", "spawn", "forkserver"))),
        metadata={
            "help": "how workers are started: forkserver (also none), spawn, or fork; "
            "fork may deadlock where this process runs threads"
        },
    )
    timeout_seconds: float | None = attrs.field(
        default=600.0,
        validator=above_zero,
        metadata={
            "help": "seconds that a worker may take for an answer (to make its environments, for "
            "one step of all of them), above 0, counted in whole seconds; after it the environment "
            "that hangs is named and the run ends; none waits for ever"
        },
    )
    restart_workers: bool = attrs.field(
        default=False,
        validator=validators.instance_of(bool),
        metadata={
            "help": "whether another worker takes the place of one that dies, hangs, or has an "
            "environment that raises in a step: the episodes it was in end as truncated, and it is "
            "counted (rollout/worker_restarts); else the run ends"
        },
    )
