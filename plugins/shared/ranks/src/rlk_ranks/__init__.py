"""Several ranks that train one policy, independent of the library for their messages."""
