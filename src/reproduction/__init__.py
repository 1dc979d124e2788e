"""The reproduction of the papers: run from the checkout, installed by nobody."""
