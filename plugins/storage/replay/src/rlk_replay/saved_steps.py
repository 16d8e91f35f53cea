"""The steps of a saved replay, to be added to a replay of another form.

Dimensions: N environments of the replay that they are for, T steps of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import numpy as np

from rlk.protocols import State
from rlk.records import Array, Schema, Step
from rlk_replay.memory import Zeros
from rlk_replay.ring import Ring
from rlk_stored_steps.leaves import observation_of

#: Transitions that are read at a time, and at most so many bytes of observations.
_AT_A_TIME, _BYTES_AT_A_TIME = 1024, 4 << 20


def steps_of(
    state: State, schema: Schema, capacity: int, zeros: Zeros
) -> Iterator[tuple[Step, list[int]]]:
    """The saved steps, as steps of N environments, the oldest first.

    With each step come the environments whose episodes end there: because the step says so, because
    of a reset after it, or because nothing newer was saved.

    The newest steps of the saved environments, as many of each as there is room for, are
    concatenated and cut into N equal parts. So if N environments were saved, they are the same ones
    again. The remainder of the division, the oldest steps of the first environment, is left out.

    Args:
        state: of a `Ring`, of any size and number of environments.
        schema: of the replay that they are for; observations, actions and extras must be the same.
        capacity: the steps of each environment that it keeps: older ones are left out.
        zeros: where the arrays come from that hold the state meanwhile.

    Raises:
        RlkError: if it was saved with other observations, actions or extras.
    """
    state = _of_the_steps_it_has(state)
    sizes = state["layout"]
    saved = replace(schema, n_envs=sizes["n_envs"])
    ring = Ring(sizes["capacity"], saved, sizes["frame_stack"], zeros)
    ring.load_state_dict(state, "environment, and an algorithm that keeps the same with every step")
    newest = -(-capacity * schema.n_envs // ring.n_envs)
    slots = _in_order(ring)[:, -newest:].reshape(-1)
    slots = slots[len(slots) % schema.n_envs :].reshape(schema.n_envs, -1).T[-capacity:]
    size = sum(leaf.size for leaf in ring.leaves)
    steps = max(1, min(_AT_A_TIME, _BYTES_AT_A_TIME // size) // schema.n_envs)
    parts = (slots[begin : begin + steps] for begin in range(0, len(slots), steps))
    return chain.from_iterable(_read(ring, part) for part in parts)


def _of_the_steps_it_has(state: State) -> State:
    """The state as of a ring that had room for no more steps and frames than are saved."""
    layout = state["layout"]
    capacity = min(layout["capacity"], max(1, state["time"]))
    frames = {
        name: {**pool, "rows": min(pool["rows"], max(1, pool["next"]))}
        for name, pool in state["frames"].items()
    }
    return {**state, "layout": {**layout, "capacity": capacity}, "frames": frames}


def _in_order(ring: Ring) -> Array:
    """The slots of every environment from its oldest step on, int64 [N, T] of the ring's own N."""
    rows = len(ring) // ring.n_envs
    slots = np.arange(len(ring)).reshape(rows, ring.n_envs)
    oldest = np.argmin(ring.time_of(slots[:, 0])) if rows else 0
    return np.roll(slots, -oldest, axis=0).T


def _read(ring: Ring, slots: Array) -> Iterator[tuple[Step, list[int]]]:
    """The steps in these slots, int64 [T, N], each with the environments whose episodes end."""
    records, observations, _ = ring.gather(slots.reshape(-1), 1)
    rows = records[0].reshape(slots.shape)
    seen, following = (
        [values[which].reshape(*slots.shape, *values.shape[2:]) for values in observations]
        for which in (0, 1)
    )
    is_last = ring.steps_to_end(slots) == 0
    for t, row in enumerate(rows):
        after = [values[t] for values in following]
        ended = np.flatnonzero(row["terminated"] | row["truncated"]).tolist()
        step = Step(
            observation=observation_of(ring.leaves, [values[t] for values in seen]),
            action=row["action"],
            reward=row["reward"],
            terminated=row["terminated"],
            truncated=row["truncated"],
            next_observation=observation_of(ring.leaves, after),
            final_observation={
                env: observation_of(ring.leaves, [values[env] for values in after]) for env in ended
            },
            extras={name: row[f"extras.{name}"] for name in ring.extra_names},
        )
        yield step, np.flatnonzero(is_last[t]).tolist()
