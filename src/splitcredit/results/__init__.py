"""Hold what was computed: attributions and importances, their files and their plots."""
