"""Show results in other ways: audits, the command line, and an explainer with shap's calls."""
