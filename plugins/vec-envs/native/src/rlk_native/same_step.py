"""Vector environments that restart episodes in the step that ends them, whatever they did before.

Gymnasium knows three modes. SAME_STEP is what rlk's loop takes. DISABLED leaves restarts to a reset
with a mask. NEXT_STEP throws the next action of an ended row away and gives the first observation
instead, so that this step has no transition: such an environment is restarted by a mask where it
takes one, or by what is known of its class (`RESTARTS`). Any other one becomes N vectors of one
environment each, which can take that extra step by themselves: this is exact for all of them, and
gives up the speed of a vector.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium.envs.classic_control.cartpole import CartPoleVectorEnv
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv, VectorEnv

from rlk_dummy import DummyVecEnv
from rlk_native.one_row import OneRow
from rlk_vector_environments.adoption import KeepInfos, ResetWhereEnded, autoreset_mode

Vector = VectorEnv[Any, Any, Any]
Restart = Callable[[Any, np.ndarray[Any, Any]], tuple[Any, dict[str, Any]]]
#: Of Gymnasium's own, those that drop the restart of the next step at a reset with a mask.
_TAKE_MASKS = (SyncVectorEnv, AsyncVectorEnv)


def restarting_in_the_same_step(
    make: Callable[[int], Vector], n: int, info_keys: tuple[str, ...]
) -> Vector:
    """A vector of n environments.

    Args:
        make: makes a vector of so many.
        info_keys: numbers of every info that go into `infos["kept"]`.
    """
    vector = make(n)
    mode, kind = autoreset_mode(vector), type(vector.unwrapped)
    restart = RESTARTS.get(kind)
    if mode == AutoresetMode.NEXT_STEP and restart is None and kind not in _TAKE_MASKS:
        vector.close()
        rows: Vector = DummyVecEnv([lambda: OneRow(make(1))] * n, info_keys=info_keys or None)
        return rows
    if info_keys:
        vector = KeepInfos(vector, info_keys)
    return vector if mode == AutoresetMode.SAME_STEP else ResetWhereEnded(vector, restart)


def _restart_cart_pole(vector: Any, ended: np.ndarray[Any, Any]) -> tuple[Any, dict[str, Any]]:
    """What its next step would do to rows that have ended, and nothing else."""
    start = vector.np_random.uniform(vector.low, vector.high, (4, int(ended.sum())))
    vector.state[:, ended] = start
    vector.steps[ended] = 0
    vector.prev_done[ended] = False
    return vector.state.T.astype(np.float32), {}


RESTARTS: Mapping[type, Restart] = {CartPoleVectorEnv: _restart_cart_pole}
