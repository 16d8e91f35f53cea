"""Calls callbacks, and writes rows of metrics, while a model learns.

`Watcher` is a plugin in the run of every model. It listens to single steps only if there is a
callback or `tensorboard_log`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

import attrs

from rlk import hookimpl
from rlk.errors import NotFinite
from rlk.finite import finite
from rlk.planning.run_settings import checked_timesteps
from rlk.records import Step
from rlk_baselines.callback_variables import AccumulatedVariables, constants, shared
from rlk_baselines.common.callback_interface import stops
from rlk_baselines.refusals import Refused, refused
from rlk_baselines.rows import LossCurves, Rows
from rlk_baselines.tensorboard import ScalarWriter, folder_of_run

if TYPE_CHECKING:
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
    losses: LossCurves | None = None  #: writes losses for TensorBoard, independently of rows

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


class Watcher:
    """Implements the hooks of a model's run.

    Attributes:
        call: the current call of `learn`, or None.
        rows: the writer of rows of metrics.
    """

    def __init__(self) -> None:
        self.rows = Rows()
        self.model: BaseRLModel | None = None
        self.call: Call | None = None
        self._variables: dict[str, Any] = {}
        self._accumulated: list[AccumulatedVariables] = []
        self._seen_episodes = 0
        self._store_held: Add | None = None  # stores a step that waits for the callback

    def learn(self, model: BaseRLModel, call: Call) -> None:
        """Train a model with the arguments of a call."""
        agent, run = model.agent, model.agent.run
        clock, plan = run.clock.state_dict(), run.plan
        self._set_interval(model, call.log_interval)
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
                run.plan = plan
                raise
        self.call = call
        self.watch(run, steps=call.callback is not None or call.writer is not None)
        try:
            with contextlib.ExitStack() as followers:
                if call.writer is not None:
                    means = followers.enter_context(run.metrics.followed())
                    call.losses = self.rows.losses(call.writer, means)
                if call.callback is not None:
                    self._latest = followers.enter_context(run.metrics.followed())
                agent.learn(call.total_timesteps, reset_num_timesteps=call.reset_num_timesteps)
        except _CallbackFailed as failed:
            raise failed.error from None
        finally:
            self.call = None
            self.watch(run, steps=False)
            if run.plan.log_interval == _NEVER:  # `model.agent.learn` uses it
                run.plan = attrs.evolve(run.plan, log_interval=self._collections)

    def _set_interval(self, model: BaseRLModel, interval: int | None) -> None:
        """Set how often rows come: in collections for DDPG, otherwise as rlk counts."""
        # In Stable Baselines 0 and None mean never, so the interval is longer than any run.
        run, every = model.agent.run, int(model.rows_every or interval or _NEVER)
        self._collections = every if model.counts_collections else _NEVER
        self._logged = run.clock.iterations
        in_rlk = _NEVER if model.counts_collections else every
        run.plan = attrs.evolve(run.plan, log_interval=in_rlk)

    def watch(self, run: Run, *, steps: bool) -> None:
        """Listen to single steps, or stop doing so, so that they cost the run nothing."""
        found = run.hooks.listeners("rlk_step")
        run.listeners["rlk_step"] = [
            (name, listen) for name, listen in found if steps or run.hooks.get(name) is not self
        ]

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        if self.call is not None and self.call.losses is not None:
            self.call.losses.begin(run)
        if self.call is not None and self.call.callback is not None:
            assert self.model is not None
            self._variables = self.call.variables(self.model)
            self._before = dataclasses.replace(run.clock)
            self._accumulated = self.model.accumulated(self._before)
            globals_here = vars(sys.modules[documented_class(self.model).__module__])
            with _raising():
                self.call.callback.on_training_start(self._variables, globals_here)

    @hookimpl
    def rlk_rollout_start(self, run: Run) -> None:
        self._seen_episodes = run.clock.episodes
        if self.call is not None and self.call.callback is not None:
            for variables in self._accumulated:
                variables.begin(run)
            with _raising():
                self.call.callback.on_rollout_start()

    @hookimpl(trylast=True)  # outermost: a bonus is added to what the callback leaves
    def rlk_wrap_add(self) -> Callable[[Add], Add]:
        """Hold a step back until the callback was called, which may change its rewards."""

        def wrapper(add: Add) -> Add:
            def store_or_hold(step: Step) -> None:
                if self.call is None or self.call.callback is None:
                    add(step)
                else:
                    self._store_held = add

            return store_or_hold

        return wrapper

    @hookimpl
    def rlk_step(self, run: Run, step: Step) -> bool | None:
        """Call the callback, store the step, and return False if it stops the training."""
        if self.call is None:
            return None
        if self.call.writer is not None and run.clock.episodes != self._seen_episodes:
            new, self._seen_episodes = run.clock.episodes - self._seen_episodes, run.clock.episodes
            self.rows.write_episodes(self.call.writer, run, new)
        if self.call.callback is None:
            return None
        infos = run.env.infos() if hasattr(run.env, "infos") else [{}] * run.n_envs
        found = shared(run, step, infos, self._before)
        step = step._replace(reward=found["rewards"])  # which the callback may change in place
        for variables in self._accumulated:
            variables.see(run, step, infos, found)
        self._variables.update(found)
        self.call.callback.update_locals(self._variables)
        try:
            is_last = stops(self.call.callback.on_step())
        finally:
            self._store(run, step)
        for variables in self._accumulated:
            variables.add(step, infos)
        return False if is_last else None

    def _store(self, run: Run, step: Step) -> None:
        """Store the step that was held back, with the rewards that the callback left."""
        store, self._store_held = self._store_held, None
        if store is None:
            return
        if not finite(step.reward):
            assert self.call is not None
            raise NotFinite(
                f"callback {type(self.call.callback).__name__} left rewards of {step.reward} at "
                f"timestep {run.timesteps}.\nNothing of this step was stored. Mend what it writes "
                "into self.locals['rewards']."
            )
        store(step)

    @hookimpl
    def rlk_rollout_end(self) -> None:
        if self.call is not None and self.call.callback is not None:
            for variables in self._accumulated:
                self._variables.update(variables.collected())
            self.call.callback.update_locals(self._variables)
            with _raising():
                self.call.callback.on_rollout_end()

    @hookimpl
    def rlk_update_end(self, run: Run) -> None:
        if self.call is None:
            return
        if self.call.losses is not None:
            self.call.losses.write(run)
        if self.call.callback is not None:
            for variables in self._accumulated:
                self._variables.update(variables.updated(run, self._latest))
        if run.clock.iterations - self._logged >= self._collections:
            self._logged = run.clock.iterations
            run.log()

    @hookimpl
    def rlk_training_end(self, run: Run) -> None:
        if self.call is None:
            return
        if self.call.losses is not None:
            self.call.losses.write(run, is_last=True)
        if self.call.callback is not None:
            with _raising():
                self.call.callback.on_training_end()
        if self.call.writer is not None:
            self.call.writer.flush()

    @hookimpl
    def rlk_write_row(self, run: Run, row: Mapping[str, float]) -> None:
        assert self.model is not None
        self.rows.write(self.model, self.call, run, row)


def whole_timesteps(timesteps: Any) -> int:
    """Timesteps as an int, rounded down: programs often compute a float, such as 0.1 * n."""
    is_fraction = isinstance(timesteps, float) and math.isfinite(timesteps)
    with refused():
        return checked_timesteps(int(timesteps) if is_fraction else timesteps, "learn")


def documented_class(model: BaseRLModel) -> type:
    """The class of this package that a model has, or from which a program's class is derived."""
    return next(kind for kind in type(model).__mro__ if "algo" in vars(kind))


