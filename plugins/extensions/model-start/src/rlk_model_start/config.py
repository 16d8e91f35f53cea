"""Settings of the extension."""

from __future__ import annotations

import attrs

from rlk.settings import setting


@attrs.frozen(kw_only=True)
class ModelStartConfig:
    """The path of the model."""

    path: str | None = attrs.field(
        default=None,
        **setting(
            "a model, a checkpoint, or a run folder (its model.zip)",
            attrs.validators.optional(attrs.validators.instance_of(str)),
        ),
    )
