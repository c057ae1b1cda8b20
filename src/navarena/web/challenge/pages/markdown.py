"""Markdown of challenge files as HTML that holds no scripts, no foreign markup and no images."""

from markdown_it import MarkdownIt
from markupsafe import Markup

_PARSER = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table").disable("image")


def render_markdown(text: str) -> Markup:
    """`text` as HTML. Tags in it come out as text; links to other schemes than web and mail are no links."""
    tokens = _PARSER.parse(text)
    for token in tokens:
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("rel", "nofollow noopener noreferrer")
    return Markup(_PARSER.renderer.render(tokens, _PARSER.options, {}))
