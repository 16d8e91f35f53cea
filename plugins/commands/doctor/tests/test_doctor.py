"""`rlk doctor` on machines that are broken on purpose."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from rlk.component import Component
from rlk.registry.entry import Entry
from rlk.registry.kernel import default_kernel
from rlk.registry.registries import Registries
from rlk_doctor import machine, packages, plugins
from rlk_doctor.command import doctor
from rlk_doctor.finding import Finding
from rlk_testing.stand_ins import StandIn

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts the metadata of a distribution onto the path."""
    monkeypatch.syspath_prepend(tmp_path)

    def installed(name: str, version: str = "0.1.0", points: str = "", *lines: str) -> None:
        info = tmp_path / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        head = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}", *lines]
        (info / "METADATA").write_text("\n".join([*head, ""]))
        (info / "entry_points.txt").write_text(points)

    return installed


def by_name(findings: Any) -> dict[str, Finding]:
    return {one.what: one for one in findings}


def test_versions_name_what_has_another_one(install: Install) -> None:
    usual = by_name(packages.versions())["rlk"].found
    install("Rlk_Older", "0.0.7")  # as setuptools wrote names for a long time
    install("my-package", "3.1", "[rlk.callbacks]\nmine = my_package:component\n")
    install("no-plugin", "3.1", "[console_scripts]\nmine = no_plugin:main\n")
    found = by_name(packages.versions())
    assert found["rlk"].found == usual and "distributions)" in usual
    assert found["other versions"].found == "my-package 3.1, rlk-older 0.0.7"


def test_of_two_distributions_of_one_name_the_first_on_the_path_counts(install: Install) -> None:
    install("rlk", "0.0.9")
    install("rlk-adam", "0.0.8")
    assert by_name(packages.versions())["other versions"].found == "rlk 0.0.9, rlk-adam 0.0.8"


def test_what_a_distribution_requires_is_looked_for(install: Install) -> None:
    install("early", "2.0rc1")
    install("rlk-bold", "1.0", "", "Requires-Dist: early>=1")  # a preview of 2.0 is later
    assert not [one for one in packages.requirements() if one.what in ("rlk-needy", "rlk-bold")]
    install("rlk-needy", "1.0", "", "Requires-Dist: no-such-thing", "Requires-Dist: attrs<2")
    found = by_name(packages.requirements())
    assert found["rlk-needy"].state == "broken"
    assert found["rlk-needy"].found.startswith("no-such-thing is not installed; attrs is ")
    assert found["rlk-needy"].found.endswith(", not <2.")
    assert found["rlk-needy"].advice == "pip install -U rlk-needy"


def test_metadata_that_is_damaged_is_told_once_of_the_package_that_has_it(install: Install) -> None:
    damaged = ["Provides-Extra: more", "Requires-Dist: >>>"]
    install("rlk-unreadable", "1.0", "", *damaged)
    install("stranger", "1.0", "", *damaged)
    needs = 'Requires-Dist: stranger[more]; extra == "films"'
    install("rlk-needy", "1.0", "", "Provides-Extra: films", needs)
    unreadable = by_name(packages.requirements())["rlk-unreadable"]
    assert unreadable.state == "broken"
    assert unreadable.found.startswith("its metadata is damaged: Expected package name")
    assert unreadable.advice == "pip uninstall rlk-unreadable, or tell its authors"
    extras = by_name(packages.extras())
    assert "rlk-unreadable[more]" not in extras
    needy = extras["rlk-needy[films]"].found
    assert needy.startswith("the metadata of stranger is damaged: Expected package name")


def test_an_extra_that_is_missing_says_what_installs_it(install: Install) -> None:
    lines = [
        *(f"Provides-Extra: {extra}" for extra in ("films", "there", "test", "alias")),
        "Requires-Dist: attrs>=1",
        'Requires-Dist: part-of-films[more]>=1; extra == "films"',
        'Requires-Dist: attrs>=1; extra == "there"',
        'Requires-Dist: no-such-thing; extra == "test"',
        'Requires-Dist: rlk-no-such[thing]; extra == "alias"',
    ]
    install("rlk-has-extras", "1.0", "", *lines)
    more = ["Provides-Extra: more", 'Requires-Dist: deep-down; extra == "more"']
    install("part-of-films", "1.0", "", *more)
    found = by_name(packages.extras())
    own = {name: one for name, one in found.items() if name.startswith("rlk-has-extras")}
    assert own.keys() == {"rlk-has-extras[films]"}
    films = own["rlk-has-extras[films]"]
    assert (films.state, films.found) == ("missing", "deep-down is not installed.")
    assert films.advice == 'pip install "rlk-has-extras[films]"'
    assert "rlk-has-extras[there]" in found["extras"].found.split(", ")


