"""Take rows as the user has them: tables, their columns' names, and groups of columns."""
