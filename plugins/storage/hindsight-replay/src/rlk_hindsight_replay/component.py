"""What planning knows of hindsight replay."""

from __future__ import annotations

from rlk.component import Component
from rlk_hindsight_replay.checks import check
from rlk_hindsight_replay.config import HindsightReplayConfig

component = Component(
    name="hindsight-replay",
    factory="rlk_hindsight_replay.storage:HindsightReplay",
    summary="relabels transitions with goals that were reached (Andrychowicz et al. 2017)",
    known_as=("HindsightExperienceReplayWrapper", "HerReplayBuffer"),
    config=HindsightReplayConfig,
    instead_of={"max_episode_length": "episodes may have any length. Leave it out."},
    collects="off-policy",
    observation_spaces=("Dict",),
    stages=("relabel",),
    check=check,
)
