"""Which settings of the wrappers planning refuses. Imports no torch and no gymnasium."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from rlk.abilities import ChangesSpaces, offers
from rlk.errors import PlanError

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk_wrappers.config import NormalizeConfig
    from rlk_wrappers.config_steps import VideoRecorderConfig


def can_normalize(config: NormalizeConfig, plan: Plan) -> None:
    """PlanError if observations are changed after they are counted, or for wrong keys."""
    from rlk_wrappers.chosen_keys import chosen

    around = [choice for choice in plan.wrappers if choice.component.wraps == "vector"]
    names = [choice.name for choice in around]
    for choice in around[names.index("normalize") + 1 :]:
        if offers(choice.load(), ChangesSpaces):
            raise PlanError(
                "wrapper 'normalize' (rlk-wrappers) normalises what the policy sees, but "
                f"{choice.title} around it changes that. Use --plugin normalize after "
                f"--plugin {choice.name}."
            )
    chosen(plan.observation_space, config.norm_obs_keys)


def can_write_videos(config: VideoRecorderConfig, plan: Plan) -> None:
    """PlanError if MP4 cannot be written."""
    if importlib.util.find_spec("imageio_ffmpeg") is None:
        raise PlanError(
            "wrapper 'video-recorder' (rlk-wrappers) writes MP4, which needs ffmpeg. Type: pip "
            'install "rlk-wrappers[video]"'
        )
