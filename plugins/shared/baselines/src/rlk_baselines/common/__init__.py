"""What all models share, by the module names of Stable Baselines 2.10."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk_baselines.submodules import on_first_use

if TYPE_CHECKING:
    from rlk_baselines.common.base_class import BaseRLModel as BaseRLModel
    from rlk_baselines.common.cmd_util import make_vec_env as make_vec_env
    from rlk_baselines.common.math_util import discount as discount
    from rlk_baselines.common.math_util import discount_with_boundaries as discount_with_boundaries
    from rlk_baselines.common.math_util import explained_variance as explained_variance
    from rlk_baselines.common.misc_util import boolean_flag as boolean_flag
    from rlk_baselines.common.misc_util import set_global_seeds as set_global_seeds
    from rlk_baselines.common.misc_util import zipsame as zipsame
    from rlk_baselines.models import ActorCriticRLModel as ActorCriticRLModel
    from rlk_baselines.models import OffPolicyRLModel as OffPolicyRLModel

#: The submodule of every name.
_HOMES = {
    "ActorCriticRLModel": "base_class",
    "BaseRLModel": "base_class",
    "OffPolicyRLModel": "base_class",
    "boolean_flag": "misc_util",
    "discount": "math_util",
    "discount_with_boundaries": "math_util",
    "explained_variance": "math_util",
    "make_vec_env": "cmd_util",
    "set_global_seeds": "misc_util",
    "zipsame": "misc_util",
}

__all__ = [*_HOMES]

__getattr__ = on_first_use(__name__, _HOMES)
