"""Which importance can I trust: a study of ours, of simulated outcomes of real features."""
