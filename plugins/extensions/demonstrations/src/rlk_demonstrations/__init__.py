"""A replay begins with an expert's transitions (`--plugin demonstrations:expert_path=FILE`)."""
