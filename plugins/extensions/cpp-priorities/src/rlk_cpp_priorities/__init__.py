"""The sums of prioritized replay, and the search in them, in C++."""
