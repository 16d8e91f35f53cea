"""The hooks of `--plugin compile`, and its messages."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rlk.abilities import RefusesTracing, offers
from rlk.hookspecs import UpdateFunction, WrapsUpdate, hookimpl
from rlk.terminal import print_on
from rlk_compile.collective import Traceable
from rlk_compile.config import CompileConfig
from rlk_compile.passes import why_unknown
from rlk_compile.update import CompiledUpdate

if TYPE_CHECKING:
    from torch import nn

    from rlk.planning.plan import Plan
    from rlk.protocols import Communicator, State
    from rlk.running.run import Run

#: The conditions of compiled updates are checked after collections of so many timesteps.
TIMESTEPS = 4_000


class Compile:
    """Compiles `algorithm.update` at the first batch, without changes to the algorithm.

    If compiling fails, the run continues: the update runs eagerly, and the reason is printed.
    """

    def __init__(self, config: CompileConfig | None = None) -> None:
        self.config = config or CompileConfig()
        self.update: CompiledUpdate | None = None
        self._logged = 0.0
        self._period = 0
        self._told = 0

    @hookimpl
    def rlk_check_plan(self, plan: Plan) -> str | None:
        """Check that every named pass exists, even if the backend uses none."""
        return why_unknown(self.config.passes or (), plan.kernel)

    @hookimpl
    def rlk_wrap_communicator(self) -> Callable[[Communicator], Communicator]:
        """The communicator of several ranks, with a `mean` that can be part of a graph."""
        return lambda made: Traceable(made) if made.size > 1 else made

    @hookimpl
    def rlk_wrap_update(self, run: Run) -> WrapsUpdate | None:
        reason, plan = _why_untraceable(run.policy), run.plan
        if reason is not None:
            title = f"the update of {plan.algorithm.name} runs eagerly"
            _say(run, f"{title}: {plan.policy.title} {reason.rstrip('.')}.")
            return None

        def wrap(update: UpdateFunction) -> CompiledUpdate:
            self.update = CompiledUpdate(update, run, self.config, lambda text: _say(run, text))
            return self.update

        return wrap

    @hookimpl
    def rlk_training_start(self) -> None:
        if self.update is not None:
            self.update.training_starts()

    @hookimpl
    def rlk_rollout_end(self, run: Run) -> None:
        """A callback may have changed what the updates depend on.

        To compare it takes a millisecond or two, so it is not done after every collection, for one
        may be a single step.
        """
        period = run.timesteps // TIMESTEPS
        if self.update is not None and period != self._period:
            self._period = period
            self.update.check_soon()

    @hookimpl
    def rlk_log(self, row: dict[str, float]) -> None:
        seconds = 0.0 if self.update is None else self.update.seconds
        if seconds != self._logged:
            self._logged = row["time/compile_seconds"] = seconds

    @hookimpl
    def rlk_training_end(self, run: Run) -> None:
        update = self.update
        if update is None or update.eager_calls == self._told:
            return
        self._told = update.eager_calls
        # Two kinds may have one size.
        sizes = " or ".join(dict.fromkeys(str(size) for _, size in update.reports))
        if update.eager_calls > update.unlike_calls:
            _say(
                run,
                f"{update.eager_calls - update.unlike_calls:,} of {update.calls:,} updates had "
                f"another batch size than {sizes} and ran eagerly; "
                f"compile:sizes={self.config.sizes + 1} compiles one more.",
            )
        if update.unlike_calls:
            _say(
                run,
                f"{update.unlike_calls:,} of {update.calls:,} updates had batches of another "
                "structure (class, keys, None, numbers, dtypes or strides) than the compiled one, "
                "and ran eagerly. If they alternate, give each kind a batch.key of its own.",
            )

    @hookimpl
    def rlk_save(self) -> State | None:
        return None if self.update is None else self.update.state_dict()

    @hookimpl
    def rlk_load(self, state: State) -> None:
        if self.update is not None:
            self.update.load_state_dict(state)


def _why_untraceable(policy: nn.Module) -> str | None:
    """What the first module that cannot be traced says of itself; None if all may be tried."""
    for module in policy.modules():
        if offers(module, RefusesTracing):
            said: Any = module
            return str(said.untraceable)
    return None


def _say(run: Run, text: str) -> None:
    """Print to stderr, as callbacks do: a progress bar stays below the text."""
    if run.plan.verbose and run.communicator.rank == 0:
        print_on(sys.stderr, f"compile: {text}")
