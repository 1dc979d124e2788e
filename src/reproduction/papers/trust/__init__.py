"""The study `trust`: which importance can be trusted, by every yardstick of the papers."""
