"""What vector-environment backends share: rows of arrays, infos, and arguments of calls."""
