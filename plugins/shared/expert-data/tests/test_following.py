"""What the transitions of an expert's episodes led to."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlk_expert_data import Trajectories

#: Two episodes, of three steps and of two.
DATA: dict[str, Any] = {
    "obs": np.arange(5.0)[:, None],
    "actions": np.zeros((5, 1)),
    "episode_starts": np.array([True, False, False, True, False]),
    "episode_returns": np.zeros(2),
}
ENDS = {
    "episode_final_obs": np.array([[10.0], [11.0]]),
    "episode_terminated": np.array([True, False]),
}


def test_the_last_step_of_an_episode_is_left_out_where_it_is_not_known_what_it_led_to() -> None:
    now, following, over = Trajectories.of(DATA).following()
    assert now.tolist() == [0, 1, 3] and following.tolist() == [1, 2, 4]
    assert over.tolist() == [False, False, False]


def test_the_last_step_of_an_episode_led_to_its_final_observation() -> None:
    now, following, over = Trajectories.of({**DATA, **ENDS}).following()
    assert now.tolist() == [0, 1, 2, 3, 4] and following.tolist() == [1, 2, 5, 4, 6]
    assert over.tolist() == [False, False, True, False, False]
