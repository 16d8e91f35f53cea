"""Programs in forks of a Python process, and packages that are installed without pip."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
from importlib import metadata
from pathlib import Path

import pytest

from rlk_testing.tools.forks import ForkServer
from rlk_testing.tools.wheels import install

EXAMPLE = Path(__file__).parents[4] / "examples" / "third_party_plugin"


@pytest.fixture(scope="module")
def forks():
    with contextlib.closing(ForkServer(["colorsys"], {"RLK_GREETING": "hello"})) as server:
        yield server


@pytest.fixture
def program(forks, tmp_path):
    """A function that writes a program and starts it."""

    def start(text, *arguments):
        folder = tmp_path / "programs"
        folder.mkdir(exist_ok=True)
        file = folder / f"program_{len(list(folder.iterdir()))}.py"  # another may not be read yet
        file.write_text(text)
        return forks.start(file, *arguments, cwd=tmp_path)

    return start


def test_a_program_has_arguments_a_folder_and_an_environment_of_its_own(program, tmp_path):
    text = (
        "import os, sys\n"
        "print(sys.argv[1:], os.getcwd(), os.environ['RLK_GREETING'], 'colorsys' in sys.modules)\n"
        "print(__name__, sys.path[0], os.getpid(), repr(sys.stdin.read()))\n"
    )
    with program(text, "a b", 1) as running:
        printed, _ = running.communicate()
    assert running.returncode == 0
    assert printed.splitlines() == [
        f"['a b', '1'] {tmp_path} hello True",
        f"__main__ {tmp_path / 'programs'} {running.pid} ''",
    ]
    assert running.pid != os.getpid()


def test_a_request_may_be_long_where_sockets_keep_no_messages_apart(tmp_path, monkeypatch):
    pair = socket.socketpair

    def of_macos(family, kind):
        if kind == socket.SOCK_SEQPACKET:
            raise OSError(errno.EPROTONOSUPPORT, "Protocol not supported")
        return pair(family, kind)

    monkeypatch.setattr(socket, "socketpair", of_macos)
    (tmp_path / "program.py").write_text("import sys\nprint(*map(len, sys.argv[1:]))\n")
    with contextlib.closing(ForkServer([])) as server:
        for length in (300_000, 1):
            with server.start("program.py", "a" * length, "b", cwd=tmp_path) as running:
                assert running.communicate()[0] == f"{length} 1\n"


def test_a_module_is_run_as_python_does(forks, tmp_path):
    with forks.start("-m", "json.tool", "--help", cwd=tmp_path) as running:
        printed, _ = running.communicate()
    assert running.returncode == 0 and "usage: " in printed


def test_a_program_may_have_packages_that_others_have_not(forks, tmp_path):
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "rare.py").write_text("NAME = 'rare'\n")
    program = tmp_path / "program.py"
    program.write_text("import os, rare\nprint(rare.NAME, os.environ['PYTHONPATH'])\n")
    with forks.start(program, cwd=tmp_path, path=packages) as running:
        printed, _ = running.communicate()
    assert running.returncode == 0, printed
    assert printed.startswith(f"rare {packages}")
    with forks.start(program, cwd=tmp_path) as running:
        assert "No module named 'rare'" in running.communicate()[0]


@pytest.mark.parametrize(
    ("text", "code", "end"),
    [
        ("raise SystemExit(3)", 3, ""),
        ("import sys; sys.exit('no')", 1, "no\n"),
        ("1 / 0", 1, "ZeroDivisionError: division by zero\n"),
        ("import atexit; atexit.register(print, 'bye')", 0, "bye\n"),
        ("raise SystemExit(True)", 1, ""),
        ("import sys; sys.exit()", 0, ""),
        (
            "import os; pid = os.fork()\nif pid == 0: raise SystemExit(7)\n"
            "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))",
            0,
            "7\n",
        ),
        ("from threading import Timer; Timer(0.1, print, ['late']).start()", 0, "late\n"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM, ""),
    ],
)
def test_a_program_ends_as_it_would_by_itself(program, text, code, end):
    with program(text) as running:
        printed, _ = running.communicate()
    assert running.returncode == code
    assert printed.endswith(end)


@pytest.mark.parametrize(
    ("holder", "frees_modules", "freed"),
    [
        ("globals()", False, "freed"),
        ("vars(colorsys)", False, ""),
        ("vars(colorsys)", True, "freed"),
    ],
)
def test_what_modules_hold_is_freed_if_a_test_wants_that(
    forks, tmp_path, holder, frees_modules, freed
):
    (tmp_path / "program.py").write_text(
        "import colorsys, os\n"
        "class Held:\n"
        "    def __del__(self, write=os.write):\n"
        "        write(1, b'freed')\n"
        f"{holder}['held'] = Held()\n"
    )
    given = {"cwd": tmp_path, "frees_modules": frees_modules}
    with forks.start("program.py", **given) as running:
        printed, _ = running.communicate()
    assert (running.returncode, printed) == (0, freed)


def test_programs_run_side_by_side_and_can_be_killed(program):
    waits = "import time\nprint('here', flush=True)\ntime.sleep(60)"
    with program(waits) as one, program("print('done')") as other:
        assert other.wait() == 0
        assert one.poll() is None
        with pytest.raises(TimeoutError, match="still running"):
            one.wait(timeout=0.01)
        one.kill()
        assert one.wait() == -signal.SIGKILL
        one.kill()  # which has ended


def test_a_package_is_built_and_unpacked_with_its_entry_points(tmp_path):
    install([EXAMPLE], tmp_path)
    (found,) = metadata.distributions(path=[str(tmp_path)])
    assert found.name == "acme-rlk"
    assert {point.group for point in found.entry_points} == {"rlk.storages", "rlk.extensions"}
    assert (tmp_path / "acme_rlk" / "__init__.py").is_file()
    assert Path.cwd() != EXAMPLE
