"""The types of arguments that several model classes have, for editors and type checkers.

Programs may also pass numbers of numpy, and for an `int` a float that is whole (`1e6`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

#: A rate or clip range: a number, the text or the list of a schedule, or a function of the
#: remaining fraction of the training, 1 to 0.
Schedulable = float | str | list[Any] | Callable[[float], float]
Folder = str | os.PathLike[str]
Keywords = Mapping[str, Any]
#: Steps between updates, or episodes: `"1 episode"`, `(1, "episode")`.
TrainFreq = int | str | tuple[int, str]
