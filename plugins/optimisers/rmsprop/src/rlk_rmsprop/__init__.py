"""RMSProp for rlk."""
