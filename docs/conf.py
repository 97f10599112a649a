"""How Sphinx builds these pages. Warnings are errors: see the word `docs` in the Makefile."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

# So that these pages' own extensions are found, as docs.mathml and so on.
sys.path.insert(0, str(Path(__file__).parent.parent))

project = "evsurf"
author = "the evsurf authors"
project_copyright = author
version = release = installed_version("evsurf")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    # After autodoc, whose events they listen to.
    "docs.docstrings",
    "docs.figures",
    "docs.figures_of_datasets",
    "docs.figures_of_looks",
    "docs.figures_of_worlds",
    "docs.gallery",
    "docs.mathml",
    "docs.speed_tables",
]

# Dollars and bare environments for equations; anchors, so that a page can link into another.
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# A name between single backticks, as docstrings write it, is code.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_type_aliases = {"ArrayLike": "ArrayLike"}
# "relative" is an argument, to be typed as it stands.
smartquotes = False
# Shapes stay readable: the annotation as it was written, not what it evaluates to.
autodoc_typehints_format = "short"

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["equations.css", "figures.css"]
html_title = f"evsurf {release}"
html_show_sphinx = False
