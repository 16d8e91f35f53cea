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

#: Networks up to this many parameters train faster on one thread.
ONE_THREAD_MAX_PARAMETERS = 1_000_000
#: Freeing a block of this size once makes glibc keep up to twice as much for the process.
_KEPT_BYTES = 31 << 20


class Threads:
    """Torch's threads, a number of the whole process that every run sets for itself."""

    def __init__(self) -> None:
        self._of_program = self._of_run = torch.get_num_threads()

    def set(self, n_threads: int | None) -> None:
        """Set their number; None is the program's own, whatever an earlier run has set."""
        now = torch.get_num_threads()
        if now != self._of_run:  # the program has set it since
            self._of_program = now
        self._of_run = n_threads or self._of_program
        torch.set_num_threads(self._of_run)


_threads = Threads()


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread, so that the last bit does not depend on how many there are."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


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


def refuse_other_floats() -> None:
    """PlanError if the program has set another default dtype of torch than float32."""
    found = torch.get_default_dtype()
    if found is not torch.float32:
        raise PlanError(
            f"torch's default dtype is {found}, and policies, observations and losses are "
            "torch.float32 here. Call torch.set_default_dtype(torch.float32) before an agent is "
            "made or loaded, and as long as it learns."
        )


def set_threads(plan: Plan, parameters: torch.Tensor) -> None:
    """Set torch's threads to those of a run, which begins to compute.

    They are those of the plan; else one for a small network that sees no images, and for others as
    many as the program has.

    Args:
        plan: of the run.
        parameters: [P], all of its policy.
    """
    is_small = parameters.numel() <= ONE_THREAD_MAX_PARAMETERS
    is_fastest_on_one = is_small and not spaces.sees_images(plan.policy_space)
    _threads.set(plan.n_threads or (1 if is_fastest_on_one else None))


def keep_memory() -> None:
    """Let glibc keep freed memory, which need not be mapped again.

    It saves SAC 200 page faults per step.
    """
    torch.empty(_KEPT_BYTES, dtype=torch.uint8)
