"""The table of components."""

import pytest

from rlk.component import Component
from rlk.registry.entry import Entry
from rlk_scaffold.docs import filled, table


def entry(name, component_name=None, dist="rlk-mlp", kind="policies", summary="hidden | layers."):
    component = Component(name=component_name or name, factory=dict, summary=summary)
    return Entry(kind, name, dist, "0.1.0", lambda: component)


def test_a_component_is_a_row_with_its_aliases_kind_folder_and_summary():
    entries = [entry("MlpPolicy", "mlp"), entry("mlp")]
    assert table(entries, {"rlk-mlp": "plugins/policies/mlp"}).splitlines()[2:] == [
        "| `mlp`, `MlpPolicy` | policy | [rlk-mlp](plugins/policies/mlp) | hidden \\| layers |"
    ]


def test_what_other_distributions_register_is_left_out():
    assert "theirs" not in table([entry("theirs", dist="acme-rlk")], {"rlk-mlp": "x"})


def test_only_what_stands_between_the_markers_is_replaced():
    text = "before\n<!-- components -->\nold\n<!-- /components -->\nafter\n"
    new = filled(text, "new")
    assert new == "before\n<!-- components -->\n\nnew\n\n<!-- /components -->\nafter\n"
    assert filled(new, "new") == new


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<!-- components -->",
        "<!-- /components --><!-- components -->",
        "<!-- components --><!-- /components --><!-- components --><!-- /components -->",
    ],
)
def test_a_text_without_one_pair_of_markers_is_refused(text):
    with pytest.raises(ValueError, match="once each"):
        filled(text, "new")
