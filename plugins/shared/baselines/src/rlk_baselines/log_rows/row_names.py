"""The names of metrics in rows, which depend on the model in Stable Baselines.

They are those of PPO2 for on-policy models; DDPG, DQN, SAC and TD3 have their own.
"""

from __future__ import annotations

from collections.abc import Mapping

Names = Mapping[str, tuple[str, ...]]

#: Tags of rlk's metrics -> their names; other metrics have the last part of their tag.
_USUAL: Names = {
    "rollout/ep_rew_mean": ("ep_reward_mean",),
    "rollout/ep_len_mean": ("ep_len_mean",),
    "rollout/success_rate": ("success rate",),
    "train/n_updates": ("n_updates",),
    "train/entropy": ("policy_entropy",),
}
_RETURN = "mean 100 episode reward"
_SAC: Names = {
    **_USUAL,
    "rollout/ep_rew_mean": (_RETURN, "ep_rewmean"),
    "rollout/ep_len_mean": ("eplenmean",),
    "time/total_timesteps": ("total timesteps",),
    "train/learning_rate_actor": ("current_lr",),
}
#: Those of single algorithms of rlk, by their names.
_OWN: Mapping[str, Names] = {
    "sac": _SAC,
    "td3": _SAC,
    "dqn": {
        **_USUAL,
        "rollout/ep_rew_mean": (_RETURN,),
        "time/total_timesteps": ("steps",),
    },
    "ddpg": {
        **_USUAL,
        "rollout/ep_rew_mean": ("rollout/return_history",),
        "rollout/ep_len_mean": ("rollout/episode_steps",),
        "rollout/param_noise_distance": ("train/param_noise_distance",),
        "time/episodes": ("total/episodes",),
        "time/fps": ("total/steps_per_second",),
        "time/time_elapsed": ("total/duration",),
        "time/total_timesteps": ("total/steps",),
        "train/actor_loss": ("train/loss_actor",),
        "train/critic_loss": ("train/loss_critic",),
        "train/return_mean": ("ret_rms_mean",),
        "train/return_std": ("ret_rms_std",),
        **{f"eval/{name}": (f"eval/{name}",) for name in ("return", "return_history", "episodes")},
    },
}
_EPSILON = "rollout/exploration_rate"


def named(row: Mapping[str, float], algorithm: str) -> dict[str, float]:
    """A row by the names of Stable Baselines.

    Args:
        row: by the tags of rlk's metrics.
        algorithm: the name of rlk's algorithm.
    """
    names, found = _OWN.get(algorithm, _USUAL), {}
    for tag, value in row.items():
        for name in names.get(tag, (tag.rpartition("/")[2],)):
            found[name] = value
    if _EPSILON in row:
        del found["exploration_rate"]
        found["% time spent exploring"] = int(100 * row[_EPSILON])
    return found
