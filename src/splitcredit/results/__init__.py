"""Hold results: attributions and importances, their files and their plots."""
