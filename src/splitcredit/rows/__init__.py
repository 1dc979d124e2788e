"""Read rows as users have them: tables, their columns' names, and groups of columns."""
