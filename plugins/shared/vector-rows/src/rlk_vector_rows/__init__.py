"""What vector-environment backends share: rows, infos, arguments of calls, saved states."""
