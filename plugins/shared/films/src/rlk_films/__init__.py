"""Rendered frames as a film, and those of several environments in one picture."""

from rlk_films.tiles import tiled
from rlk_films.writer import Film, check_film, film

__all__ = ["Film", "check_film", "film", "tiled"]
