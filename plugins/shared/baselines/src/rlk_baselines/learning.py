"""Calls callbacks, and writes rows of metrics, while a model learns.

`Watcher` is a plugin in the run of every model. What listens only during a call of `learn` it
passes to the agent as callbacks: so single steps are listened to only if there is a callback or
`tensorboard_log`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from rlk import hookimpl
from rlk.errors import NotFinite
from rlk.finite import finite
from rlk.planning.run_settings import checked_timesteps
from rlk.records import Step
from rlk_baselines.arguments import documented_class
from rlk_baselines.callback_variables import AccumulatedVariables, constants, shared
from rlk_baselines.common.callback_interface import stops
from rlk_baselines.log_rows.rows import Curves, Rows
from rlk_baselines.log_rows.tensorboard import ScalarWriter, folder_of_run
from rlk_baselines.refusals import Refused, refused

if TYPE_CHECKING:
    from rlk.running.metrics import Means
    from rlk.running.run import Run
    from rlk_baselines.common.base_class import BaseRLModel
    from rlk_baselines.common.callbacks import BaseCallback


#: What stores a step.
Add = Callable[[Step], None]
#: An interval that is longer than any run.
_NEVER = 2**31


@attrs.define
class Call:
    """The arguments of one call of `learn`, and what writes TensorBoard events during it."""

    total_timesteps: int
    callback: BaseCallback | None
    log_interval: int | None = attrs.field()
    tb_log_name: str = attrs.field()
    reset_num_timesteps: bool
    writer: ScalarWriter | None = None
    curves: Curves | None = None  #: writes to it independently of rows

    @log_interval.validator
    def _check_interval(self, _: Any, value: Any) -> None:
        is_whole = value is None or isinstance(value, Integral)
        if not is_whole or (value or 0) < 0:
            raise Refused(
                f"log_interval must be a whole number of at least 1, or 0 for never, got {value!r}."
            )

    @tb_log_name.validator
    def _check_name(self, _: Any, value: Any) -> None:
        if not isinstance(value, str):
            raise Refused(f"tb_log_name must be the name of a folder, got {value!r}.")

    def variables(self, model: BaseRLModel) -> dict[str, Any]:
        """The variables of `learn` that callbacks find in `locals` from the start."""
        names = ("total_timesteps", "callback", "log_interval", "tb_log_name", "writer")
        found = {name: getattr(self, name) for name in (*names, "reset_num_timesteps")}
        found |= {"self": model, "new_tb_log": model.num_timesteps == 0, "replay_wrapper": None}
        return found | constants(model, self.total_timesteps)


class _CallbackFailed(Exception):
    """Carries an OSError of a callback past the run, which tolerates those of its own writes."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


@contextlib.contextmanager
def _raising() -> Iterator[None]:
    """Make an OSError of a callback end `learn`: after a plain one, the run would continue."""
    try:
        yield
    except OSError as error:
        raise _CallbackFailed(error) from error


class CallbackHooks:
    """Calls the callback of one call of `learn`.

    Args:
        model: the model that learns.
        callback: its callback.
        variables: those of `learn`, for its `locals`; the variables of steps are added.
        losses: the means of the updates' metrics since they were last taken.

    Attributes:
        store: stores the step that waits for the callback, which may change its rewards.
    """

    def __init__(
        self, model: BaseRLModel, callback: BaseCallback, variables: dict[str, Any], losses: Means
    ) -> None:
        self._model, self._callback = model, callback
        self._variables, self._losses = variables, losses
        self._before = dataclasses.replace(model.agent.run.clock)
        self._accumulated: list[AccumulatedVariables] = []
        self.store: Add | None = None

    @hookimpl
    def rlk_training_start(self) -> None:
        self._accumulated = self._model.accumulated(self._before)
        globals_here = vars(sys.modules[documented_class(self._model).__module__])
        with _raising():
            self._callback.on_training_start(self._variables, globals_here)

    @hookimpl
    def rlk_rollout_start(self, run: Run) -> None:
        for variables in self._accumulated:
            variables.begin(run)
        with _raising():
            self._callback.on_rollout_start()

    @hookimpl
    def rlk_step(self, run: Run, step: Step) -> bool | None:
        """Call the callback, store the step, and return False if it stops the training."""
        infos = run.env.infos() if hasattr(run.env, "infos") else [{}] * run.n_envs
        found = shared(run, step, infos, self._before)
        step = step._replace(reward=found["rewards"])  # which the callback may change in place
        for variables in self._accumulated:
            variables.see(run, step, infos, found)
        self._variables.update(found)
        self._callback.update_locals(self._variables)
        try:
            is_last = stops(self._callback.on_step())
        finally:
            self._store(run, step)
        for variables in self._accumulated:
            variables.add(step, infos)
        return False if is_last else None

    def _store(self, run: Run, step: Step) -> None:
        """Store the step that was held back, with the rewards that the callback left."""
        store, self.store = self.store, None
        if store is None:
            return
        if not finite(step.reward):
            raise NotFinite(
                f"callback {type(self._callback).__name__} left rewards of {step.reward} at "
                f"timestep {run.timesteps}.\nNothing of this step was stored. Mend what it writes "
                "into self.locals['rewards']."
            )
        store(step)

    @hookimpl
    def rlk_rollout_end(self) -> None:
        for variables in self._accumulated:
            self._variables.update(variables.collected())
        self._callback.update_locals(self._variables)
        with _raising():
            self._callback.on_rollout_end()

    @hookimpl
    def rlk_update_end(self, run: Run) -> None:
        for variables in self._accumulated:
            self._variables.update(variables.updated(run, self._losses))

    @hookimpl
    def rlk_training_end(self) -> None:
        with _raising():
            self._callback.on_training_end()


