"""Equations as MathML, which browsers draw themselves: no script, no font and no network."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

_log = logging.getLogger(__name__)

# Environments that stand alone in LaTeX, and what they are inside an equation.
_ALONE = re.compile(r"\\(begin|end)\{(?:align|eqnarray|gather|multline)\*?\}")
_PLAIN = re.compile(r"\\(?:begin|end)\{equation\*?\}")


def _inside_an_equation(source: str) -> str:
    source = _ALONE.sub(r"\\\1{aligned}", _PLAIN.sub("", source)).strip()
    # Rows without an environment are those of Sphinx's own equations.
    if r"\\" in source and r"\begin" not in source:
        source = rf"\begin{{aligned}}{source}\end{{aligned}}"
    return source


def _mathml(node: nodes.math | nodes.math_block, *, as_block: bool) -> str:
    source = _inside_an_equation(node.astext()) if as_block else node.astext()
    try:
        return str(latex2mathml.tex2mathml(source, as_block=as_block))
    except MathError as error:
        _log.warning("cannot draw the equation %r: %s", source, error, location=node)
        return f"<code>{html.escape(source)}</code>"


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def _block(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(writer.starttag(node, "div", CLASS="math", STYLE="overflow-x: auto"))
    if node.get("number"):
        writer.body.append(f'<span class="eqno">({node["number"]})</span>')
    writer.body.append(_mathml(node, as_block=True))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Make MathML the way equations are written to HTML."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
