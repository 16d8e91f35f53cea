"""The options of `rlk tune` in addition to those of `rlk run`."""

from __future__ import annotations

import click

from rlk_cli.completion import folders, names_of

SEARCH = (
    "A setting to search: LOW:HIGH, log:LOW:HIGH, or values A,B,C. Adds a range to those that the "
    "algorithm has, or replaces one. Repeatable."
)
OUT = (
    "The search's folder; a search that is in it is continued. By default "
    "tunings/<algo>-<env>-<seed>-<time>."
)
FIELDS = (
    click.Option(
        ["--trials"],
        type=click.IntRange(1),
        default=100,
        show_default=True,
        help="How many trials to run, including those that are pruned or fail.",
    ),
    click.Option(
        ["--sampler"],
        type=click.Choice(["tpe", "random"]),
        default="tpe",
        show_default=True,
        help="How settings are chosen: by the results of earlier trials (tpe), or at random.",
    ),
    click.Option(
        ["--pruner"],
        type=click.Choice(["median", "halving", "none"]),
        default="median",
        show_default=True,
        help="What stops a trial early: a result below the median, successive halving, or nothing.",
    ),
    click.Option(
        ["--evaluations"],
        type=click.IntRange(1),
        default=10,
        show_default=True,
        help="How often to evaluate each trial, evenly over its training.",
    ),
    click.Option(
        ["--episodes"],
        type=click.IntRange(1),
        default=5,
        show_default=True,
        help="How many episodes to play in each evaluation.",
    ),
)
OPTIONS = (
    click.Option(["--search", "searched"], metavar="NAME=RANGE", multiple=True, help=SEARCH),
    click.Option(
        ["--space"],
        metavar="NAME",
        default="auto",
        show_default=True,
        shell_complete=names_of("search_spaces", also=("auto", "none")),
        help="Where the algorithm's ranges come from: auto, none, or the name of a search space.",
    ),
    click.Option(
        ["--jobs"],
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="How many trials to run at the same time, each in its own process.",
    ),
    click.Option(["--out"], metavar="DIR", shell_complete=folders, help=OUT),
)
