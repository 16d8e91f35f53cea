"""Settings with which an algorithm updates within a few dozen steps."""

from __future__ import annotations

from typing import Any

from rlk import settings

#: By the names that algorithms have for them.
_SMALL: dict[str, Any] = {
    "n_steps": 16,
    "batch_size": 16,
    "learning_starts": 32,
    "train_freq": 4,
    "gradient_steps": 1,
    "buffer_size": 512,
    "replay_start": 32,
    "target_network_update_freq": 32,
    "timesteps_per_actorbatch": 32,
    "optim_batchsize": 16,
    "optim_epochs": 2,
    "timesteps_per_batch": 32,
    "nb_rollout_steps": 16,
    "nb_train_steps": 8,
    "noptepochs": 2,
    "n_epochs": 2,
    "nminibatches": 2,
}


def small_settings(config: type | None) -> dict[str, Any]:
    """Those of the settings that an algorithm's config has."""
    return {name: _SMALL[name] for name in settings.names(config) if name in _SMALL}
