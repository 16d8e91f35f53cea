"""The last image of an episode, which a vector can no longer render: it has restarted by then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym

from rlk.component import Component
from rlk.planning.choice import Choice
from rlk.registry.entry import Entry
from rlk.registry.external import PASSED

#: The key in the last info of an episode.
KEY = "rlk_last_frame"


class LastFrame(gym.Wrapper[Any, Any, Any, Any]):
    """Puts the image after the last step of an episode into the info of that step.

    Around a vector that is made as a whole it does nothing: there, nobody sees that image.
    """

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        if terminated or truncated:
            frame: Any = self.env.render()
            if frame is not None:
                info = {**info, KEY: frame}
        return observation, reward, terminated, truncated, info

    @staticmethod
    def around_vector(env: Any) -> Any:
        """The vector itself."""
        return env

    @staticmethod
    def vector_spaces(observation_space: Any, action_space: Any) -> tuple[Any, Any]:
        """The same spaces."""
        return observation_space, action_space


def last_frames() -> Choice:
    """The wrapper in its place in a plan."""
    factory = f"{__name__}:LastFrame"
    component = Component(name="last-frame", factory=factory, keeps_returns=True)
    return Choice.of(Entry("wrappers", component.name, PASSED, "", lambda: component))


def last_frame_of(infos: Mapping[str, Any], index: int) -> Any:
    """The last image of the episode of that environment that has just ended; None without one."""
    final = infos.get("final_info", {})
    is_there = KEY in final and bool(final.get(f"_{KEY}", [True] * (index + 1))[index])
    return final[KEY][index] if is_there else None
