"""A run begins with an expert's transitions in its replay."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rlk.errors import PlanError
from rlk.hookspecs import hookimpl
from rlk.running.resets import told_of_resets
from rlk.terminal import print_on
from rlk_demonstrations.checks import OWNER, transitions_for
from rlk_demonstrations.config import DemonstrationsConfig

if TYPE_CHECKING:
    from rlk.protocols import State
    from rlk.running.run import Run
    from rlk_demonstrations.transitions import Transitions


class Demonstrations:
    """Adds the transitions when training starts, once; a resumed run has them in its replay."""

    def __init__(self, config: DemonstrationsConfig | None = None) -> None:
        self._config = config or DemonstrationsConfig()
        self._is_done = False

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        """Add the transitions as if they had been collected, after `replay-start` has begun.

        Raises:
            BadFile: if the file is missing or damaged.
            PlanError: if its data does not fit the run.
        """
        if self._is_done:
            return
        extras = run.algorithm.extras()
        if extras:
            raise PlanError(
                f"{OWNER}: {run.plan.algorithm.title} stores {', '.join(extras)} with every step, "
                f"which an expert's data does not have. Use --plugin no:demonstrations."
            )
        found = transitions_for(self._config, run.plan)
        _begin_new_episodes(run)
        for step in found.steps(run.n_envs):
            run.add(step)
        _begin_new_episodes(run)
        self._is_done = True
        if run.plan.verbose and run.communicator.rank == 0:
            print_on(sys.stderr, f"demonstrations: {_told(found, run.n_envs)}")

    @hookimpl
    def rlk_save(self, replay: bool) -> State:
        """Whether the saved replay has the transitions."""
        return {"is_done": self._is_done and replay}

    @hookimpl
    def rlk_load(self, state: State) -> None:
        self._is_done = bool(state["is_done"])


def _begin_new_episodes(run: Run) -> None:
    """Tell who keeps something of unfinished episodes that the next step begins new ones."""
    for tell in told_of_resets(run):
        tell()


def _told(found: Transitions, n_envs: int) -> str:
    """A sentence on what the run begins with."""
    added = len(found) - len(found) % n_envs
    episodes = f"{found.episodes:,} episode{'s' if found.episodes > 1 else ''}"
    told = f"the replay begins with {added:,} transitions, {episodes} of {found.whose}"
    if not found.left_out:
        return told
    return (
        f"{told}; the last transition of each episode is left out, because the file does not say "
        "how episodes ended (rlk_expert_data.generate_expert_traj records it)"
    )
