"""Rendered frames as a film; `tiled` joins those of several environments into one image."""

from rlk_films.display import without_display
from rlk_films.writer import Film, check_film, film
from rlk_vector_environments.tiling import tile as tiled

__all__ = ["Film", "check_film", "film", "tiled", "without_display"]
