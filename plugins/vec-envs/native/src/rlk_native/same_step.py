"""Makes vector environments of any restart mode restart episodes in the step that ends them.

Gymnasium has three modes. rlk's loop needs SAME_STEP. With DISABLED, the user restarts episodes by
a reset with a mask. With NEXT_STEP, the environment ignores the next action after an episode's end
and returns the first observation instead, so this step is not a transition. Such an environment is
restarted by a reset with a mask if it takes one, or by a function for its class (`RESTARTS`). Any
other one is replaced by N vectors of one environment each, which can take the extra step by
themselves: this is exact for every class, but loses the speed of vectorisation.
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
#: Gymnasium's own classes that skip the restart of the next step after a reset with a mask.
_TAKE_MASKS = (SyncVectorEnv, AsyncVectorEnv)


def restarting_in_the_same_step(
    make: Callable[[int], Vector], n: int, info_keys: tuple[str, ...]
) -> Vector:
    """A vector of n environments.

    Args:
        make: makes a vector of so many environments.
        info_keys: keys of numbers in infos that `infos["kept"]` has.
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
    """Restart the ended episodes as the vector's next step would, and change nothing else."""
    start = vector.np_random.uniform(vector.low, vector.high, (4, int(ended.sum())))
    vector.state[:, ended] = start
    vector.steps[ended] = 0
    vector.prev_done[ended] = False
    return vector.state.T.astype(np.float32), {}


RESTARTS: Mapping[type, Restart] = {CartPoleVectorEnv: _restart_cart_pole}
