"""Settings of the extension."""

from __future__ import annotations

import attrs

from rlk.settings import documented, setting


@documented
@attrs.frozen(kw_only=True)
class ModelStartConfig:
    """The model, and whether it must have every parameter."""

    path: str | None = attrs.field(
        default=None,
        **setting(
            "a model, a checkpoint, or a run folder (its model.zip)",
            attrs.validators.optional(attrs.validators.instance_of(str)),
            read=True,
        ),
    )
    exact_match: bool = attrs.field(
        default=True,
        **setting(
            "whether model and run must have the same parameters; else those that both have are "
            "loaded (the policy of a clone, whose value function is missing)"
        ),
    )
