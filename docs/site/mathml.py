"""Equations as MathML, which browsers draw by themselves: no script, no fonts, no network."""

from docutils import nodes
from latex2mathml.converter import convert


def inline(translator, node):
    """Write an equation of a line of text."""
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block(translator, node):
    """Write an equation that has lines of its own."""
    equation = convert(node.astext(), display="block")
    translator.body.append(f'<div class="math">{equation}</div>\n')
    raise nodes.SkipNode


def setup(app):
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
