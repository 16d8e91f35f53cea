"""Where a run computes: the torch device, the number of threads, and how memory is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

from rlk import spaces
from rlk.errors import PlanError

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.running.run import Run

#: Networks up to this many parameters train faster on one thread.
ONE_THREAD_MAX_PARAMETERS = 1_000_000
#: Freeing a block of this size once makes glibc keep up to twice as much for the process.
_KEPT_BYTES = 31 << 20


@contextmanager
def on_threads(number: int) -> Iterator[None]:
    """Compute on so many of torch's threads; on one, the last bit is the same on any machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def threads_of(run: Run) -> int:
    """How many of torch's threads a run trains on.

    They are those of the plan; else one for a small network that sees no images, and for others as
    many as the program has.
    """
    is_small = run.parameters.flat.numel() <= ONE_THREAD_MAX_PARAMETERS
    is_fastest_on_one = is_small and not spaces.sees_images(run.plan.policy_space)
    return run.plan.n_threads or (1 if is_fastest_on_one else torch.get_num_threads())


def set_threads(run: Run) -> None:
    """Compute on the threads of a run from now on, in a process that does nothing else."""
    torch.set_num_threads(threads_of(run))


def takes_gpu(plan: Plan) -> bool:
    """Whether a run is to take a GPU if there is one, and any: `cuda`, or `auto` with images."""
    images = plan.device == "auto" and spaces.sees_images(plan.policy_space)
    return images or plan.device == "cuda"


def choose_device(plan: Plan) -> str:
    """The torch device; `auto` takes a GPU only where it is faster, which is for images.

    Raises:
        PlanError: if torch does not know the device, or this machine does not have it.
    """
    if plan.device == "auto":
        return "cuda" if takes_gpu(plan) and torch.cuda.is_available() else "cpu"
    try:
        torch.device(plan.device)
    except RuntimeError:
        raise PlanError(
            f"there is no device {plan.device!r}. Use auto, cpu, cuda, cuda:1 or another one by "
            "torch's name."
        ) from None
    try:
        torch.zeros(1, device=plan.device).item()  # raises on a device without memory
    except (RuntimeError, AssertionError) as error:
        cause = str(error).splitlines()[0]
        raise PlanError(
            f"device {plan.device!r} cannot be used: {cause.rstrip('.')}. Use --device cpu, or "
            'device="cpu" in a program.'
        ) from None
    return plan.device


def keep_memory() -> None:
    """Let glibc keep freed memory, which need not be mapped again.

    It saves SAC 200 page faults per step.
    """
    torch.empty(_KEPT_BYTES, dtype=torch.uint8)
