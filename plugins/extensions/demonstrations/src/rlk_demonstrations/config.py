"""Settings of the extension."""

from __future__ import annotations

import attrs

from rlk.settings import documented
from rlk_expert_data.settings import EXPERT_PATH, TRAJ_LIMITATION


@documented
@attrs.frozen(kw_only=True)
class DemonstrationsConfig:
    """Which expert's transitions are added."""

    expert_path: str | None = attrs.field(default=None, **EXPERT_PATH)
    traj_limitation: int = attrs.field(default=-1, **TRAJ_LIMITATION)
