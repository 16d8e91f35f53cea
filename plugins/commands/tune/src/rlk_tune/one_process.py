"""Refuses a search that a launcher has started several times, as its jobs are its own processes."""

from __future__ import annotations

from collections.abc import Mapping

from rlk.errors import PlanError

#: Variables in which launchers say how many processes they started: those of MPICH, Open MPI and
#: MVAPICH, and torchrun.
SIZES = {
    "PMI_SIZE": "mpirun",
    "OMPI_COMM_WORLD_SIZE": "mpirun",
    "MV2_COMM_WORLD_SIZE": "mpirun",
    "WORLD_SIZE": "torchrun",
}


def refuse_several(environment: Mapping[str, str]) -> None:
    """Raise PlanError if a launcher started this process as one of several."""
    for name, launcher in SIZES.items():
        size = environment.get(name, "1")
        if size.isdigit() and int(size) > 1:
            raise PlanError(
                f"rlk tune was started {size} times, by {launcher} or another launcher "
                f"({name}={size}), and each would be a search of its own. Start it without a "
                f"launcher: rlk tune --jobs {size} … trains {size} trials at a time."
            )
