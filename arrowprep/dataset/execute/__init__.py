"""Where work runs: in this process or in others. Knows nothing of Arrow."""
