"""Rendering: checks that an environment returns images, as films and windows need them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np

from rlk_env_check.finding import Finding, error, note, warning
from rlk_env_check.play import SEED, called

MODE = "rgb_array"


def findings(env: gym.Env[Any, Any]) -> Iterator[Finding]:
    """Findings about an environment's metadata and its rendered images."""
    modes = env.metadata.get("render_modes")
    if not modes:
        yield warning("metadata has no render_modes: the environment cannot be shown.")
        return
    if "render_fps" not in env.metadata:
        yield note("metadata has no render_fps: films have 30 frames a second.")
    if env.render_mode is None:
        yield note(f"not rendered: it was made without render_mode (it has {', '.join(modes)}).")
    elif env.render_mode not in modes:
        yield error(f"render_mode is {env.render_mode!r}, but metadata says {list(modes)}.")
    elif env.render_mode == MODE:
        yield from _image(env)


def _image(env: gym.Env[Any, Any]) -> Iterator[Finding]:
    called("reset", env.reset, seed=SEED)
    try:
        found: Any = env.render()
    except Exception as problem:
        yield error(f"render() raised {type(problem).__name__}: {problem}.")
        return
    is_image = isinstance(found, np.ndarray) and found.ndim == 3 and found.shape[-1] == 3
    if not is_image or found.dtype != np.uint8:
        shown = f"{found.dtype} of shape {found.shape}" if isinstance(found, np.ndarray) else found
        yield error(f"render() must give uint8 [height, width, 3] with {MODE}, got {shown!r:.60}.")
