"""Settings of the extension."""

from __future__ import annotations

import attrs


@attrs.frozen(kw_only=True)
class ModelStartConfig:
    """Which model it is."""

    path: str | None = attrs.field(
        default=None,
        validator=attrs.validators.optional(attrs.validators.instance_of(str)),
        metadata={"help": "a model, a checkpoint, or a run folder (its model.zip)"},
    )
