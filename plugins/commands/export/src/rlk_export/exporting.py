"""`rlk_export.export`: an agent's policy is traced, written, read back and compared."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import numpy as np

from rlk.errors import RlkError
from rlk.files import replacing, users_path
from rlk.running.acting import Acting
from rlk.running.run import Run
from rlk.spaces import map_observation
from rlk_export.comparison import check
from rlk_export.formats import FORMATS, Format
from rlk_export.out_file import PACKAGES, check_out
from rlk_export.program import acting_module
from rlk_export.signature import Signature, metadata, signature_of
from rlk_export.tracing import example_of, first_line, traced

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from rlk.agent import Agent


@attrs.frozen
class Exported:
    """The exported file.

    Attributes:
        path: of the file.
        signature: its inputs and outputs.
        metadata: names and texts that the file contains about itself.
        evaluator: the library that ran it for the comparison with the agent.
    """

    path: Path
    signature: Signature
    metadata: dict[str, str]
    evaluator: str


def export(agent: Agent | Run, path: str | os.PathLike[str]) -> Exported:
    """Write an agent's policy as a program for other software, and compare it with the agent.

    The program takes observations as the environment returns them, [batch, …], and returns the same
    as `agent.predict(observation, deterministic=True)`; there is no stochastic form. An existing
    file is replaced after the new one has been compared.

    Args:
        agent: trained or not, or its run, which callbacks have; it is not changed.
        path: FILE.onnx, or FILE.pt2 for torch.export.

    Raises:
        RlkError: if it cannot be exported or written, or acts differently from the agent; then no
            file is left.
        OSError: instead, if it cannot be written while the run trains. If a callback lets it pass,
            the run notes it, as any failed write, and training continues.
    """
    path, run = users_path(path), agent if isinstance(agent, Run) else agent.run
    check_out(path)
    # Unchecked, because the comparison samples the spaces, also masks that allow nothing.
    acting = Acting(run, checked=False)
    module = acting_module(run)
    state_size: int | None = getattr(module, "state_size", None)
    example = example_of(run.plan.observation_space, state_size)
    program = traced(module, example, run.plan.policy.title, run.device)
    action, _ = acting.predict(map_observation(np.asarray, example[0]), deterministic=True)
    signature = signature_of(run.plan, action, state_size)
    told = metadata(run, signature)
    try:
        evaluator = _write(acting, path, FORMATS[path.suffix], program, signature, told, state_size)
    except OSError as error:
        if run.learning:
            raise
        raise RlkError(f"{path} could not be written: {error}") from error
    return Exported(path, signature, told, evaluator)


def _write(
    acting: Acting,
    path: Path,
    kind: Format,
    program: ExportedProgram,
    signature: Signature,
    told: dict[str, str],
    state_size: int | None,
) -> str:
    """The library that ran the file for the comparison; then the file gets its name."""
    with replacing(path) as file:
        try:
            kind.write(file, program, signature, told)
            file.seek(0)
            runs, evaluator = kind.read(file.read(), signature)
        except OSError:
            raise
        except ModuleNotFoundError as error:  # an old package lacks what torch imports
            raise RlkError(_too_old(path, error)) from error
        except Exception as error:
            raise RlkError(_unwritable(acting.run, path, error)) from error
        try:
            check(acting, runs, state_size)
        except RlkError as error:
            raise RlkError(_otherwise(path, evaluator, error)) from error
    return evaluator


def _unwritable(run: Run, path: Path, error: Exception) -> str:
    return (
        f"{path} was not written: {run.plan.title} has an operation that a {path.suffix} cannot "
        f"hold: {first_line(error)}\nTry the other format, or another layer."
    )


def _too_old(path: Path, error: ModuleNotFoundError) -> str:
    return (
        f"{path} was not written: a package that torch {version('torch')} needs for a "
        f"{path.suffix} is missing or too old: {first_line(error)}\n"
        f"Type: pip install -U {' '.join(PACKAGES[path.suffix]) or 'torch'}"
    )


def _otherwise(path: Path, evaluator: str, error: RlkError) -> str:
    return (
        f"{path} was not written, because it would not act as the agent does: {evaluator} ran it, "
        f"and {error}.\nA layer that is not the same function at every call does that, and so does "
        "a plugin that puts another actor in the place of the algorithm's (rlk_make_actor)."
    )