def test_extras_have_the_names_that_errors_of_environments_tell() -> None:
    sources = [entry.component().factory for entry in default_kernel().registries.environments]
    told = {getattr(source, "install", "") for source in sources} - {""}
    found = by_name(packages.extras())
    listed = {*found["extras"].found.split(", "), *found} if "extras" in found else {*found}
    assert told and told <= {f'pip install "{name}"' for name in listed}


def test_plugins_that_cannot_be_loaded_are_named_with_their_cause(install: Install) -> None:
    sound = Registries()
    sound.discover()
    assert [one.state for one in plugins.loadable(sound)] == ["ok"]
    install("rlk-frail", "0.3", "[rlk.callbacks]\nfrail = rlk_frail_is_nowhere:component\n")
    registries = Registries()
    registries.discover()
    twin = default_kernel().registries.find("replay").component()
    registries.storages.add(Entry("storages", "replay", "rlk-twin", "0.3", lambda: twin))
    found = by_name(plugins.loadable(registries))
    assert found.keys() == {"callback 'frail' (rlk-frail 0.3)", "name 'replay'"}
    frail = found["callback 'frail' (rlk-frail 0.3)"]
    assert frail.state == "broken" and "No module named 'rlk_frail_is_nowhere'" in frail.found
    assert frail.advice == "pip uninstall rlk-frail, or tell its authors"
    assert found["name 'replay'"].advice == "pip uninstall rlk-replay or rlk-twin"


def test_a_plugin_that_names_what_is_not_there_and_one_that_gives_a_name_twice_are_broken() -> None:
    registries = Registries()
    registries.discover()
    made = Component(name="both", factory=StandIn, defaults={"storage": "replya"})
    for kind in ("algorithms", "policies"):
        registries[kind].add(Entry(kind, "both", "rlk-both", "0.3", lambda: made))
    found = by_name(plugins.loadable(registries))
    wrong = found["algorithm 'both' (rlk-both 0.3)"]
    assert wrong.state == "broken" and "the default storage='replya': " in wrong.found
    twice = found["name 'both'"]
    assert "given 2 times by one package" in twice.found
    assert twice.advice == "pip uninstall rlk-both"


def test_a_plugin_for_a_newer_kernel_is_told_once_what_to_type(install: Install) -> None:
    points = "[rlk.callbacks]\nearly = rlk_early_is_nowhere:component\n"
    install("rlk-early", "0.2", points, "Requires-Dist: rlk-kernel>=99")
    registries = Registries()
    registries.discover()
    (early,) = plugins.loadable(registries)
    assert "'rlk_early_is_nowhere'. rlk-kernel is " in early.found
    assert early.found.endswith(", not >=99. Type: pip install -U rlk-early.")
    assert early.advice == "", "its authors can do nothing about it"


