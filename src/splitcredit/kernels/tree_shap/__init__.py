"""Path-dependent TreeSHAP."""
