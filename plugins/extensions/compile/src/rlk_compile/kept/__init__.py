"""The programs that are kept on disk for the next start; only `update` imports these modules."""
