"""The training loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rlk.errors import NotFinite, PlanError, RlkError
from rlk.records import Update
from rlk.registry.answers import check_given
from rlk.running.moved_parameters import adopt_after_collection, adopt_to_train

if TYPE_CHECKING:
    from rlk.running.run import Run

#: Where rows are counted in episodes, none waits for an episode of more steps than this.
LONG_EPISODE = 10_000


# rlk checks for non-finite numbers where it can name them; numpy need not warn of them as well.
@np.errstate(over="ignore", invalid="ignore")
def train(run: Run, total_timesteps: int) -> str | None:
    """Collect and update until the clock reads `total_timesteps`.

    An iteration is one collection and the updates that follow it. Signals, checkpoints and all
    other plugins are handled at its end, the border.

    Returns:
        The reason that plugins, signals or other ranks had to end it, or None.
    """
    adopt_to_train(run)
    run.begin(total_timesteps)
    try:
        run.notify("rlk_training_start")
        if _row_is_asked(run):  # at the border where this checkpoint was taken
            run.log()
        while run.timesteps < total_timesteps and not run.stop_reason():
            if not _iterate(run):
                break
        reason = run.stop_reason()
        if run.metrics.has_news():
            run.log()
    except BaseException as error:
        if isinstance(error, PlanError):
            error.exit_code = RlkError.exit_code  # planning is over: this run has failed
        run.end("an error", error)
        run.metrics.row_asked = False  # a checkpoint asks again; another call of learn does not
        raise
    run.end(reason)
    return reason


def _iterate(run: Run) -> bool:
    """One iteration; False, with no update, if a listener stopped the run while it collected."""
    run.notify("rlk_rollout_start")
    run.refresh_schedules()
    run.collecting, began = True, run.timesteps
    is_whole = run.collect()
    if not is_whole:
        who = f"{run.plan.collector.title}, or what rlk_wrap_collector put around it"
        check_given(who, "collect", is_whole)
        return False
    run.collecting = False
    run.notify("rlk_rollout_end")
    adopt_after_collection(run, began)
    batches = run.algorithm.batches(run.storage)
    if batches is None:
        check_given(run.plan.algorithm.title, "batches", batches)
    for batch in batches:
        with run.modes.learning():
            update = run.update(batch, run.optimise)
        if not isinstance(update, Update):
            check_given(run.plan.algorithm.title, "update", update)
        run.clock.updates += 1
        run.metrics.push(update.metrics)
        run.storage.feedback(batch, update)
    end_iteration(run)
    return True


def end_iteration(run: Run) -> None:
    """Check the metrics, notify the plugins, and log a row if one is due or was asked for.

    Raises:
        NotFinite: for the first non-finite metric.
    """
    if bad := run.metrics.read():
        raise _not_finite(run, bad)
    run.clock.iterations += 1
    run.notify("rlk_update_end")
    is_due = _row_is_due(run)
    if is_due or _row_is_asked(run):  # all ranks agree on what is due
        run.log()


def _row_is_due(run: Run) -> bool:
    """Whether `log_interval` is over; the next one begins here.

    An off-policy collection may be a single step, too little for a row: there, episodes count. As
    an environment may never end one, each is waited for no longer than `LONG_EPISODE` steps of its
    environment: those that ended since the last row, and the one that each environment is in.
    Where the collector steps nothing, there are no episodes to count.
    """
    clock, interval, plan = run.clock, run.plan.log_interval, run.plan
    is_on_policy = plan.algorithm.component.collects not in ("off-policy", None)
    by_episode = not (is_on_policy or plan.collector.component.steps_nothing)
    done = clock.episodes if by_episode else clock.iterations
    new, waited = done - clock.logged, clock.cumulative_timesteps - clock.logged_at
    # Episodes have a timestep at least: so an interval longer than the run still means no row.
    n_envs = run.n_envs * run.communicator.size
    is_long = by_episode and waited >= max(interval, LONG_EPISODE * (new + n_envs))
    if new < interval and not is_long:
        return False
    clock.logged, clock.logged_at = done, clock.cumulative_timesteps
    return True


def _row_is_asked(run: Run) -> bool:
    """Whether any rank asks for a row, which all ranks then write together."""
    return any(run.communicator.gather(run.metrics.row_asked or None))


def _not_finite(run: Run, bad: str) -> NotFinite:
    """The error for a non-finite metric, with what has become of the parameters."""
    groups = run.optimise.groups.items()
    spoilt = [name for name, group in groups if not bool(group.flat.isfinite().all())]
    parameters = "The parameters are finite: no step is taken with a non-finite gradient."
    if spoilt:
        optimisers = {name: type(run.optimise.steps[name]).__qualname__ for name in spoilt}
        moved = ", ".join(f"{name!r} by {optimiser}" for name, optimiser in optimisers.items())
        parameters = (
            f"Parameters are non-finite, too, those of group {moved}, which must not take a step "
            "with a non-finite gradient. Load an earlier checkpoint."
        )
    return NotFinite(
        f"{run.plan.algorithm.title}: {bad}. {parameters}\nLook at the scale of "
        "observations and rewards (rlk plugins list --kind wrappers shows what changes it), or try "
        "a lower learning rate (--set learning_rate=…)."
    )
