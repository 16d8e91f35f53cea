"""SAC and TD3 of images from Stable Baselines 2.10: a CNN for the actor, one for both critics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from models_there import OF_SAC, OF_TD3, PENDULUM_SPACES, saved
from networks_there import cnn, dense, layers, relu, seen

from rlk_baselines import SAC, TD3
from rlk_testing.tools.stable_baselines_pickles import image_box

SHAPE = (44, 44, 2)
IMAGES = np.random.default_rng(1).integers(0, 256, (2, *SHAPE), np.uint8)
ACTIONS = np.array([[0.3], [-0.8]], np.float32)


def spaces() -> dict[str, Any]:
    return {**PENDULUM_SPACES, "observation_space": image_box("gym.spaces.box.Box", SHAPE)}


def networks(outputs: tuple[str, ...], names: tuple[str, ...]) -> dict[str, Any]:
    sizes: dict[str, tuple[int, ...]] = {}
    for name in names:
        own = f"{name}/pi"
        sizes |= {**cnn(own), f"{own}/fc0/kernel": (512, 6), f"{own}/fc0/bias": (6,)}
        for output in outputs:
            sizes |= {f"{own}/{output}/kernel": (6, 1), f"{own}/{output}/bias": (1,)}
        sizes |= cnn(f"{name}/values_fn")
        for critic in ("qf1", "qf2"):
            own = f"{name}/values_fn/{critic}"
            sizes |= {f"{own}/fc0/kernel": (513, 6), f"{own}/fc0/bias": (6,)}
            sizes |= {f"{own}/{critic}/kernel": (6, 1), f"{own}/{critic}/bias": (1,)}
    return {name: value * 0.2 for name, value in layers(sizes).items()}


def check_critics(module: Any, p: Any, name: str) -> None:
    found = module.qf(module.encode(torch.from_numpy(IMAGES)), torch.from_numpy(ACTIONS))
    x = np.concatenate((seen(IMAGES, p, f"{name}/values_fn"), ACTIONS), 1)
    expected = []
    for critic in ("qf1", "qf2"):
        own = f"{name}/values_fn/{critic}"
        hidden = relu(dense(x, p, f"{own}/fc0", False))
        expected.append(dense(hidden, p, f"{own}/{critic}", False)[:, 0])
    np.testing.assert_allclose(found.detach().numpy(), np.stack(expected), rtol=1e-3, atol=1e-5)


def actor(p: Any, name: str) -> Any:
    """The output layer `dense` of an actor, without a squashing function."""
    own = f"{name}/pi"
    hidden = relu(dense(seen(IMAGES, p, own), p, f"{own}/fc0", False))
    return dense(hidden, p, f"{own}/dense", False)


def test_actor_and_critics_of_sac_see_images_each_with_their_own_cnn(tmp_path: Path) -> None:
    p = networks(("dense", "dense_1"), ("model",)) | {"model/log_ent_coef": -0.7}
    where = "stable_baselines.sac.policies.CnnPolicy"
    kwargs = {"layers": [6]}
    model = SAC.load(saved(tmp_path, OF_SAC, p, where, **spaces(), policy_kwargs=kwargs))
    actions, _ = model.predict(IMAGES, deterministic=True)
    np.testing.assert_allclose(actions, 2 * np.tanh(actor(p, "model")), rtol=1e-3)
    check_critics(model.agent.run.policy, p, "model")
    check_critics(model.agent.run.algorithm.target.module, p, "model")


@pytest.mark.parametrize("name", ["model", "target"])
def test_every_network_of_td3_sees_images_with_its_own_cnn(tmp_path: Path, name: str) -> None:
    p = networks(("dense",), ("model", "target"))
    where = "stable_baselines.td3.policies.CnnPolicy"
    kwargs = {"layers": [6]}
    model = TD3.load(saved(tmp_path, OF_TD3, p, where, **spaces(), policy_kwargs=kwargs))
    run = model.agent.run
    module: Any = run.policy if name == "model" else run.algorithm.target.module
    found = module(torch.from_numpy(IMAGES), "pi")[0].detach().numpy()
    np.testing.assert_allclose(found, np.tanh(actor(p, name)), rtol=1e-3, atol=1e-6)
    check_critics(module, p, name)
