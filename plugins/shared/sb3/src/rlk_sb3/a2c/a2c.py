"""`A2C`: advantage actor-critic (Mnih et al. 2016, arXiv 1602.01783)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch.optim import Adam, RMSprop

from rlk_baselines.argument_types import Folder, Keywords, Schedulable
from rlk_baselines.arguments import Argument, Needed, Rate, at_once, constructor
from rlk_baselines.refusals import Refused
from rlk_baselines.saved_models.model_files import Saved
from rlk_sb3.algorithm import LAST, SDE, Device
from rlk_sb3.common.on_policy_algorithm import ROLLOUT_BUFFER, OnPolicyAlgorithm
from rlk_sb3.common.sb2_compat.rmsprop_tf_like import RMSpropTFLike
from rlk_sb3.optimisers import CLASS, is_other, name_of

_EPSILON = 1e-05
_RMSPROP = {"optimiser": "rmsprop", "rmsprop.variant": "torch"}
_OF_TENSORFLOW = {"optimiser": "rmsprop", "rmsprop.variant": "tensorflow"}


class A2C(OnPolicyAlgorithm):
    """Advantage actor-critic (Mnih et al. 2016, arXiv 1602.01783).

    Its parameters are those of Stable-Baselines3; it trains with rlk's `a2c`.
    """

    algo = "a2c"
    rows = 100

    @constructor(
        Argument("learning_rate", change=Rate(("policy",))),
        *at_once("gamma", "gae_lambda", "ent_coef", "vf_coef", "normalize_advantage"),
        Argument("rms_prop_eps", rlk="epsilon", needs=Needed("use_rms_prop", "True")),
        Argument("use_rms_prop", is_held=True),
        *SDE,
        *ROLLOUT_BUFFER,
        *LAST,
    )
    def __init__(
        self,
        policy: str | type[Any],
        env: Any,
        learning_rate: Schedulable = 0.0007,
        n_steps: int = 5,
        gamma: float = 0.99,
        gae_lambda: float = 1.0,
        ent_coef: float = 0.0,
        vf_coef: float = 0.5,
        max_grad_norm: float | None = 0.5,
        rms_prop_eps: float = 1e-5,
        use_rms_prop: bool = True,
        use_sde: bool = False,
        sde_sample_freq: int = -1,
        rollout_buffer_class: None = None,
        rollout_buffer_kwargs: None = None,
        normalize_advantage: bool = False,
        stats_window_size: int = 100,
        tensorboard_log: Folder | None = None,
        policy_kwargs: Keywords | None = None,
        verbose: int = 0,
        seed: int | None = None,
        device: Device = "auto",
        _init_setup_model: bool = True,
    ) -> None: ...

    def _optimizer(self) -> tuple[Any, float]:
        keywords = self.policy_kwargs.get("optimizer_kwargs") or {}
        if _ask_for_tensorflows(self.policy_kwargs):
            return self.policy_kwargs["optimizer_class"], keywords.get("eps", 1e-8)
        if self._given["use_rms_prop"] and self.policy_kwargs.get(CLASS) is None:
            return RMSprop, self._given["rms_prop_eps"]
        return Adam, _EPSILON  # Stable-Baselines3's epsilon for Adam, too

    def _own_optimiser(self) -> dict[str, Any]:
        """The settings of rlk for the model's own optimiser; none if `policy_kwargs` replace it."""
        kind, epsilon = self._optimizer()
        if is_other(self.policy_kwargs, kind, epsilon):
            return {}
        if kind is Adam:
            return {"optimiser": "adam"}
        return _RMSPROP if kind is RMSprop else {**_OF_TENSORFLOW, "epsilon": epsilon}

    def _has_other_optimiser(self) -> bool:
        """Whether `policy_kwargs` replace A2C's own RMSprop, and thereby its epsilon."""
        is_named = self.policy_kwargs.get(CLASS) is not None
        return is_named or is_other(self.policy_kwargs, *self._optimizer())

    def held_policy_kwargs(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """As in `BaseAlgorithm`; any class replaces A2C's own RMSprop."""
        found = super().held_policy_kwargs(kwargs)
        if kwargs.get(CLASS) is not None:
            found[CLASS] = name_of(kwargs[CLASS])
        return found

    def load_from(self, saved: Saved, env: Any) -> None:
        """As in `BaseAlgorithm`; Refused if the optimiser would be another one."""
        held = saved.about["arguments"].get("use_rms_prop", True)
        _refuse_other_optimiser(held, saved.given["use_rms_prop"])
        super().load_from(saved, env)

    def _change(self, name: str, value: Any) -> None:
        """As in `Constructed`; Refused if the optimiser would be another one."""
        if name == "use_rms_prop":
            _refuse_other_optimiser(self._given[name], value)
        super()._change(name, value)

    def translated(self, settings: dict[str, Any]) -> dict[str, Any]:
        """As in `BaseAlgorithm`; in rlk, state-dependent exploration is a distribution."""
        own: dict[str, Any] = {}
        if "use_rms_prop" in settings:
            settings.pop("use_rms_prop")
            own |= self._own_optimiser()
        if self._has_other_optimiser():
            settings.pop("rms_prop_eps", None)  # ignored there, too
        use_sde = settings.pop("use_sde", False)
        sample_freq = settings.pop("sde_sample_freq", -1)
        own |= {"distribution": "gsde", "gsde.sample_freq": sample_freq} if use_sde else {}
        return {**super().translated(settings), **own}


def _ask_for_tensorflows(policy_kwargs: Mapping[str, Any]) -> bool:
    """Whether they ask for `RMSpropTFLike`; those of a file have its name."""
    return policy_kwargs.get("optimizer_class") in (RMSpropTFLike, RMSpropTFLike.__name__)


def _refuse_other_optimiser(before: bool, now: bool) -> None:
    """Refuse another optimiser for a model that has been made."""
    if now != before:
        raise Refused(
            f"A2C: use_rms_prop is {before} in this model, whose optimiser has a state. For the "
            f"other optimiser make a new model, A2C(policy, env, use_rms_prop={now}), and "
            "new.set_parameters(model.get_parameters())."
        )
