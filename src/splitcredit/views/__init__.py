"""Show results in other ways: audits, the command line, and an explainer with the calls of shap."""
