"""A run's folder: its name, `plan.json`, and the same run as a `spec.toml` that `rlk run` takes."""

from __future__ import annotations

import contextlib
import re
import time
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from rlk.command_line import command_line, path_word
from rlk.errors import PlanError
from rlk.files import looking_at, write_text
from rlk.registry.external import PASSED, is_code_place
from rlk.registry.kernel import default_kernel
from rlk.registry.kinds import SLOTS, is_group_slot
from rlk.restoring.saved_plan import PLAN, plan_text
from rlk.saving.run_folder import check_unused, claim
from rlk_cli.options import PACKAGES

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


#: What `write_plan` writes.
PLAN_FILES = {PLAN, "spec.toml"}


def choose(wanted: str | None, plan: Plan, algo: str = "", among: str = "runs") -> Path:
    """Create the folder; by default `runs/<algo>-<env>-<seed>-<time>`, in letters safe for files.

    An environment from a file or a module is named after its class.

    Args:
        wanted: the folder that the user names, if any.
        plan: of the run.
        algo: the algorithm that the user names; of a recipe the plan only has what it stands for.
        among: the parent folder of folders that the user does not name.

    Raises:
        PlanError: if the folder that the user names is in use, is not empty, or cannot be made.
    """
    if wanted:
        return claim(*_wanted(wanted))
    env = plan.env.name.rpartition(":")[2] if is_code_place(plan.env.name) else plan.env.name
    first = algo if algo in default_kernel().registries.recipes else plan.algorithm.name
    words = (first, env, plan.seed, time.strftime("%Y%m%d-%H%M%S"))
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", "-".join(map(str, words)))
    names = chain([name], (f"{name}+{number}" for number in count(2)))
    return next(path for each in names if _make_new(path := Path(among, each)))


def _make_new(path: Path) -> bool:
    """Make a folder; whether it did not exist: then no other process has it for its run.

    Raises:
        PlanError: if it cannot be made.
    """
    what = f"the run's folder {path} (--out DIR names another) cannot be made"
    with looking_at(path, what, PlanError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            path.mkdir()
        except FileExistsError:
            return False
    return True


def check_wanted(wanted: str) -> None:
    """Refuse the folder that the user names, if `choose` would: it is not created yet.

    Raises:
        PlanError: if it is in use, or is not empty.
    """
    check_unused(*_wanted(wanted))


def _wanted(wanted: str) -> tuple[Path, str, str, set[str]]:
    """The arguments of `check_unused` for the folder that the user names."""
    path = Path(wanted)
    return path, f"--out {path}", _resume(path), PLAN_FILES


def _resume(path: Path) -> str:
    return command_line(["rlk", "resume", path_word(path)])


def write_plan(out: Path, plan: dict[str, Any]) -> None:
    """Write both files of a plan, in the form of `Plan.as_json`.

    Raises:
        RlkError: if one cannot be written; a file is complete or does not exist.
    """
    texts = {PLAN: plan_text(plan), "spec.toml": spec_toml(plan)}
    for name, text in texts.items():
        write_text(out / name, text)


def remove_unbegun(out: Path, is_new: bool) -> None:
    """Remove the plan of a run that failed if nothing else is in its folder, not even an owner.

    The same `--out` can then be used again; `rlk resume` would find nothing to continue from.
    """
    with contextlib.suppress(OSError):
        files = list(out.iterdir())
        if {file.name for file in files} <= PLAN_FILES:
            for file in files:
                file.unlink()
            if is_new:
                out.rmdir()


def spec_toml(plan: dict[str, Any]) -> str:
    """The plan as SPEC.toml; a comment at the end names what a file cannot hold.

    A plugin that was active by default with its default settings is not listed, and is active again
    where it is the default; a plugin that the user had left out is left out again. The table
    `packages` has the distributions of all that is listed, as pip installs them.
    """
    algorithm, *others = plan["components"]
    lost = [f"the plugin {made['name']} was an object" for made in others if _was_object(made)]
    others = [made for made in others if not _was_object(made) and not _had_joined(made)]
    head = {"algo": _name(algorithm), **plan["run"], "preset": "none"}
    head |= _in_slots(others)
    groups = {made["role"]: made["name"] for made in others if is_group_slot(made["role"])}
    head["plugins"] = [f"no:{name}" for name in plan["left_out"]]
    head["plugins"] += [_name(made) for made in others if made["role"] not in {*SLOTS, *groups}]
    tables = {"settings": algorithm["settings"] | groups}
    tables |= {m["role" if m["role"] in groups else "name"]: m["settings"] for m in others}
    env = {"id": plan["env"]["name"], **plan["env"]["kwargs"]}
    # A component takes the text none as None, but a run and an environment do not.
    lost += [f"env.{key} was None" for key, value in env.items() if value is None]
    head, env = ({k: v for k, v in top.items() if v is not None} for top in (head, env))
    kept = _portable({**head, "env": env, **{k: v for k, v in tables.items() if v}}, "", lost)
    kept[PACKAGES] = {m["name"]: _requirement(m) for m in (algorithm, *others) if m["version"]}
    return tomli_w.dumps(kept) + "".join(f"# {sentence}\n" for sentence in lost)


def _in_slots(others: list[dict[str, Any]]) -> dict[str, Any]:
    """What fills each slot: a name, or the names of several components that are combined there."""
    found: dict[str, list[str]] = {}
    for made in others:
        if made["role"] in SLOTS:
            found.setdefault(made["role"], []).append(_name(made))
    return {slot: names if len(names) > 1 else names[0] for slot, names in found.items()}


def _was_object(made: dict[str, Any]) -> bool:
    return bool(made["dist"] == PASSED)


def _had_joined(made: dict[str, Any]) -> bool:
    """Whether the user asked neither for the component nor for any of its settings."""
    return made["joined"] and not made["set_by"]


def _requirement(made: dict[str, Any]) -> str:
    """What pip installs its distribution by, with the version that made the run."""
    return f"{made['dist']}=={made['version']}"


def _name(made: dict[str, Any]) -> str:
    """Its name for `rlk run`; a component from a file or a module is named by its place."""
    return str(made["dist"] if is_code_place(made["dist"]) else made["name"])


def _portable(values: dict[str, Any], path: str, lost: list[str]) -> dict[str, Any]:
    """The values that TOML can hold; callables are added to `lost`, and None is the text `none`."""
    kept: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict) and value.keys() == {"callable"}:
            lost.append(f"{path}{key} was the callable {value['callable']}")
        elif isinstance(value, dict):
            kept[key] = _portable(value, f"{path}{key}.", lost)
        else:
            kept[key] = "none" if value is None else value
    return kept
