"""Which file `rlk export` may write, checked without torch, so that a refusal is immediate."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from rlk.errors import RlkError, either
from rlk.files import looking_at

#: Suffix -> the packages that the format needs besides torch.
PACKAGES = {".onnx": ("onnx", "onnxscript"), ".pt2": ()}
INSTALL = 'Type: pip install "rlk-export[onnx]"'


def check_out(path: Path) -> None:
    """Refuse a file that cannot be written.

    Raises:
        RlkError: for another suffix, a missing package, or a place that cannot hold a file.
    """
    if path.suffix not in PACKAGES:
        raise RlkError(
            f"rlk export writes {either([f'FILE{suffix}' for suffix in PACKAGES])}, and not "
            f"{path.suffix or path.name!r}: ONNX, or a program of torch.export."
        )
    missing = [one for one in PACKAGES[path.suffix] if importlib.util.find_spec(one) is None]
    if missing:
        needs = " and ".join(missing)
        raise RlkError(f"an {path.suffix} needs the package {needs}. {INSTALL}, or write a .pt2.")
    with looking_at(path, f"{path} cannot be written", RlkError):
        if path.exists() and not path.is_file():
            raise RlkError(f"{path} cannot be written: it is not a regular file. Name another one.")
