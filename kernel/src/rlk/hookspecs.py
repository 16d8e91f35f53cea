"""Every seam that a name cannot carry, on one page.

A hook never runs per environment step or per gradient step: a pluggy call costs 30 to 60 plain
ones. Hooks run while a run is planned and built, and at the borders of iterations; they return
objects and callables that the loop then calls directly. `None` always means "not mine". Arguments
that an implementation does not name are not passed to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from rlk.planning.plan import Choice, Plan
    from rlk.planning.spec import Patch, RunSpec
    from rlk.protocols import Actor, Collector, Communicator, OptimiserStep, State
    from rlk.records import Step
    from rlk.registry.kernel import Kernel
    from rlk.running.run import Run

hookspec = pluggy.HookspecMarker("rlk")
hookimpl = pluggy.HookimplMarker("rlk")
Wrapper = Callable[[Callable[..., Any]], Callable[..., Any]]


class Specs:
    """An implementation is a function, or a method, of the same name, marked by `hookimpl`."""

    @hookspec(historic=True)
    def rlk_register(self, kernel: Kernel) -> None:
        """Once, when a kernel is made or the plugin joins it: add components, kinds, hook specs."""

    # ---- while planning: milliseconds, no torch -------------------------------------------------
    @hookspec
    def rlk_configure(self, spec: RunSpec) -> Patch | list[Patch] | None:
        """Once per plan, all used: propose settings the user left unset; none may differ."""

    @hookspec
    def rlk_check_plan(self, plan: Plan) -> str | list[str] | None:
        """Once per plan, all used: problems that forbid it, each saying what to type instead."""

    @hookspec(firstresult=True)
    def rlk_settle_plan(self, plan: Plan) -> Plan | None:
        """Once per plan, when nothing forbids it: the plan as this process is to have it. One of
        several that share a run has no `out`: it writes nothing."""

    @hookspec(firstresult=True)
    def rlk_take_over(self, plan: Plan) -> int | None:
        """Before anything is built or written: do something else here; returns the exit code."""

    # ---- while building: the first result wins --------------------------------------------------
    @hookspec(firstresult=True)
    def rlk_make_vec_env(self, plan: Plan, n_envs: int, training: bool) -> Any:
        """Once for training and once per evaluation: a gymnasium.vector.VectorEnv, unwrapped."""

    @hookspec(firstresult=True)
    def rlk_make_policy(self, run: Run, heads: Any) -> Any:
        """Once: the policy module, instead of what the chosen component builds (it flattens it)."""

    @hookspec
    def rlk_filter_observation(self, run: Run) -> Any:
        """Once, all used: a module between preprocessed observations and the policy's encoder
        (running statistics): the same structure out as in; for speed, with `numpy_forward()`."""

    @hookspec(firstresult=True)
    def rlk_make_storage(self, run: Run, choice: Choice) -> Any:
        """Once per storage in the plan, base first: the storage or decorator, not yet opened."""

    @hookspec(firstresult=True)
    def rlk_make_actor(self, run: Run, actor: Actor) -> Actor | None:
        """For the collector, for `predict` and for every evaluation: an actor that takes the place
        of the algorithm's own (a faster one that does the same), before noise wraps it."""

    @hookspec(firstresult=True)
    def rlk_make_collector(self, run: Run) -> Collector | None:
        """Once: rollout collection as a whole, instead of the chosen component's."""

    @hookspec(firstresult=True)
    def rlk_make_optimiser(self, run: Run, group: Any) -> OptimiserStep | None:
        """Once per parameter group: what drives its objective."""

    @hookspec(firstresult=True)
    def rlk_make_communicator(self, run: Run) -> Communicator | None:
        """Once, before the environments: what several ranks agree through."""

    # ---- while building: all results used, composed once, innermost first -----------------------
    @hookspec
    def rlk_wrap_collector(self, run: Run) -> Wrapper | None:
        """A wrapper around `collect() -> bool` (a learnt reward, timing)."""

    @hookspec
    def rlk_wrap_loss(self, run: Run, group: str) -> Wrapper | None:
        """A wrapper around that group's losses (an extra term); applied once per function."""

    @hookspec
    def rlk_wrap_update(self, run: Run) -> Wrapper | None:
        """A wrapper around `algorithm.update` (compile)."""

    # ---- lifecycle: who listens is asked once ---------------------------------------------------
    @hookspec
    def rlk_training_start(self, run: Run) -> None:
        """At every call of `learn`, before the first step."""

    @hookspec
    def rlk_rollout_start(self, run: Run) -> None:
        """Before every collection."""

    @hookspec
    def rlk_step(self, run: Run, step: Step) -> bool | None:
        """After every vector step: only those who listen pay. False stops the run."""

    @hookspec
    def rlk_rollout_end(self, run: Run) -> None:
        """After every collection that was not stopped, before its updates."""

    @hookspec
    def rlk_update_end(self, run: Run) -> None:
        """After the updates of an iteration: where checkpoints and evaluations happen."""

    @hookspec
    def rlk_evaluation_end(self, run: Run, result: Any) -> None:
        """After an evaluation; result has `returns`, `lengths` and `mean_return`."""

    @hookspec
    def rlk_log(self, run: Run, row: dict[str, float]) -> None:
        """When a row of metrics is due, every `log_interval`: add to it, or change it."""

    @hookspec
    def rlk_write_row(self, run: Run, row: dict[str, float]) -> None:
        """After every `rlk_log`: print the row or write it; all are given the same one."""

    @hookspec
    def rlk_should_stop(self, run: Run) -> str | None:
        """At every iteration border: a reason to stop, or None."""

    @hookspec
    def rlk_training_end(self, run: Run, reason: str | None) -> None:
        """When `learn` ends, also after a signal or an error; reason says why if early."""

    # ---- state ----------------------------------------------------------------------------------
    @hookspec
    def rlk_save(self, run: Run, replay: bool) -> State | None:
        """While a checkpoint is taken: what this plugin has to remember, kept under its name;
        without `replay` it leaves out what a replay holds."""

    @hookspec
    def rlk_load(self, run: Run, state: State) -> None:
        """While a checkpoint is restored: what this plugin's `rlk_save` returned."""
