"""Sutera, Louppe, Huynh-Thu, Wehenkel and Geurts (2021): from global to local MDI importances."""
