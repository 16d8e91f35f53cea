"""Shows the frames of environments in a window, if there is a display."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlk.program_warnings import warn_program
from rlk.records import Array
from rlk_films import display_problem

_opened: dict[str, Any] = {}


def show(image: Array) -> None:
    """Show a frame, uint8 [H, W, 3]; without a display, warn once instead."""
    problem = display_problem()
    if problem is not None:
        if "warned" not in _opened:
            _opened["warned"] = True
            advice = "Frames are not shown; render(mode='rgb_array') returns them."
            warn_program(f"{problem} {advice}")
        return
    import pygame

    size = image.shape[1], image.shape[0]
    if _opened.get("size") != size:
        pygame.display.init()
        _opened["window"] = pygame.display.set_mode(size)
        _opened["size"] = size
    surface = pygame.surfarray.make_surface(np.swapaxes(image, 0, 1))
    _opened["window"].blit(surface, (0, 0))
    pygame.event.pump()
    pygame.display.flip()
