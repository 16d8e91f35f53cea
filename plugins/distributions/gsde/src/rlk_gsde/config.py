"""Settings of gSDE, with the names of Stable-Baselines3."""

from __future__ import annotations

import attrs
from attrs import validators as v

from rlk.settings import above, at_least, between, documented, fits_float32, setting


@documented
@attrs.frozen(kw_only=True)
class GSDEConfig:
    """The initial spread of the noise, what it depends on, and how long it is held."""

    log_std_init: float = attrs.field(
        default=0.0,
        **setting(
            "initial natural logarithm of the standard deviation of each weight of the "
            "noise, -20 to 20; that of an action is larger, by the norm of the features",
            between(-20.0, 20.0),
        ),
    )
    full_std: bool = attrs.field(
        default=True,
        **setting(
            "learn a standard deviation for each feature and action dimension; false "
            "learns one for each feature"
        ),
    )
    use_expln: bool = attrs.field(
        default=False,
        **setting(
            "above 0, let the standard deviation grow with the logarithm of its "
            "parameter instead of exponentially"
        ),
    )
    squash_output: bool = attrs.field(
        default=False, **setting("squash actions into their bounds by tanh")
    )
    clip_mean: float | None = attrs.field(
        default=None,
        **setting(
            "largest absolute value of the mean before squashing, to which it is "
            "clipped; none does not clip it",
            v.optional([above(0.0), fits_float32]),
        ),
    )
    learn_features: bool = attrs.field(
        default=False,
        **setting("let the standard deviation of the noise train the features that it depends on"),
    )
    sample_freq: int = attrs.field(
        default=-1,
        **setting(
            "steps of an environment after which the noise is drawn again; -1 draws "
            "it only at the beginning of each collection",
            v.and_(at_least(-1), v.not_(v.in_((0,)), msg="sample_freq is -1 or at least 1")),
        ),
    )
