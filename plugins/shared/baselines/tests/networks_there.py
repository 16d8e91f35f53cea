"""The networks of Stable Baselines 2.10, computed by hand, and parameters for them."""

from __future__ import annotations

from typing import Any

import numpy as np

CARTPOLE = np.array([[0.1, -0.2, 0.03, 0.4], [0.0, 0.3, -0.1, -0.2]], np.float32)
PENDULUM = np.array([[1.0, 0.0, 0.5], [-1.0, 0.0, -2.0]], np.float32)
SIZES = {"policy_kwargs": {"net_arch": [{"pi": [6, 5], "vf": [6, 5]}]}}


def layers(names: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    """Parameters with these shapes, by name; the same values at every call."""
    rng = np.random.default_rng(0)
    return {name: rng.normal(size=shape) * 0.3 for name, shape in names.items()}


def dense(x: Any, parameters: Any, name: str, short: bool = True) -> Any:
    weight, bias = ("w", "b") if short else ("kernel", "bias")
    return x @ parameters[f"{name}/{weight}"] + parameters[f"{name}/{bias}"]


def relu(x: Any) -> Any:
    return np.maximum(x, 0)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def normed(x: Any, gain: Any, shift: Any, epsilon: float = 1e-5) -> Any:
    mean, variance = x.mean(1, keepdims=True), x.var(1, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon) * gain + shift


def actor_critic() -> dict[str, Any]:
    return layers(
        {
            **{f"model/{role}_fc0/w": (4, 6) for role in ("pi", "vf")},
            **{f"model/{role}_fc0/b": (6,) for role in ("pi", "vf")},
            **{f"model/{role}_fc1/w": (6, 5) for role in ("pi", "vf")},
            **{f"model/{role}_fc1/b": (5,) for role in ("pi", "vf")},
            "model/vf/w": (5, 1),
            "model/vf/b": (1,),
            "model/pi/w": (5, 2),
            "model/pi/b": (2,),
            "model/q/w": (5, 2),
            "model/q/b": (2,),
        }
    )


def hidden(p: Any, role: str) -> Any:
    return np.tanh(dense(np.tanh(dense(CARTPOLE, p, f"model/{role}_fc0")), p, f"model/{role}_fc1"))


def convolved(x: Any, kernel: Any, bias: Any, stride: int) -> Any:
    """Convolve images [B, H, W, C] with kernels [h, w, C, F], TensorFlow's layout."""
    size = kernel.shape[0]
    out = (x.shape[1] - size) // stride + 1
    found = np.zeros((len(x), out, out, kernel.shape[3]))
    for i in range(out):
        for j in range(out):
            top, left = i * stride, j * stride
            patch = x[:, top : top + size, left : left + size]
            found[:, i, j] = np.tensordot(patch, kernel, 3) + bias
    return relu(found)


def seen(images: Any, p: Any, scope: str) -> Any:
    """The features of images by the Nature CNN of Stable Baselines."""
    x = images / 255.0
    for number, stride in ((1, 4), (2, 2), (3, 1)):
        bias = p[f"{scope}/c{number}/b"].reshape(-1)
        x = convolved(x, p[f"{scope}/c{number}/w"], bias, stride)
    return relu(dense(x.reshape(len(x), -1), p, f"{scope}/fc1"))


def cnn(scope: str) -> dict[str, tuple[int, ...]]:
    """The shapes of its Nature CNN for images of 44x44 pixels; its last feature map is 2x2."""
    return {
        f"{scope}/c1/w": (8, 8, 2, 32),
        f"{scope}/c1/b": (1, 32, 1, 1),
        f"{scope}/c2/w": (4, 4, 32, 64),
        f"{scope}/c2/b": (1, 64, 1, 1),
        f"{scope}/c3/w": (3, 3, 64, 64),
        f"{scope}/c3/b": (1, 64, 1, 1),
        f"{scope}/fc1/w": (256, 512),
        f"{scope}/fc1/b": (512,),
    }