class RowsByCollections:
    """Writes a row every so many collections, for a model whose rows rlk counts by episodes."""

    def __init__(self, run: Run, every: int) -> None:
        self._every, self._logged = every, run.clock.iterations

    @hookimpl
    def rlk_update_end(self, run: Run) -> None:
        if run.clock.iterations - self._logged >= self._every:
            self._logged = run.clock.iterations
            run.log()


class Watcher:
    """The plugin in the run of every model, through which the model learns.

    Attributes:
        rows: the writer of rows of metrics.
        model: the model.
    """

    heard: ClassVar[type[CallbackHooks]] = CallbackHooks  #: what calls callbacks

    def __init__(self) -> None:
        self.rows = Rows()
        self.model: BaseRLModel | None = None
        self._call: Call | None = None  # the current one
        self._callback: CallbackHooks | None = None  # what calls its callback

    def learn(self, model: BaseRLModel, call: Call) -> None:
        """Train a model with the arguments of a call."""
        agent, run = model.agent, model.agent.run
        clock = run.clock.state_dict()
        if call.reset_num_timesteps:
            run.clock.restart()
        if model.tensorboard_log is not None and run.communicator.rank == 0:
            is_new = run.timesteps == 0
            folder = folder_of_run(model.tensorboard_log, call.tb_log_name, is_new=is_new)
            folder.mkdir(parents=True, exist_ok=True)  # so that this fails before the training
            call.writer = ScalarWriter(folder)
        self.rows.begin(model, call, run)
        if call.callback is not None:
            try:
                call.callback.init_callback(model)
            except BaseException:
                run.clock.load_state_dict(clock)
                raise
        # In Stable Baselines 0 and None mean never, so the interval is longer than any run.
        every = int(model.rows_every or call.log_interval or _NEVER)
        in_rlk = _NEVER if model.counts_collections else every
        run.plan = attrs.evolve(run.plan, log_interval=in_rlk)
        self._call = call
        try:
            with contextlib.ExitStack() as followers:
                parts = self._parts(model, call, every, followers)
                reset = call.reset_num_timesteps
                agent.learn(call.total_timesteps, reset_num_timesteps=reset, callback=parts)
        except _CallbackFailed as failed:
            raise failed.error from None
        finally:
            self._call = self._callback = None
            run.plan = attrs.evolve(run.plan, log_interval=every)  # `model.agent.learn` uses it

    def _parts(
        self, model: BaseRLModel, call: Call, every: int, followers: contextlib.ExitStack
    ) -> list[Any]:
        """What listens to the run during a call of `learn`."""
        run, parts = model.agent.run, list[Any]()
        if call.writer is not None:
            means = followers.enter_context(run.metrics.followed())
            call.curves = self.rows.curves(call.writer, means)
            if call.curves is not None:
                parts.append(call.curves)
        if model.counts_collections:
            parts.append(RowsByCollections(run, every))
        if call.callback is not None:
            losses = followers.enter_context(run.metrics.followed())
            self._callback = self.heard(model, call.callback, call.variables(model), losses)
            parts.append(self._callback)
        return parts

    @hookimpl(trylast=True)  # outermost: a bonus is added to what the callback leaves
    def rlk_wrap_add(self) -> Callable[[Add], Add]:
        """Hold a step back until the callback was called, which may change its rewards."""

        def wrapper(add: Add) -> Add:
            def store_or_hold(step: Step) -> None:
                if self._callback is None:
                    add(step)
                else:
                    self._callback.store = add

            return store_or_hold

        return wrapper

    @hookimpl(trylast=True)  # callbacks may have written to it
    def rlk_training_end(self) -> None:
        if self._call is not None and self._call.writer is not None:
            self._call.writer.flush()

    @hookimpl
    def rlk_write_row(self, run: Run, row: Mapping[str, float]) -> None:
        assert self.model is not None
        self.rows.write(self.model, self._call, run, row)


def whole_timesteps(timesteps: Any) -> int:
    """Timesteps as an int, rounded down: programs often compute a float, such as 0.1 * n."""
    is_fraction = isinstance(timesteps, float) and math.isfinite(timesteps)
    with refused():
        return checked_timesteps(int(timesteps) if is_fraction else timesteps, "learn")
