"""Every hook, on one page: the seams that are not a choice by name.

Pluggy is never called per environment step or per gradient step, because that costs as much as 30
to 60 plain calls. Hooks run while a run is planned and built, and at the borders of iterations;
they return objects and callables, which the loop then calls directly, as it does with listeners of
`rlk_step`. `None` always means "not mine". An object with hooks is made several times while a run
is planned: its constructor opens nothing, and what it opens, it opens in `rlk_training_start`.

Of a hook marked `one_answer`, two plugins that both answer are refused, with the names of both and
what to type, unless an order is meant: with `hookimpl(tryfirst=True)` a plugin is asked before all
others, with `trylast` after them, and once one has answered, those after it are not asked. What
joins by itself uses `trylast`. Of a hook marked `first_answer`, plugins are asked one after the
other, and the first answer counts. Of all other hooks, every answer is used.

An implementation is only passed the arguments that it names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import pluggy

if TYPE_CHECKING:
    from rlk.planning.choice import Choice
    from rlk.planning.plan import Plan
    from rlk.planning.spec import Patch, RunSpec
    from rlk.protocols import Actor, Collector, Communicator, Optimise, OptimiserStep, State
    from rlk.records import Loss, Step, Update
    from rlk.running.run import Run

hookspec = pluggy.HookspecMarker("rlk")
hookimpl = pluggy.HookimplMarker("rlk")

#: What the loop calls, and what wraps it, for annotations.
Collect = Callable[[], bool]
Add = Callable[["Step"], None]
LossFunction = Callable[..., "Loss"]
UpdateFunction = Callable[[Any, "Optimise"], "Update"]
WrapsCollect = Callable[[Collect], Collect]
WrapsAdd = Callable[[Add], Add]
WrapsLoss = Callable[[LossFunction], LossFunction]
WrapsUpdate = Callable[[UpdateFunction], UpdateFunction]
Spec = TypeVar("Spec", bound=Callable[..., Any])


def lifecycle(spec: Spec) -> Spec:
    """Mark a hook of a run's life: its listeners are looked up once, when the run is built."""
    vars(spec)["rlk_is_lifecycle"] = True
    return hookspec(spec)


def is_lifecycle(spec: object) -> bool:
    """Whether a hook was marked with `lifecycle`."""
    return getattr(spec, "rlk_is_lifecycle", False)


def one_answer(spec: Spec) -> Spec:
    """Mark a hook of which a run takes one answer: two plugins that both answer are refused."""
    vars(spec)["rlk_takes"] = "one"
    return hookspec(spec)


def first_answer(spec: Spec) -> Spec:
    """Mark a hook of which a run takes the first answer: the plugins after it are not asked."""
    vars(spec)["rlk_takes"] = "first"
    return hookspec(spec)


def takes(spec: object) -> str:
    """Which answers to a hook are taken: "one", the "first", or "all" of a hook without a mark."""
    return getattr(spec, "rlk_takes", "all")


