"""The component: the module that registers gymnasium-robotics' ids, and how to install it."""

from __future__ import annotations

from rlk.component import Component
from rlk_gymnasium.ids import ids

component = Component(
    name="robotics",
    factory=ids(
        *("Fetch*-v*", "HandReach*-v*", "HandManipulate*-v*", "AdroitHand*-v*"),
        *("PointMaze_*-v*", "AntMaze_*-v*", "FrankaKitchen-v*"),
        registered_by="gymnasium_robotics",
        install='pip install "rlk-robotics[robotics]"',
    ),
    summary="FetchReach-v4, HandReach-v3, PointMaze_UMaze-v3 (goals) and others",
)
