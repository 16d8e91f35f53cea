"""Every seam that a name cannot carry, on one page.

A hook never runs per environment step or per gradient step: a pluggy call costs 30 to 60 plain
calls. Hooks run while a run is planned and built, and at the borders of iterations; they return
objects and callables that the loop then calls directly. `None` always means "not mine". Who listens
to a lifecycle hook is asked once, when the run is built. Arguments that an implementation does not
name are not passed to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from rlk.kernel import Kernel
    from rlk.plan import Choice, Plan
    from rlk.protocols import Actor, Collector, Communicator, OptimiserStep, State
    from rlk.records import Step
    from rlk.run import Run
    from rlk.spec import Patch, RunSpec

hookspec = pluggy.HookspecMarker("rlk")
hookimpl = pluggy.HookimplMarker("rlk")
Wrapper = Callable[[Callable[..., Any]], Callable[..., Any]]


@hookspec(historic=True)
def rlk_register(kernel: Kernel) -> None:
    """Once, when the kernel is made or the plugin joins it: add components, kinds, hook specs."""


# ---- while planning: milliseconds, no torch -----------------------------------------------------


@hookspec
def rlk_configure(spec: RunSpec) -> Patch | list[Patch] | None:
    """Once per plan, all used: propose settings the user left unset. Two that differ: an error."""


@hookspec
def rlk_check_plan(plan: Plan) -> str | list[str] | None:
    """Once per plan, all used: problems that forbid it, each saying what to type instead."""


@hookspec(firstresult=True)
def rlk_settle_plan(plan: Plan) -> Plan | None:
    """Once per plan, when nothing forbids it: the plan as this process is to have it. One of
    several that share a run has no `out`: it writes nothing."""


@hookspec(firstresult=True)
def rlk_take_over(plan: Plan) -> int | None:
    """Before anything is built or written: do something else here, and return the exit code."""


# ---- while building: the first result wins ------------------------------------------------------


@hookspec(firstresult=True)
def rlk_make_vec_env(plan: Plan, n_envs: int, training: bool) -> Any:
    """Once for training and once per evaluation: a gymnasium.vector.VectorEnv, unwrapped."""


@hookspec(firstresult=True)
def rlk_make_policy(run: Run, heads: Any) -> Any:
    """Once: the policy module, instead of the chosen architecture with these heads."""


@hookspec
def rlk_filter_observation(run: Run) -> Any:
    """Once, all used: a module between preprocessed observations and the policy's encoder (running
    statistics): the same structure out as in, with a `numpy_forward()` where that is to be fast."""


@hookspec(firstresult=True)
def rlk_make_storage(run: Run, choice: Choice) -> Any:
    """Once per storage in the plan, base first: the storage or decorator, not yet opened."""


@hookspec(firstresult=True)
def rlk_make_actor(run: Run) -> Actor | None:
    """Once: the collector's actor, instead of the algorithm's own (before noise wraps it)."""


@hookspec(firstresult=True)
def rlk_make_collector(run: Run) -> Collector | None:
    """Once: rollout collection as a whole."""


@hookspec(firstresult=True)
def rlk_make_optimiser(run: Run, group: Any) -> OptimiserStep | None:
    """Once per parameter group: what drives its objective."""


@hookspec(firstresult=True)
def rlk_make_communicator(run: Run) -> Communicator | None:
    """Once, before the environments: what several ranks agree through."""


# ---- while building: all results used, composed once, innermost first ---------------------------


@hookspec
def rlk_wrap_collector(run: Run) -> Wrapper | None:
    """A wrapper around `collect() -> bool` (a learnt reward, timing)."""


@hookspec
def rlk_wrap_loss(run: Run, group: str) -> Wrapper | None:
    """A wrapper around that group's loss functions (an extra term); applied once per function."""


@hookspec
def rlk_wrap_update(run: Run) -> Wrapper | None:
    """A wrapper around `algorithm.update` (compile)."""


# ---- lifecycle: who listens is asked once -------------------------------------------------------


@hookspec
def rlk_training_start(run: Run) -> None:
    """At every call of `learn`, before the first step."""


@hookspec
def rlk_rollout_start(run: Run) -> None:
    """Before every collection."""


@hookspec
def rlk_step(run: Run, step: Step) -> bool | None:
    """After every vector step, called directly: only those who listen pay. False stops the run."""


@hookspec
def rlk_rollout_end(run: Run) -> None:
    """After every collection that was not stopped, before its updates."""


@hookspec
def rlk_update_end(run: Run) -> None:
    """After the updates of an iteration: its border, where checkpoints and evaluations happen."""


@hookspec
def rlk_evaluation_end(run: Run, result: Any) -> None:
    """After an evaluation during training; result has `returns`, `lengths` and `mean_return`."""


@hookspec
def rlk_log(run: Run, row: dict[str, float]) -> None:
    """When a row of metrics is due, every `log_interval`: add to it, or change it."""


@hookspec
def rlk_write_row(run: Run, row: dict[str, float]) -> None:
    """After every rlk_log: print the row or write it somewhere; others are given the same one."""


@hookspec
def rlk_should_stop(run: Run) -> str | None:
    """At every iteration border: a reason to stop, or None."""


@hookspec
def rlk_training_end(run: Run, reason: str | None) -> None:
    """When `learn` ends, also after a signal or an error; reason says why if it ended early."""


# ---- state --------------------------------------------------------------------------------------


@hookspec
def rlk_save(run: Run, replay: bool) -> State | None:
    """While a checkpoint is taken: what this plugin has to remember, kept under its name; without
    `replay` it leaves out what a replay holds."""


@hookspec
def rlk_load(run: Run, state: State) -> None:
    """While a checkpoint is restored: what this plugin's `rlk_save` returned; not without."""
