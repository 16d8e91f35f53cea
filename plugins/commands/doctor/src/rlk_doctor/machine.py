"""The machine: its processor, libraries, compiler, MPI, and folders that rlk writes to."""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rlk.files import cache_folder
from rlk_cpp_libraries.build import COMPILERS, compiler
from rlk_doctor.finding import Finding

#: With fewer bytes in /dev/shm, three ranks under MPICH do not start: each takes 1.06 MB there, and
#: UCX is kept out where there is no more (`rlk_mpi.shared_memory`).
LEAST_SHARED = 3_180_000
#: With fewer bytes, a folder has no room for a run with its checkpoints.
LEAST_FREE = 100_000_000
_SHARED = Path("/dev/shm")
_LAUNCHERS = ("mpirun", "mpiexec")
#: What installs an MPI elsewhere than on Windows.
_MPICH = 'pip install "rlk-mpi[mpi]"'


def python() -> Finding:
    """Python, and the system that it runs on."""
    where = f"{platform.system()} {platform.release()} {platform.machine()}"
    return Finding("python", f"{platform.python_version()} ({sys.executable}), {where}")


def processor() -> Finding:
    """The processor, and how many of its cores this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return Finding("cpu", f"{_model()}, {cores} of {os.cpu_count()} cores for this process")


def _model() -> str:
    """The name of the processor; Linux has it in a file."""
    place = Path("/proc/cpuinfo")
    lines = place.read_text(encoding="utf-8").splitlines() if place.is_file() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or "unknown")


def libraries() -> Iterator[Finding]:
    """Libraries that all of rlk needs: whether they can be imported, and work together."""
    for name in ("numpy", "gymnasium", "torch"):
        try:
            module = importlib.import_module(name)
            if name == "torch":
                module.zeros(1).numpy()  # raises if torch was built for another numpy
        except Exception as error:
            cause = f"{type(error).__name__}: {error}"
            yield Finding(name, cause, "broken", f"pip install --force-reinstall {name}")
            continue
        threads = f", threads: {module.get_num_threads()}" if name == "torch" else ""
        yield Finding(name, f"{module.__version__}{threads}")
        if name == "torch":
            yield graphics(module)


def graphics(torch: Any) -> Finding:
    """The GPUs that torch can use."""
    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
        return Finding("gpu", f"{', '.join(names)} (CUDA {torch.version.cuda})")
    if shutil.which("nvidia-smi") is None:
        return Finding("gpu", "none: everything is computed on the CPU")
    built = f"for CUDA {torch.version.cuda}" if torch.version.cuda else "without CUDA"
    found = f"nvidia-smi is there, and torch {torch.__version__}, built {built}, sees no GPU."
    advice = "nvidia-smi, and if it lists one: pip install --force-reinstall torch"
    return Finding("gpu", found, "missing", advice)


def cpp_compiler() -> Finding:
    """The C++ compiler, which makes `compile` and `cpp-priorities` faster."""
    what, named, found = "c++ compiler", os.environ.get("CXX"), compiler()
    if found:
        return Finding(what, str(shutil.which(found)))
    if named:
        cause = f"CXX={named} is not a program that can be found."
        return Finding(what, cause, "broken", "unset CXX, or export CXX=g++")
    none = f"no {' or '.join(COMPILERS)} is found, which --plugin compile needs on a CPU."
    install = "xcode-select --install" if sys.platform == "darwin" else "apt install g++"
    return Finding(what, none, "missing", f"{install}, or export CXX=COMPILER")


def mpi() -> Iterator[Finding]:
    """What `mpirun -n 4 rlk run --plugin mpi` needs. MPI itself is not initialised."""
    if importlib.util.find_spec("mpi4py") is None:
        return  # its extra is listed among the missing ones
    beside = str(Path(sys.executable).parent)
    launchers = (shutil.which(name, path=path) for path in (beside, None) for name in _LAUNCHERS)
    launcher = next(filter(None, launchers), None)
    if launcher is None:
        none = f"mpi4py {version('mpi4py')}, but no {' or '.join(_LAUNCHERS)} to launch ranks."
        advice = "install Microsoft MPI" if sys.platform == "win32" else _MPICH
        yield Finding("mpi", none, "missing", advice)
    else:
        yield Finding("mpi", f"mpi4py {version('mpi4py')}, {launcher}")
    if _SHARED.is_dir():
        free = shutil.disk_usage(_SHARED).free
        if free < LEAST_SHARED:
            little = f"{_size(free)} free, too little for three ranks of MPICH to share."
            advice = "docker run --shm-size 1g …, or remove /dev/shm/mpich_shm_* of killed jobs"
            yield Finding(str(_SHARED), little, "missing", advice)
        else:
            yield Finding(str(_SHARED), f"{_size(free)} free")


def cache() -> Finding:
    """Whether files can be written to the folder for caches."""
    sets = "set" if sys.platform == "win32" else "export"
    what, advice = "cache folder", f"{sets} XDG_CACHE_HOME=FOLDER"
    try:
        return folder(what, cache_folder() / "rlk", advice)
    except RuntimeError:
        none = "this user has no home, and XDG_CACHE_HOME is not set."
        return Finding(what, none, "missing", advice)


def folder(what: str, place: Path, instead: str) -> Finding:
    """Whether files can be written to a folder, or to the nearest existing one above it."""
    place = place.absolute()
    # Not `Path.exists`, which fails in a folder that may not be entered.
    exists = next(one for one in (place, *place.parents) if os.path.exists(one))
    if not (exists.is_dir() and os.access(exists, os.W_OK | os.X_OK)):
        return Finding(what, f"{exists} cannot be written to.", "broken", instead)
    free = shutil.disk_usage(exists).free
    if free < LEAST_FREE:
        return Finding(what, f"{place} has {_size(free)} free.", "broken", instead)
    return Finding(what, f"{place}, {_size(free)} free")


def _size(count: float) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
