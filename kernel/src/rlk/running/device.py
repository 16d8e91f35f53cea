"""Where a run computes: the torch device, the number of threads, and how memory is kept."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

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
    """Torch's threads, a number of the whole process that every run sets for itself.

    When the run that has set it last is closed, it is that of the open run before, which may be
    training; and when none is open, the program's own. Once the program has set another number,
    that stays until a run sets its own again.
    """

    def __init__(self) -> None:
        self._of_program = self._set = torch.get_num_threads()
        #: By open run that has set its own since the program did, the latest last; None is the
        #: program's number. It keeps no run alive.
        self._of_runs = WeakKeyDictionary[object, int | None]()
        self._lock = threading.Lock()

    def set(self, run: object, n_threads: int | None) -> None:
        """Set their number for a run; None is the program's own, whatever others have set."""
        with self._lock:
            if torch.get_num_threads() != self._set:  # the program has set it since
                self._of_program = torch.get_num_threads()
                self._of_runs.clear()
            self._of_runs.pop(run, None)
            self._of_runs[run] = n_threads
            self._use(n_threads)

    def give_back(self, run: object) -> None:
        """Set the number that they would have without this run, if it has set any."""
        with self._lock:
            had_set = run in self._of_runs
            self._of_runs.pop(run, None)
            if had_set and torch.get_num_threads() == self._set:
                self._use([None, *self._of_runs.values()][-1])

    def _use(self, n_threads: int | None) -> None:
        self._set = n_threads or self._of_program
        torch.set_num_threads(self._set)


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


def set_threads(run: object, plan: Plan, parameters: torch.Tensor) -> None:
    """Set torch's threads to those of a run, which begins to compute.

    They are those of the plan; else one for a small network that sees no images, and for others as
    many as the program has.

    Args:
        run: whose they are, until it gives them back.
        plan: of the run.
        parameters: [P], all of its policy.
    """
    is_small = parameters.numel() <= ONE_THREAD_MAX_PARAMETERS
    is_fastest_on_one = is_small and not spaces.sees_images(plan.policy_space)
    _threads.set(run, plan.n_threads or (1 if is_fastest_on_one else None))


def give_back_threads(run: object) -> None:
    """Set torch's threads to what they would be without this run."""
    _threads.give_back(run)


def keep_memory() -> None:
    """Let glibc keep freed memory, which need not be mapped again.

    It saves SAC 200 page faults per step.
    """
    torch.empty(_KEPT_BYTES, dtype=torch.uint8)
