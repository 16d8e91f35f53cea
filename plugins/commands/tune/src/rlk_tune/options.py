"""The options of `rlk tune` beside those of `rlk run`."""

from __future__ import annotations

import click

SEARCH = (
    "A setting that is searched: LOW:HIGH, log:LOW:HIGH, or values A,B,C. Adds to the ranges that "
    "are there for the algorithm, or replaces one. Repeatable."
)
OUT = "The search's folder, also to go on with it; tunings/<algo>-<env>-<seed>-<time> by default."
FIELDS = (
    click.Option(
        ["--trials"],
        type=click.IntRange(1),
        default=100,
        show_default=True,
        help="How many trials to play, those included that are pruned or fail.",
    ),
    click.Option(
        ["--sampler"],
        type=click.Choice(["tpe", "random"]),
        default="tpe",
        show_default=True,
        help="How settings are chosen: by what earlier trials gave, or at random.",
    ),
    click.Option(
        ["--pruner"],
        type=click.Choice(["median", "halving", "none"]),
        default="median",
        show_default=True,
        help="What stops a trial early: being below the median, successive halving, nothing.",
    ),
    click.Option(
        ["--evaluations"],
        type=click.IntRange(1),
        default=10,
        show_default=True,
        help="Evaluations of each trial, spread over its training.",
    ),
    click.Option(
        ["--episodes"],
        type=click.IntRange(1),
        default=5,
        show_default=True,
        help="Whole episodes in an evaluation.",
    ),
)
OPTIONS = (
    click.Option(["--search", "searched"], metavar="NAME=RANGE", multiple=True, help=SEARCH),
    click.Option(
        ["--space"],
        metavar="NAME",
        default="auto",
        show_default=True,
        help="Where the algorithm's ranges come from: auto, none, or a search space's name.",
    ),
    click.Option(
        ["--jobs"],
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="Processes that play trials at the same time.",
    ),
    click.Option(["--out"], metavar="DIR", help=OUT),
)
