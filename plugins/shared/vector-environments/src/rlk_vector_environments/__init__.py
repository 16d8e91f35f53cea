"""What vector-environment backends share: making, stepping, infos, saved states and adoption."""
