"""The generated tables of components and settings in READMEs match the installed components."""

from pathlib import Path

from rlk.registry.kernel import default_kernel
from rlk_scaffold import docs, tree
from rlk_scaffold.manifest import read_manifest
from rlk_scaffold.markers import arguments

ROOT = Path(__file__).resolve().parents[2]


def test_every_generated_table_is_up_to_date():
    differing = [path.relative_to(ROOT).as_posix() for path in docs.drift(ROOT)]
    assert not differing, "run: python -m rlk_scaffold.docs"


def test_every_class_of_settings_has_a_table_in_its_distributions_readme():
    """Two components with the same settings, such as an LSTM with and without layer norm, share."""
    folders = {
        read_manifest(folder / "pyproject.toml").name: folder for folder in tree.distributions(ROOT)
    }
    entries = list(default_kernel().registries.every_entry())
    wanted, shown = {}, set()
    for entry in (entry for entry in entries if entry.dist in folders):
        config, readme = entry.component().config, folders[entry.dist] / "README.md"
        if config is not None:
            wanted[config] = f"{entry.name} in {readme.relative_to(ROOT)}"
        if entry.name in arguments(readme.read_text("utf-8"), "settings"):
            shown.add(config)
    assert not [where for config, where in wanted.items() if config not in shown]


def test_no_table_of_settings_is_written_by_hand():
    by_hand = []
    for path in ROOT.glob("plugins/*/*/README.md"):
        lines = path.read_text("utf-8").splitlines()
        for number, line in enumerate(lines):
            generated = number > 1 and lines[number - 2].startswith("<!-- settings: ")
            if line.startswith("| setting |") and not generated:
                by_hand.append(f"{path.relative_to(ROOT)}:{number + 1}")
    assert not by_hand
