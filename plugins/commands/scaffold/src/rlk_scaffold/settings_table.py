"""The table of a component's settings in the README of its distribution."""

from __future__ import annotations

import re

from rlk.component import Component
from rlk_cli.fields import Field, fields_of

#: Text that is code in Markdown within a help text: an option, or a name with underscores.
_CODE = re.compile(r"(?<![\w`.-])(--[a-z][a-z-]*(?: [a-z]+-[a-z-]+)?|[A-Za-z]\w*_[\w.]*\w)")


def settings_table(component: Component) -> str:
    """A Markdown table of every setting with its default and its help text.

    Raises:
        ValueError: if the component has no settings.
    """
    if component.config is None:
        raise ValueError(f"{component.name!r} has no settings; take its markers out of the README")
    lines = ["| setting | default | meaning |", "|---|---|---|"]
    for field in fields_of(component.config, component.own_defaults):
        means = meaning(field)
        if plugin := component.activates.get(field.name):
            means += f"; true is the same as `--plugin {plugin}`"
        cells = (f"`{field.name}`", field.default, means)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def meaning(field: Field) -> str:
    """The help text, with the allowed values if it does not name them all."""
    text = field.help
    named = {word.lower() for word in re.findall(r"\w+", text)}
    if not named.issuperset(field.choices):
        text = f"{text} ({', '.join(field.choices[:-1])} or {field.choices[-1]})"
    return _CODE.sub(r"`\1`", text)