def show_defaults(kind: type[BaseRLModel]) -> None:
    """Let `inspect.signature` show the documented defaults of `learn` and `predict` of a class."""
    _show(kind, "learn", {"log_interval": kind.rows, "tb_log_name": kind.__name__})
    _show(kind, "predict", {"deterministic": kind.acts_deterministically})


def _show(kind: type[BaseRLModel], name: str, defaults: Mapping[str, Any]) -> None:
    """Let a method of a class show these defaults; the class gets one of its own for that."""
    if name not in vars(kind):
        setattr(kind, name, _handing_on(kind, name))
    method = vars(kind)[name]
    plain = inspect.signature(method)
    shown = [
        one.replace(default=defaults.get(key, one.default)) for key, one in plain.parameters.items()
    ]
    method.__signature__ = plain.replace(parameters=shown)


def _handing_on(kind: type[BaseRLModel], name: str) -> Callable[..., Any]:
    """A method of a class that calls the one above it, in whichever class that is found."""

    @functools.wraps(getattr(kind, name))
    def method(self: Any, *arguments: Any, **keywords: Any) -> Any:
        return getattr(super(kind, self), name)(*arguments, **keywords)

    method.__module__, method.__qualname__ = kind.__module__, f"{kind.__qualname__}.{name}"
    return method
