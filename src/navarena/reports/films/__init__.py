"""Videos of episodes: what the body saw, where it was, what it looked for."""

from navarena.reports.films.choice import KINDS, choose_films
from navarena.reports.films.film import Film, FilmSettings, make_film

__all__ = ["KINDS", "Film", "FilmSettings", "choose_films", "make_film"]
