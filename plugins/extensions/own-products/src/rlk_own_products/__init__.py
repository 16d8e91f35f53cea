"""Matrix products by a kernel of rlk's own, in graphs that `compile` compiles."""
