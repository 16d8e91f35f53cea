"""Rendered frames as a film; `tiled` joins those of several environments into one image."""

from rlk_films.display import display_problem, without_display
from rlk_films.images import as_image
from rlk_films.tiling import tiled
from rlk_films.writer import Film, check_film, film, remove_unfinished_films

__all__ = [
    "Film",
    "as_image",
    "check_film",
    "display_problem",
    "film",
    "remove_unfinished_films",
    "tiled",
    "without_display",
]
