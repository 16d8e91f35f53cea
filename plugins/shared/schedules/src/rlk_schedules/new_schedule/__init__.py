"""The templates of `rlk plugins new NAME --kind schedule`."""
