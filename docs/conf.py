"""The documentation site, for Sphinx: `make docs` builds it into build/site.

Pages are Markdown and are read on the code host, too. The source folder is the top of the project,
so that a relative link leads to the same file in both places.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "docs" / "site")]

from splitcredit import __version__  # noqa: E402

project = "splitcredit"
author = "the authors of splitcredit"
copyright = author
version = release = __version__

root_doc = "docs/index"
include_patterns = [
    "*.md",
    "benchmarks/README.md",
    "config/README.md",
    "data/README.md",
    "docs/*.md",
    "docs/api/*.md",
    "docs/measures/*.md",
    "docs/theory/*.md",
    "notebooks/README.md",
    "results/README.md",
]
exclude_patterns = [".*", "build", "src", "tests"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "mathml", "links"]

# A heading can be linked to by the name that the code host gives it.
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
default_role = "py:obj"
highlight_language = "none"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False

html_theme = "furo"
html_title = "splitcredit"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
# The first page lies in docs/; one at the top leads there.
templates_path = ["site/templates"]
html_additional_pages = {"index": "to_first_page.html"}
