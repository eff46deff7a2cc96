#!/usr/bin/env python3
"""docs/architecture.svg: the floors of Firn, as its BUILD files have them.

    tools/scripts/architecture.py > docs/architecture.svg

Each folder X that has a package_group X_users in the root's BUILD is a box. It stands on the folders whose groups name
it, so that what a box may use lies below it. Its line of text is the first sentence of its BUILD file's comment, and
the names under it are its folders. An arrow shows what a floor does not: a group A_B_users lets folders use B of A that
A_users does not. In a box, arrows between folders say which uses which, if the folders form one chain.

If the BUILD files allow what the picture could not show (two folders that may use each other), that is an error.
"""

import os
import sys
from xml.sax.saxutils import escape

from build_files import Builds, chain, columns, exceptions, floors, folder_of, may_use

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
PAGE = "docs/architecture.svg"

WIDTH, MARGIN, GAP, PAD = 960, 16, 10, 14
FLOOR, PROGRAM, LINE = 108, 78, 19  # heights: of a floor, of a program, of a line
MANY = 8  # folders in a box are boxes themselves up to that
LETTER = {17: 9.6, 13.5: 7.1}  # width of an average letter, rather too much, by size

STYLE = """
  text { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1c2733; font-size: 13.5px }
  .name { font-size: 17px; font-weight: 600 }
  .box { fill: #eef3f8; stroke: #8aa0b6 }
  .top { fill: #fdf3e4; stroke: #c9a063 }
  .part { fill: #ffffff; stroke: #b4c3d2 }
  .arrow { stroke: #b0562c; stroke-width: 1.8; fill: none }
  .head { fill: #b0562c }
  .said { fill: #8d4420 }
  .faint { fill: #51657a }
  .page { fill: #ffffff }
  @media (prefers-color-scheme: dark) {
    text { fill: #dfe7ee }
    .box { fill: #1d2935; stroke: #56708a }
    .top { fill: #332a1c; stroke: #8f7040 }
    .part { fill: #131c25; stroke: #43586c }
    .arrow { stroke: #e59a6c }
    .head { fill: #e59a6c }
    .said { fill: #f0b08a }
    .faint { fill: #9db0c2 }
    .page { fill: #0f161d }
  }
"""


def wrapped(text, size, width):
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and len(longer) * LETTER[size] > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


class Picture:

    def __init__(self):
        self.lines = []

    def add(self, line):
        self.lines.append("  " + line)

    def text(self, x, y, text, of="", anchor=""):
        attributes = (f' class="{of}"' if of else "") + (f' text-anchor="{anchor}"' if anchor else "")
        self.add(f'<text x="{x:g}" y="{y:g}"{attributes}>{escape(text)}</text>')

    def rect(self, x, y, width, height, of):
        self.add(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="7" class="{of}"/>')

    def arrow(self, x, y, to_x, to_y):
        """Level or upright."""
        self.add(f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" class="arrow" marker-end="url(#head)"/>')

    def svg(self, height, title):
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" role="img" aria-label="{escape(title)}">',
            f"  <!-- Made by tools/scripts/architecture.py from the BUILD files. -->\n  <style>{STYLE}  </style>",
            '  <marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
            '<path d="M0 0L8 4L0 8Z" class="head"/></marker>',
            f'  <rect width="{WIDTH}" height="{height:g}" class="page"/>', *self.lines, "</svg>", ""])


def draw_box(picture, box, name, said, of="box"):
    """Returns y below what is written."""
    x, y, width, height = box
    picture.rect(x, y, width, height, of)
    picture.text(x + PAD, y + PAD + 12, name, "name")
    at = y + PAD + 12
    for line in wrapped(said, 13.5, width - 2 * PAD):
        at += LINE
        picture.text(x + PAD, at, line)
    if at > y + height - 6:
        raise ValueError(f"{name}: the first sentence of its BUILD file is too long for its box: {said}")
    return at + 12


def draw_parts(picture, box, y, names, arrows):
    """Small boxes with names, in rows, or lines of names if there are many; returns name -> (x, y, width, height)."""
    if len(names) > MANY:
        for i, line in enumerate(wrapped(" \u00b7 ".join(names), 13.5, box[2] - 2 * PAD)):
            picture.text(box[0] + PAD, y + 16 + i * LINE, line.strip(" \u00b7"), "faint")
        return {}
    left, right = box[0] + PAD, box[0] + box[2] - PAD
    x, between, height, places = left, 28 if arrows else 6, 24, {}
    for i, name in enumerate(names):
        width = len(name) * LETTER[13.5] + 24
        if x + width > right:
            x, y = left, y + height + 6
        picture.rect(x, y, width, height, "part")
        picture.text(x + width / 2, y + 16.5, name, anchor="middle")
        if arrows and i:
            picture.arrow(x - between + 2, y + height / 2, x - 2, y + height / 2)
        places[name] = (x, y, width, height)
        x += width + between
    if y + height > box[1] + box[3] - 6:
        raise ValueError(f"{names} do not fit into their box: make FLOOR higher")
    return places


def drawn(root):
    builds = Builds(root)
    uses = may_use(builds)
    level, (spans, count) = floors(uses), columns(uses)
    highest = max(level.values())
    picture = Picture()
    wide = (WIDTH - 2 * MARGIN - (count - 1) * GAP) / count
    y = MARGIN

    packages, _ = builds.groups()["outer"]
    programs = [folder_of(label) for label in packages if folder_of(label)]
    each = (WIDTH - 2 * MARGIN - (len(programs) - 1) * GAP) / len(programs)
    for i, program in enumerate(programs):
        box = (MARGIN + i * (each + GAP), y, each, PROGRAM)
        main = program if program in builds.texts and builds.summary(program) else f"{program}/firn"
        draw_box(picture, box, f"{main}/", builds.summary(main) if main in builds.texts else "", "top")
    y += PROGRAM + GAP
    draw_box(picture, (MARGIN, y, WIDTH - 2 * MARGIN, 58), "firn.h", builds.summary(""))
    y += 58 + GAP

    places, boxes, asides = {}, {}, exceptions(builds, uses)
    for folder in sorted(uses, key=lambda folder: (-level[folder], spans[folder])):
        first, last = spans[folder]
        top = highest if first == last and not any(folder in others for others in uses.values()) else level[folder]
        box = boxes[folder] = (MARGIN + first * (wide + GAP), y + (highest - top) * (FLOOR + GAP),
                               (last - first + 1) * (wide + GAP) - GAP, (top - level[folder] + 1) * (FLOOR + GAP) - GAP)
        below = draw_box(picture, box, f"{folder}/", builds.summary(folder))
        order = chain(builds, folder)
        names = [os.path.basename(part) for part in order or builds.parts(folder)]
        names.sort(key=lambda name: any(name == part and folder == used for _, _, used, part in asides))  # the last is aimed at
        places[folder] = draw_parts(picture, box, below, names, bool(order))
    for user, parts, folder, part in asides:
        x, top, width, height = places[folder].get(part, boxes[folder])
        middle = top + height / 2
        picture.arrow(boxes[user][0], middle, x + width + 2, middle)
        picture.text(boxes[folder][0] + boxes[folder][2] - 8, middle - 6, f"{parts} folders of {user}/ use {part}", "said", "end")
    height = y + (highest + 1) * (FLOOR + GAP) + 18
    picture.text(MARGIN, height - 6, "A box may use what lies below it, and nothing beside or above. Arrows: what uses what besides.")
    return picture.svg(height + MARGIN - 6, "The folders of Firn, in floors: each may use what lies below it")


if __name__ == "__main__":
    sys.stdout.write(drawn(ROOT))
