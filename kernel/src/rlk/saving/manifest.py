"""The head of a file: its contents, its state version, and the plan, with checked types."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import attrs

from rlk.errors import BadFile
from rlk.restoring.saved_records import SavedPlan
from rlk.settings import at_least
from rlk.structure import structured

STATE_VERSION = 1  #: of what a file holds, not of how the serializer lays it out
#: What a file may hold of a run.
Content = Literal["model", "run", "storage", "environments"]


@attrs.frozen(kw_only=True)
class Manifest:
    """The record under `manifest` in every state."""

    state_version: int = attrs.field(validator=at_least(1))
    contents: list[Content]
    timesteps: int = attrs.field(validator=at_least(0))
    dists: dict[str, str]  #: the distributions that it was made with, and their versions
    plan: SavedPlan
    within_collection: bool = False  #: whether a checkpoint was taken within one, which is lost


def check_manifest(path: Path, manifest: Any) -> None:
    """BadFile unless it is a manifest that this version of rlk can read."""
    version = manifest.get("state_version") if isinstance(manifest, dict) else None
    if type(version) is not int or "plan" not in manifest:
        raise BadFile(f"{path} is not an rlk model: its manifest has no plan.")
    if version > STATE_VERSION:
        known = f"(state {version}, this one reads up to {STATE_VERSION})"
        raise BadFile(f"{path} was written by a newer rlk {known}. Upgrade rlk-kernel.")
    structured(Manifest, manifest, f"{path} is damaged: manifest")
