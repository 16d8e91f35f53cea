"""CrossQ, which is not here: importing this module says what to use instead."""

from rlk_sb3_contrib.elsewhere import not_here

raise not_here(__package__, "CrossQ")