@pytest.mark.parametrize("kind", ["environments", "serializers", "optimisers"])
def test_an_implementation_that_cannot_be_imported_is_named_with_its_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    (tmp_path / "rlk_frail_source.py").write_text("import nowhere\ndef find(name): ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    registries = Registries()
    registries.discover()
    registries[kind].register("frail", "rlk_frail_source:find")
    (found,) = plugins.loadable(registries)
    assert (found.what, found.state) == (f"{kind[:-1]} 'frail' (this program)", "broken")
    assert found.found == "ModuleNotFoundError: No module named 'nowhere'."


def test_without_torch_one_line_says_so_and_not_one_for_every_plugin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registries = Registries()
    registries.discover()
    monkeypatch.setitem(sys.modules, "torch", None)
    registries.optimisers.register("frail", "rlk_frail_is_nowhere:Frail")
    found = [one for one in machine.libraries() if one.state == "broken"]
    assert [one.what for one in [*found, *plugins.loadable(registries)]] == [
        "torch",
        "optimiser 'frail' (this program)",
    ]


def test_the_processor_is_named_with_the_cores_that_one_may_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    about = tmp_path / "cpuinfo"
    about.write_text("vendor_id\t: Mine\nmodel\t\t: 85\nmodel name\t: Fast CPU: 2 GHz\n")
    monkeypatch.setattr(machine, "Path", lambda _: about)
    assert machine.processor().found == "Fast CPU: 2 GHz, 2 of 8 cores for this process"


def test_a_compiler_is_looked_for_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    found = machine.cpp_compiler()
    assert found.state == "missing" and found.advice.startswith("apt install g++, or export CXX=")
    monkeypatch.setenv("CXX", "no-such-compiler")
    found = machine.cpp_compiler()
    assert (found.state, found.found.split()[0]) == ("broken", "CXX=no-such-compiler")
    monkeypatch.setenv("CXX", "")
    found = machine.cpp_compiler()
    assert found.state == "missing"
    (tmp_path / "g++").touch(mode=0o755)
    here = Finding("c++ compiler", str(tmp_path / "g++"))
    assert machine.cpp_compiler() == here
    monkeypatch.setenv("CXX", "g++")
    assert machine.cpp_compiler() == here


def test_the_advice_is_of_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(machine, "_SHARED", tmp_path / "none")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: "there")
    monkeypatch.setattr(machine, "version", lambda name: "4.1")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(machine, "cache_folder", lambda: tmp_path / "file")
    (tmp_path / "file").touch()
    monkeypatch.setattr(sys, "platform", "darwin")
    found = machine.cpp_compiler()
    assert found.advice.startswith("xcode-select --install")
    assert machine.cache().advice == "export XDG_CACHE_HOME=FOLDER"
    monkeypatch.setattr(sys, "platform", "win32")
    assert machine.cache().advice == "set XDG_CACHE_HOME=FOLDER"
    assert [one.advice for one in machine.mpi()] == ["install Microsoft MPI"]


def test_libraries_that_cannot_be_used_are_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {one.state for one in machine.libraries()} <= {"ok", "missing"}

    def zeros(_: int) -> Any:
        raise RuntimeError("Numpy is not available")

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(zeros=zeros))
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    found = by_name(machine.libraries())
    assert found["numpy"].state == "ok" and "gpu" not in found
    assert found["torch"].found == "RuntimeError: Numpy is not available"
    assert found["gymnasium"].found.startswith("ModuleNotFoundError")
    assert found["torch"].advice == "pip install --force-reinstall torch"
    assert {found["torch"].state, found["gymnasium"].state} == {"broken"}


def test_a_gpu_that_torch_does_not_see_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cuda = SimpleNamespace(
        is_available=lambda: False, device_count=lambda: 2, get_device_name="GPU {}".format
    )
    version = SimpleNamespace(cuda=None)
    torch = SimpleNamespace(cuda=cuda, version=version, __version__="2.9+cpu")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert machine.graphics(torch).state == "ok"
    (tmp_path / "nvidia-smi").touch(mode=0o755)
    assert machine.graphics(torch).state == "missing"
    assert "torch 2.9+cpu, built without CUDA, sees no GPU" in machine.graphics(torch).found
    cuda.is_available, version.cuda = lambda: True, "12.8"
    assert machine.graphics(torch).found == "GPU 0, GPU 1 (CUDA 12.8)"


def test_mpi_needs_a_launcher_and_shared_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert not list(machine.mpi())
    monkeypatch.setattr("importlib.util.find_spec", lambda name: "there")
    monkeypatch.setattr(machine, "version", lambda name: "4.1")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(machine, "_SHARED", tmp_path)
    found = by_name(machine.mpi())
    assert found["mpi"].state == "missing" and "no mpirun or mpiexec" in found["mpi"].found
    assert found["mpi"].advice == 'pip install "rlk-mpi[mpi]"'
    (tmp_path / "mpiexec").touch(mode=0o755)
    assert by_name(machine.mpi())["mpi"].found == f"mpi4py 4.1, {tmp_path / 'mpiexec'}"
    assert found[str(tmp_path)].state == "ok"
    on_the_path = tmp_path / "elsewhere"
    on_the_path.mkdir()
    (on_the_path / "mpirun").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(on_the_path))
    beside_python = f"mpi4py 4.1, {tmp_path / 'mpiexec'}"
    assert by_name(machine.mpi())["mpi"].found == beside_python, "that of the same environment"
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=3_000_000))
    full = by_name(machine.mpi())[str(tmp_path)]
    assert (full.state, full.found.split(",")[0]) == ("missing", "3.0 MB free")
    assert "--shm-size" in full.advice
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=4_000_000))
    assert by_name(machine.mpi())[str(tmp_path)].state == "ok", "three ranks take 3.2 MB"