class Specs:
    """An implementation is a function, or a method, of the same name, marked by `hookimpl`."""

    # ---- while planning: milliseconds, no torch -------------------------------------------------
    @hookspec
    def rlk_configure(self, spec: RunSpec) -> Patch | list[Patch] | None:
        """Once per plan: propose settings that the user left unset.

        All answers are used; two that differ for one setting are refused. Plugins are asked, also
        those that another one's patch puts in; what fills a slot is settled later, and refused if
        its hooks have this one.
        """

    @hookspec
    def rlk_check_plan(self, plan: Plan) -> str | list[str] | None:
        """Once per plan: problems that forbid it, each saying what to type instead.

        All answers are shown.
        """

    @one_answer
    def rlk_policy_space(self, plan: Plan) -> Any:
        """Once per plan: the observation space that the policy component is to build for.

        It is `plan.policy_space` from then on, also in `rlk_check_plan`. The plugin that answers
        also makes the policy that takes the environment's observations (`rlk_make_policy`).
        """

    @one_answer
    def rlk_settle_plan(self, plan: Plan) -> Plan | None:
        """Once per plan that is not refused: the plan as this process should have it.

        For example without `out` in a process that shares a run and should write nothing.
        """

    @first_answer
    def rlk_take_over(self, plan: Plan) -> int | None:
        """Before anything is built or written: do something else, and return the exit code.

        A program that makes or loads an agent ends there with that code. The first plugin that
        returns one has done its work, so the others are not asked, and two are no conflict.
        """

    # ---- while building: one plugin may answer --------------------------------------------------
    @one_answer
    def rlk_make_policy(self, run: Run, heads: Any) -> Any:
        """Once: the policy module, instead of the one that the chosen component builds.

        The component still makes its flat parameters.
        """

    @hookspec
    def rlk_filter_observation(self, run: Run) -> Any:
        """Once: a module between preprocessed observations and the policy's encoder.

        It returns the structure that it is given (running statistics). All answers are used.
        """

    @one_answer
    def rlk_make_storage(self, run: Run, choice: Choice) -> Any:
        """Once per storage in the plan, base first: the storage or decorator, not yet opened."""

    @one_answer
    def rlk_make_actor(self, run: Run, actor: Actor) -> Actor | None:
        """Once for the collector, for `predict` and for every evaluation: an actor to use instead.

        It replaces the algorithm's own (a faster one that does the same), before noise wraps it.
        """

    @hookspec
    def rlk_check_observation(self, run: Run) -> Callable[[Any], None] | None:
        """Once for `predict`: a function that raises ValueError for what it must not act on.

        It is given every batch of observations [B, …], a dict of them for a Dict. Training and
        evaluations, whose environments make the observations, do not call it.
        """

    @one_answer
    def rlk_make_collector(self, run: Run) -> Collector | None:
        """Once: rollout collection as a whole, instead of the chosen component's."""

    @one_answer
    def rlk_make_optimiser(self, run: Run, group: Any) -> OptimiserStep | None:
        """Once per parameter group: the optimiser that moves it."""

    @one_answer
    def rlk_make_communicator(self, run: Run) -> Communicator | None:
        """Once, before the environments are made: the communicator of several ranks."""

    # ---- while building: all results are used, composed once, innermost first -------------------
    # `tryfirst` makes a wrapper or a filter the innermost, `trylast` the outermost.
    @hookspec
    def rlk_wrap_communicator(self, run: Run) -> Callable[[Communicator], Communicator] | None:
        """Once, before the environments are made: a wrapper around the run's communicator.

        Without several ranks, it is given that of one process.
        """

    @hookspec
    def rlk_wrap_collector(self, run: Run) -> WrapsCollect | None:
        """Once: a wrapper around `collect() -> bool` (a learnt reward, timing)."""

    @hookspec
    def rlk_wrap_add(self, run: Run) -> WrapsAdd | None:
        """Once: a wrapper around `add(step)`, which stores a vector step (a bonus on its reward).

        Listeners of `rlk_step` and the run's metrics have the step as the environments gave it. The
        reward that is stored has one number for each environment.
        """

    @hookspec
    def rlk_wrap_loss(self, run: Run, group: str) -> WrapsLoss | None:
        """Once per group: a wrapper (an extra term), applied once to each of its loss functions."""

    @hookspec
    def rlk_wrap_update(self, run: Run) -> WrapsUpdate | None:
        """Once: a wrapper around `algorithm.update` (compile).

        A batch may be the storage's memory: a changed one is a new one (`dataclasses.replace`).
        """

    # ---- when the run is built ------------------------------------------------------------------
    @hookspec
    def rlk_built(self, run: Run) -> None:
        """Once, when every part of the run exists, in all its wrappers: give parts what they need.

        For example parameters that were trained elsewhere. The state of a file from which the run
        continues (`run.plan.restores_state`) is restored after it.
        """

    # ---- lifecycle: who listens is looked up once -----------------------------------------------
    # An `OSError` that a listener raises (a full disk) does not end the run: see
    # `rlk.running.failed_writes`. Only one from `rlk_training_start`, `rlk_prepare_evaluation` or
    # `rlk_step` does.
    @lifecycle
    def rlk_training_start(self, run: Run) -> None:
        """At every call of `learn`, before the first step."""

    @lifecycle
    def rlk_rollout_start(self, run: Run) -> None:
        """Before every collection."""

    @lifecycle
    def rlk_step(self, run: Run, step: Step) -> bool | None:
        """After every vector step; without listeners it costs nothing. False stops the run.

        Write nothing into the step's arrays, which later steps overwrite: copy what you keep.
        """

    @lifecycle
    def rlk_rollout_end(self, run: Run) -> None:
        """After every collection that was not stopped, before its updates."""

    @lifecycle
    def rlk_update_end(self, run: Run) -> None:
        """After the updates of an iteration, before its row: where evaluations are played."""

    @lifecycle
    def rlk_prepare_evaluation(self, run: Run, env: Any) -> None:
        """Before an evaluation, or an agent's recording as an expert: change its environments.

        They are a vector environment, which is reset afterwards, maybe the same as last time;
        training has others. For example set the level of a curriculum, or the opponent of
        self-play. Where several ranks train, only the one that plays is asked.
        """

    @lifecycle
    def rlk_evaluation_end(self, run: Run, result: Any) -> None:
        """After an evaluation; the result has `returns`, `lengths` and `mean_return`."""

    @lifecycle
    def rlk_log(self, run: Run, row: dict[str, float]) -> None:
        """When a row of metrics is due or was asked for: add to the row, or change it."""

    @lifecycle
    def rlk_write_row(self, run: Run, row: dict[str, float]) -> None:
        """After every `rlk_log`: print the row or write it; all are given the same one."""

    @lifecycle
    def rlk_should_stop(self, run: Run) -> str | None:
        """Before every iteration, and once more at the end: a reason to stop, or None.

        Whoever has to see the final policy is told then: `run.stop_asked` is the reason, if any.
        Checkpoints are written here, after the row of the iteration.
        """

    @lifecycle
    def rlk_training_end(self, run: Run, reason: str | None, failure: BaseException | None) -> None:
        """When `learn` ends, also after a signal or an error; a reason says why it ended early.

        The failure is the exception that ended it, such as KeyboardInterrupt, and None otherwise.
        If a plugin's `rlk_training_start` raises, all are told, also those that had not begun.
        """

    # ---- state ----------------------------------------------------------------------------------
    @hookspec
    def rlk_save(self, run: Run, replay: bool) -> State | None:
        """While a checkpoint is taken: the state of this plugin, which is kept under its name.

        If `replay` is False, it leaves out whatever belongs to the contents of a replay storage.
        """

    @hookspec
    def rlk_load(self, run: Run, state: State) -> None:
        """While a checkpoint is restored: what this plugin's `rlk_save` returned."""

    @hookspec
    def rlk_save_with_model(self, run: Run) -> State | None:
        """While a model or a checkpoint is saved: the state of this plugin that belongs to a model.

        It is what evaluating the model, or training on from it, needs: the level of a curriculum,
        an opponent. The rest is for `rlk_save`, because a model is small and written often.
        """

    @hookspec
    def rlk_load_with_model(self, run: Run, state: State) -> None:
        """While a model or a checkpoint is restored: what `rlk_save_with_model` returned.

        Of a checkpoint, it comes before `rlk_load`.
        """
