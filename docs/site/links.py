"""Links that lead somewhere on the code host only: the site shows their text.

Pages link to folders, which a site has no pages for.
"""

import re
from pathlib import Path

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s]+)\)")


def without_folders(text: str, folder: Path) -> str:
    """Replace links to folders, given relative to that of the page, by what they say."""

    def said(link):
        target = link[2]
        return link[1] if "://" not in target and (folder / target).is_dir() else link[0]

    return LINK.sub(said, text)


def read(app, docname, source):
    """Handle the event `source-read`."""
    source[0] = without_folders(source[0], Path(app.env.doc2path(docname)).parent)


def setup(app):
    """Register the event."""
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
