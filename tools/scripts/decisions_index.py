#!/usr/bin/env python3
"""docs/decisions/README.md: a line for each decision of the pages beside it.

    tools/scripts/decisions_index.py > docs/decisions/README.md

A decision is a paragraph (or more) that begins with its date and its title, **2026-11-21. Numbers are tensors.**, and
those of a page stand in the order of their dates.
"""

import glob
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
FOLDER = "docs/decisions"
DECISION = re.compile(r"^\*\*(\d{4}-\d\d-\d\d)\. (.*?)\.?\*\*", re.MULTILINE | re.DOTALL)
HEADING = "# Decisions: "

OPENING = """# Decisions

Why things are as they are: a dated paragraph for each place where the code departs from the plan, or where the plan
left a choice. This page lists them, and is printed: `tools/scripts/decisions_index.py > docs/decisions/README.md`. """


def pages(root):
    """(name, text) of each page of a subject."""
    for path in sorted(glob.glob(os.path.join(root, FOLDER, "*.md"))):
        if os.path.basename(path) != "README.md":
            with open(path, encoding="utf-8") as file:
                yield os.path.basename(path), file.read()


def decisions(text):
    """(date, title) of each."""
    return [(date, " ".join(title.split())) for date, title in DECISION.findall(text)]


def index(root):
    parts = [OPENING]
    for name, text in pages(root):
        heading = text.splitlines()[0].removeprefix(HEADING)
        lines = [f"- {date}: {title}" for date, title in decisions(text)]
        parts.append("\n".join([f"## [{heading}]({name})", "", *lines, ""]))
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(index(ROOT))
