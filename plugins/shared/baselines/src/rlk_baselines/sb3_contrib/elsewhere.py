"""Names of sb3-contrib that are not here, and what to use instead."""

from __future__ import annotations

from collections.abc import Mapping

from rlk_baselines.sb3 import elsewhere

_PACKAGE = __name__.rpartition(".")[0]
_STORAGES = "model.rollout_buffer, which shows the latest collection of a model"
_OF_POLICY = "model.policy.get_distribution(obs, action_masks=masks)"
_EVALUATION = "evaluate_policy(model, SubprocVecEnv(…))"
_STATES = "a numpy array: the state of an LSTM is one, and model.predict takes and returns it"
_OF_TORCH = "torch.nn.BatchNorm1d, in a features_extractor_class of your own"

#: Module of this package -> its names that are not here, and what to use instead.
INSTEAD: Mapping[str, Mapping[str, str]] = {
    "": {
        **dict.fromkeys(
            ("ARS", "CrossQ"), "an algorithm of rlk: rlk plugins list --kind algorithms"
        ),
        "QRDQN": "DQN of rlk_baselines.sb3, or of rlk_baselines, which is double and dueling",
        "TQC": "SAC or TD3 of rlk_baselines.sb3",
    },
    "common.maskable.buffers": dict.fromkeys(
        (
            *("MaskableDictRolloutBuffer", "MaskableDictRolloutBufferSamples"),
            *("MaskableRolloutBuffer", "MaskableRolloutBufferSamples"),
        ),
        _STORAGES,
    ),
    "common.maskable.distributions": dict.fromkeys(
        (
            *("MaskableBernoulliDistribution", "MaskableCategorical"),
            *("MaskableCategoricalDistribution", "MaskableDistribution"),
            *("MaskableMultiCategoricalDistribution", "make_masked_proba_distribution"),
        ),
        _OF_POLICY,
    ),
    "common.recurrent.buffers": dict.fromkeys(
        (
            *("RecurrentDictRolloutBuffer", "RecurrentRolloutBuffer"),
            *("create_sequencers", "pad", "pad_and_flatten"),
        ),
        _STORAGES,
    ),
    "common.recurrent.type_aliases": {
        **dict.fromkeys(
            ("RecurrentDictRolloutBufferSamples", "RecurrentRolloutBufferSamples"), _STORAGES
        ),
        "RNNStates": _STATES,
    },
    "common.torch_layers": dict.fromkeys(("BatchRenorm", "BatchRenorm1d"), _OF_TORCH),
    "common.utils": {
        "conjugate_gradient_solver": "conjugate_gradient of rlk_natural_gradient.conjugate",
        "flat_grad": "torch.autograd.grad, and parameters_to_vector of torch.nn.utils",
        "quantile_huber_loss": "torch.nn.functional.huber_loss, weighted by |tau - (u < 0)|",
    },
    "common.vec_env": {"AsyncEval": _EVALUATION},
    "common.vec_env.async_eval": {"AsyncEval": _EVALUATION},
}


def not_here(module: str, name: str) -> Exception:
    """As that of `rlk_baselines.sb3.elsewhere`, for modules of this package."""
    return elsewhere.not_here(module, name, _PACKAGE, INSTEAD)
