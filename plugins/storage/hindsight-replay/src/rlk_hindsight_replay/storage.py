"""Hindsight experience replay: Andrychowicz et al. 2017, arXiv 1707.01495.

A transition is sampled with its own goal or, with k = `n_sampled_goal`, k times out of k + 1 as if
a goal that was reached had been the desired one. The environment computes that goal's reward.

Dimensions: B batch, L steps of a window, K of the batch with a new goal, k goals per transition.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rlk.errors import RlkError
from rlk.protocols import State
from rlk.records import Array, Batch, Schema, Update
from rlk_hindsight_replay.checks import ACHIEVED, DESIRED, check_goals
from rlk_hindsight_replay.config import HindsightReplayConfig
from rlk_hindsight_replay.goals import draw
from rlk_hindsight_replay.rewards import judges
from rlk_replay.protocol import ReplayBase
from rlk_replay.window import Window


class HindsightReplay:
    """Takes the stage `relabel` of a replay storage: one goal for the whole window.

    An index is `slot + variant * slots`. Variant 0 is the transition with its own goal, variants 1
    to k are for goals in hindsight. Uniform sampling chooses any of them, and a new goal is drawn
    every time.

    Without `online_sampling`, each variant gets its goal when the episode has ended, and keeps it
    until its slot is overwritten. If the step that provided the goal is overwritten earlier
    (possible with `episode` and `random`), another goal is drawn when the variant is sampled. A
    variant without a goal yet keeps the transition's own goal.

    Prioritized replay keeps a priority for every index, which must belong to a slot *and* its goal.
    So with priorities goals stay, and a variant is offered when it has its goal.

    Attributes:
        variants: 1 + k.
    """

    def __init__(self, config: HindsightReplayConfig) -> None:
        self._config = config
        self.variants = 1 + config.n_sampled_goal
        self._opened_with: Schema | None = None

    def open(self, base: ReplayBase, schema: Schema) -> None:
        """Finds the environment's `compute_reward`; opened again with the same schema, it has it.

        Raises:
            PlanError: if observations have no goals, or the environment has no `compute_reward`.
        """
        check_goals(schema.observation_space)
        self._base, self._schema = base, schema
        if self._opened_with is not schema:  # else another environment would be made
            self.environment_changed()
            self._opened_with = schema
        self._infos = [(key, f"info.{key}") for key in self._config.info_keys]
        #: int64 [k, slots]: the number of the step whose goal a variant has, -1 for none.
        self._chosen: Array | None = None

    def environment_changed(self) -> None:
        """Use the new environment from now on.

        Raises:
            PlanError: if it has no `compute_reward`.
        """
        self._reward, self._terminated = judges(self._schema)

    # ---- sampling --------------------------------------------------------------------------------

    def relabel(self, window: Window) -> Window:
        """Windows of variant 0 unchanged; the others with another goal, its rewards and ends."""
        slots = self._base.slots
        (rows,) = np.nonzero(window.index >= slots)
        if not len(rows):
            return window
        slot = window.slot[rows]
        source, counts = (
            self._remembered(slot, window.index[rows] // slots) if self._stay else self._draw(slot)
        )
        if counts is not None:
            rows, source = rows[counts], source[counts]
        goal = self._base.observation_after(source, ACHIEVED)
        window.observation[DESIRED][:, rows] = goal
        self._judge(window, rows, goal)
        return window

    def _judge(self, window: Window, rows: Array, goal: Array) -> None:
        """Write the rewards and ends under these goals, [K, ...], for the steps that count."""
        achieved = window.observation[ACHIEVED]
        if len(window.reward) == 1:
            place: Any = (0, rows)
            reached, wanted = achieved[1].take(rows, axis=0), goal
        else:
            counts = np.arange(len(window.reward))[:, None] < window.length[rows]
            step, which = np.nonzero(counts)
            place = (step, rows[which])
            reached, wanted = achieved[step + 1, place[1]], goal[which]
        if not len(reached):
            return
        info = {key: window.extras[field][place] for key, field in self._infos}
        window.reward[place] = self._reward(reached, wanted, info)
        if self._terminated is not None:
            window.terminated[place] = self._terminated(reached, wanted, info)

    def _draw(self, slot: Array) -> tuple[Array, Array | None]:
        config, rng = self._config, self._schema.rng
        return draw(config.goal_selection_strategy, self._base, slot, rng)

    # ---- goals that stay -------------------------------------------------------------------------

    @property
    def _stay(self) -> bool:
        """Whether a variant keeps the goal that is drawn for it."""
        return self._config.online_sampling is False or bool(self._base.prioritized)

    def added(self, slots: Array) -> None:
        """Gives goals to episodes that have ended, as shown by the next one's beginning."""
        if not self._stay:
            return
        self._table()[:, slots] = -1
        one_step = self._schema.n_envs
        if len(slots) > one_step:  # everything stored: this decorator joined later
            self._offer(slots[self._base.is_over(slots)])
        elif len(self._base) > one_step:
            self._offer_ended(slots)

    def _offer_ended(self, slots: Array) -> None:
        """Give goals to the episodes that ended before those that begin in these slots."""
        base, chosen = self._base, self._table()
        ended = base.following(slots[base.steps_from_start(slots) == 0], -1)
        for last, steps in zip(ended, base.steps_from_start(ended), strict=True):
            episode = base.following(last, -np.arange(steps + 1))
            self._offer(episode[chosen[0, episode] < 0])

    def _offer(self, slot: Array) -> None:
        for variant, goals in enumerate(self._table(), start=1):
            if len(slot):
                source, _ = self._draw(slot)
                goals[slot] = self._base.number(source)
                self._base.offer(slot + variant * self._base.slots)

    def _remembered(self, slot: Array, variant: Array) -> tuple[Array, Array]:
        """The steps that provide the goals of these variants, or others if they are overwritten.

        Returns:
            int64 [K], slots; bool [K], which of them count: the others have no goal yet.
        """
        base, chosen = self._base, self._table()
        number = chosen[variant - 1, slot]
        source: Array = number % base.slots
        has_goal = number >= 0
        (gone,) = np.nonzero(has_goal & (base.number(source) != number))
        if len(gone):
            source[gone], _ = self._draw(slot[gone])
            # A variant that occurs twice gets the last one, as its priority does.
            chosen[variant[gone] - 1, slot[gone]] = base.number(source[gone])
        return source, has_goal

    def _table(self) -> Array:
        if self._chosen is None:
            self._chosen = np.full((self._config.n_sampled_goal, self._base.slots), -1)
        return self._chosen

    # ---- the rest of the protocol ----------------------------------------------------------------

    def feedback(self, batch: Batch, update: Update) -> None:
        """Nothing is learnt from updates."""

    def state_dict(self) -> State:
        """The goals that stay, as a view; empty if new goals are drawn every time."""
        return {} if self._chosen is None else {"chosen": self._chosen[:, : len(self._base)]}

    def load_state_dict(self, state: State) -> None:
        """Load the result of `state_dict`.

        Raises:
            RlkError: if it was saved with another `n_sampled_goal`.
        """
        if not self._stay:
            return
        if "chosen" not in state:
            self.added(np.arange(len(self._base)))
            return
        saved, chosen = state["chosen"], self._table()
        if len(saved) != len(chosen):
            raise RlkError(
                f"this replay memory has {len(saved)} goals per transition, the run "
                f"{len(chosen)}. Resume with hindsight-replay.n_sampled_goal={len(saved)}."
            )
        chosen[:, : saved.shape[1]] = saved
