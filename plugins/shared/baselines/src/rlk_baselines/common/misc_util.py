"""Small functions that programs for Stable Baselines use."""

from __future__ import annotations

import os
import random
from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

import numpy as np

from rlk_mpi.world import RANK


def set_global_seeds(seed: int | None) -> None:
    """Seed the global generators of Python, numpy and torch.

    rlk draws from none of them; environments and custom functions may.

    Args:
        seed: None seeds each from the system.
    """
    import torch

    if seed is None:
        torch.seed()
    else:
        torch.manual_seed(seed)
    np.random.seed(seed)
    random.seed(seed)


def mpi_rank_or_zero() -> int:
    """The rank of this process under mpirun, or 0 if it runs alone."""
    ranks = [os.environ[name] for name in RANK if name in os.environ]
    return int(ranks[0]) if ranks else 0


def boolean_flag(
    parser: ArgumentParser, name: str, default: bool = False, help_msg: str | None = None
) -> None:
    """Add the options `--name` and `--no-name` to a parser."""
    dest = name.replace("-", "_")
    parser.add_argument(f"--{name}", action="store_true", default=default, dest=dest, help=help_msg)
    parser.add_argument(f"--no-{name}", action="store_false", dest=dest)


def flatten_lists(listoflists: Iterable[list[Any]]) -> list[Any]:
    """The elements of all lists, in one list."""
    return [element for one in listoflists for element in one]


def zipsame(*seqs: Any) -> Any:
    """`zip` of sequences of the same length; iterating raises ValueError if lengths differ."""
    return zip(*seqs, strict=True)
