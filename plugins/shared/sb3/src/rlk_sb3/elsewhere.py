"""Names of Stable-Baselines3 that are not here, and what to use instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rlk_baselines import refusals

_PACKAGE = __name__.rpartition(".")[0]
_OWN_POLICY = "a policy of your own: docs/custom-policies.md"
_OWN_ENV = "an environment of your own (class MyEnv(gymnasium.Env))"
_NETWORKS = "model.policy, whose parts are torch modules by rlk's names"
_OF_POLICY = "model.policy.get_distribution(obs), or a distribution of torch.distributions"
_STORAGES = "rlk.make(…, storage=NAME): models keep what they collect in storages of rlk"
_FILES = "model.save(path) and MODEL.load(path): files hold no code"
_LEARN = "learn(total_timesteps) collects and updates in turn"
_BATCHES = "is_vectorized_observation(observation, observation_space), for any space"

#: Module of this package -> its names that are not here, and what to use instead.
INSTEAD: Mapping[str, Mapping[str, str]] = {
    "": {"HER": "replay_buffer_class=HerReplayBuffer of DDPG, DQN, SAC or TD3"},
    "common.buffers": dict.fromkeys(
        ("BaseBuffer", "DictRolloutBuffer", "NStepReplayBuffer", "RolloutBuffer"), _STORAGES
    ),
    "common.distributions": dict.fromkeys(
        (
            *("BernoulliDistribution", "CategoricalDistribution", "DiagGaussianDistribution"),
            *("Distribution", "MultiCategoricalDistribution", "SquashedDiagGaussianDistribution"),
            *("StateDependentNoiseDistribution", "TanhBijector", "kl_divergence"),
            *("make_proba_distribution", "sum_independent_dims"),
        ),
        _OF_POLICY,
    ),
    "common.envs": {"FakeImageEnv": _OWN_ENV},
    "common.envs.identity_env": {"FakeImageEnv": _OWN_ENV},
    "common.monitor": {"ResultsWriter": "Monitor(env, filename), which writes the file"},
    "common.noise": {
        "VectorizedActionNoise": "its base_noise alone: every environment draws independently"
    },
    "common.policies": {
        "BaseModel": "torch.nn.Module",
        "ContinuousCritic": _NETWORKS,
    },
    "common.save_util": {
        **dict.fromkeys(
            (
                *("data_to_json", "json_to_data", "load_from_pkl", "load_from_zip_file"),
                *("open_path", "open_path_pathlib", "open_path_str", "save_to_pkl"),
                "save_to_zip_file",
            ),
            _FILES,
        ),
        "is_json_serializable": "json.dumps(value), which raises a TypeError if it cannot",
        "recursive_getattr": "operator.attrgetter('a.b')(obj)",
        "recursive_setattr": "setattr(operator.attrgetter('a')(obj), 'b', value)",
    },
    "common.torch_layers": {"MlpExtractor": f"policy_kwargs=dict(net_arch=…), or {_OWN_POLICY}"},
    "common.utils": {
        "check_shape_equal": "check_for_correct_spaces(env, observation_space, action_space)",
        **dict.fromkeys(
            [
                f"is_vectorized_{kind}_observation"
                for kind in ("box", "dict", "discrete", "multibinary", "multidiscrete")
            ],
            _BATCHES,
        ),
        "should_collect_more_steps": "learn(total_timesteps), which collects as train_freq says",
    },
    "dqn.policies": {"QNetwork": _NETWORKS},
    "sac.policies": {
        "Actor": _NETWORKS,
        **{
            name: f"from rlk_squashed_gaussian.distribution import {name}"
            for name in ("LOG_STD_MAX", "LOG_STD_MIN")
        },
    },
    "td3.policies": {"Actor": _NETWORKS},
}

#: Attributes of models and their policies that are not here, and what to use instead.
OF_MODELS: Mapping[str, str] = {
    "save": "write model.save(path), or torch.save(model.policy.state_dict(), path)",
    "optimizer": "set model.learning_rate for another learning rate, also while learn is running",
    "reset_noise": "noise that depends on the state is drawn anew every sde_sample_freq steps",
    "squash_output": "policy_kwargs=dict(squash_output=True) sets it, with use_sde=True",
    "actor": "write model.policy(obs, deterministic=True), whose actions are scaled to -1 to 1, or "
    "model.policy.predict(obs, deterministic=True); its network is model.policy.pi",
    "_current_progress_remaining": "write 1 - model.num_timesteps / model._total_timesteps",
    "_episode_num": "a callback counts episodes as sum(self.locals['dones'])",
    "_last_obs": "a callback finds the latest observations as self.locals['new_obs']",
    "_last_episode_starts": "a callback finds whether episodes ended as self.locals['dones']",
    "_n_updates": "a row of model.logger has it as train/n_updates",
    "_vec_normalize_env": "write model.get_vec_normalize_env()",
    **dict.fromkeys(("collect_rollouts", "train"), _LEARN),
    "_predict": "write model.policy(obs, deterministic), or model.predict(obs)",
    "_setup_lr_schedule": "a model uses its learning_rate from when it is set",
    "action_dist": "write model.policy.get_distribution(obs)",
    "extract_features": "write model.policy.encode(obs)",
    "features_extractor": "there is one for a features_extractor_class that all networks share",
    **dict.fromkeys(
        ("_setup_learn", "_update_current_progress_remaining", "_update_learning_rate"),
        "learn does this itself; docs/changing-a-run.md says how to change what it does",
    ),
    **dict.fromkeys(
        (
            *("action_net", "actor_target", "critic", "critic_target", "log_std"),
            *("mlp_extractor", "q_net", "q_net_target", "value_net"),
        ),
        "networks have rlk's parts and names here, which print(model.policy) shows",
    ),
    **dict.fromkeys(
        ("load_from_vector", "parameters_to_vector"),
        "write parameters_to_vector(policy.parameters()) or vector_to_parameters(vector, "
        "policy.parameters()) of torch.nn.utils",
    ),
}

#: The same for models with a replay.
OF_OFF_POLICY_MODELS: Mapping[str, str] = {
    **OF_MODELS,
    **dict.fromkeys(
        ("collect_rollouts", "train"),
        f"{_LEARN}, with learning_starts=0 from the first batch on, also from transitions that a "
        "program has put into the replay",
    ),
}


def with_hint(
    error: AttributeError, name: str, instead: Mapping[str, str] = OF_MODELS
) -> AttributeError:
    """The error for an attribute of a model or its policy, with what to use instead of it."""
    hint = instead.get(name)
    return AttributeError(f"{error}: {hint}" if hint else str(error))


def not_here(module: str, name: str) -> Exception:
    """The error for a name that a module of this package does not have; see `refusals.not_here`."""
    below = module.removeprefix(_PACKAGE).removeprefix(".")
    return refusals.not_here(module, name, INSTEAD.get(below, {}))


def refusing(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module of this package, for the names that it does not have."""

    def refuse(name: str) -> Any:
        raise not_here(module, name)

    return refuse
