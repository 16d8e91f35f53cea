"""Parameters that a program moved, froze or replaced while a run exists.

Programs for PyTorch give a parameter other memory (`p.data = …`, `vector_to_parameters`), also from
callbacks. Its optimiser moves the flat tensor, so the parameter must be a part of that again before
it is trained, and a parameter that cannot be trained any more is refused.

One that was replaced is refused, too, where parameters are saved, read or set. The policy acts with
it and the optimiser moves the first one, so no set of values stands for both. Nor can the new value
be taken over in general: another layer may compute something else with it than a loaded model does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlk.running.run import Run

#: All parameters are looked at after collections of so many timesteps, one or several.
TIMESTEPS = 100


def adopt_parameters(run: Run) -> None:
    """Take moved parameters back into their flat tensors, with their new values.

    Raises:
        RlkError: for a parameter that was replaced by another one or unfrozen since the policy was
            made, or whose memory has another shape, dtype or device.
    """
    groups = run.optimise.groups.values()
    for owner in (run.parameters, *(group.owner for group in groups)):
        if owner is not None:
            owner.adopt()
    run.parameters.check()


def adopt_to_train(run: Run) -> None:
    """Likewise before parameters are trained; RlkError also if one was frozen since then."""
    adopt_parameters(run)
    for group in run.optimise.groups.values():
        group.check_trainable()


def adopt_after_collection(run: Run, began: int) -> None:
    """Likewise after a collection that began at this timestep.

    A collection may be a single step, in which there is no time to look at all parameters. So most
    short ones are followed by a look at the first, because programs move all of them together.
    """
    if began // TIMESTEPS < run.timesteps // TIMESTEPS:
        adopt_to_train(run)
    else:
        adopt_if_moved(run)


def adopt_if_moved(run: Run) -> None:
    """Take moved parameters of the policy back if the first one was moved: in half a microsecond.

    Raises:
        RlkError: if the memory of one has another shape, dtype or device.
    """
    parameters, flat = run.parameters.select()
    if parameters[0].data_ptr() != flat.data_ptr():
        run.parameters.adopt()