def test_a_folder_that_may_not_be_entered_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As for another user than root, who may enter every folder."""
    seen, allowed = os.stat, os.access

    def stat(place: Any, *given: Any, **named: Any) -> os.stat_result:
        if tmp_path in Path(os.fsdecode(place)).parents:
            raise PermissionError(13, "Permission denied", str(place))
        return seen(place, *given, **named)

    monkeypatch.setattr(os, "stat", stat)
    monkeypatch.setattr(
        os, "access", lambda place, mode: place != tmp_path and allowed(place, mode)
    )
    found = machine.folder(
        "cache folder", tmp_path / "cache" / "rlk", "export XDG_CACHE_HOME=FOLDER"
    )
    assert (found.state, found.found) == ("broken", f"{tmp_path} cannot be written to.")


def test_a_folder_that_takes_no_files_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "one" / "runs"
    assert machine.folder("runs folder", inner, "rlk run").state == "ok"
    assert not inner.exists(), "it is not made to look at it"
    monkeypatch.chdir(tmp_path)
    assert machine.folder("runs folder", Path("runs"), "").found.startswith(f"{tmp_path}/runs, ")
    (tmp_path / "one").write_text("a file in its place")
    (tmp_path / "one").chmod(0o755)
    found = machine.folder("runs folder", inner, "rlk run … --out FOLDER")
    assert (found.state, found.advice) == ("broken", "rlk run … --out FOLDER")
    assert found.found == f"{tmp_path / 'one'} cannot be written to."
    for forbidden in (os.W_OK, os.X_OK):
        with monkeypatch.context() as restricted:
            restricted.setattr(os, "access", lambda place, mode, bit=forbidden: not mode & bit)
            assert machine.folder("runs folder", tmp_path, "").state == "broken"
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=2.5e9))
    assert machine.folder("runs folder", tmp_path, "").found == f"{tmp_path}, 2.5 GB free"
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=99e6))
    assert "has 99.0 MB free" in machine.folder("runs folder", tmp_path, "").found
    assert machine.folder("runs folder", tmp_path, "").state == "broken"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert machine.cache().found == f"{tmp_path / 'rlk'} has 99.0 MB free."


def test_a_user_without_a_home_is_told_which_variable_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr("pwd.getpwuid", unknown)
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    found = machine.cache()
    assert (found.state, found.advice) == ("missing", "export XDG_CACHE_HOME=FOLDER")
    assert found.found == "this user has no home, and XDG_CACHE_HOME is not set."
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert machine.cache().state == "ok"


def test_every_check_has_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = {packages: ["versions", "requirements", "extras"], machine: ["libraries", "mpi"]}
    for module, names in checks.items():
        for name in names:
            monkeypatch.setattr(module, name, lambda name=name: iter([Finding(name, "")]))
    monkeypatch.setattr(plugins, "loadable", lambda _: iter([Finding("plugins", "")]))
    found = [one["what"] for one in json.loads(CliRunner().invoke(doctor, ["--json"]).output)]
    assert found == [
        *("versions", "python", "cpu", "libraries", "c++ compiler", "mpi"),
        *("requirements", "extras", "plugins", "cache folder", "runs folder"),
    ]


def test_the_exit_code_and_the_lines_tell_what_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("CXX", "no-such-compiler")
    result = CliRunner().invoke(doctor)
    assert result.exit_code == 1
    line = next(one for one in result.output.splitlines() if one.startswith("c++ compiler"))
    assert "broken: CXX=no-such-compiler is not a program" in line
    assert line.endswith("Type: unset CXX, or export CXX=g++")
    assert result.output.splitlines()[-1].startswith("1 broken, ")
    printed = CliRunner().invoke(doctor, ["--json"])
    assert printed.exit_code == 1
    found = {one["what"]: one for one in json.loads(printed.output)}
    assert found["c++ compiler"]["state"] == "broken"
    assert {"rlk", "python", "cpu", "torch", "gpu", "plugins", "runs folder"} <= found.keys()
    monkeypatch.delenv("CXX")
    assert CliRunner().invoke(doctor, ["--json"]).exit_code == 0
