"""Settings of the extension."""

from __future__ import annotations

import attrs

from rlk.settings import documented, setting


@documented
@attrs.frozen(kw_only=True)
class ReplayStartConfig:
    """The path of the other run."""

    run: str | None = attrs.field(
        default=None,
        **setting(
            "a run folder (its newest checkpoint), a checkpoint, or a file of `save_replay_buffer`",
            attrs.validators.optional(attrs.validators.instance_of(str)),
            read=True,
        ),
    )
