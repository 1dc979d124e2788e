"""Loecher (2022): from unbiased MDI feature importance to explainable AI for trees."""
