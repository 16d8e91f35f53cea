"""Several ranks that train one policy, whatever carries their messages."""
