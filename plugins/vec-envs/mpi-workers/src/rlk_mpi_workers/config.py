"""The settings of the backend `mpi-workers`."""

from __future__ import annotations

import attrs

from rlk.settings import above, documented, setting


@documented
@attrs.frozen(kw_only=True)
class MpiWorkersConfig:
    """How long the learner waits; the number of workers is set by `mpirun`."""

    timeout_seconds: float | None = attrs.field(
        default=600.0,
        **setting(
            "seconds that a rank may take for an answer (to make its environments, "
            "for one step of all of them), above 0; after that, an error names the "
            "environment that hangs and the job ends; none waits forever",
            above(0.0, or_none=True),
        ),
    )
