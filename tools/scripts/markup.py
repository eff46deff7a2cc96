"""Markdown as HTML: what Firn's pages use of it.

Blocks are headings, paragraphs, nested lists, tables, fenced and indented code, quotes and rules. Lines
may have code, links, images, **strong** and *emphasised* text, backslashes before punctuation, and HTML's
<br> and &...; marks. Everything else that looks like HTML is text.
"""

import html
import re

from highlight import highlighted

_FENCE = re.compile(r"^(\s*)```(\w*) ?(.*)$")
_HEADING = re.compile(r"^(#{1,6}) +(.*?)(?: +#+)?$")
_ITEM = re.compile(r"^( *)([-*+]|\d+\.) +(.*)$")
_RULE = re.compile(r"^ {0,3}(-{3,}|\*{3,}|_{3,})\s*$")
_TABLE_RULE = re.compile(r"^\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
_CODE = re.compile(r"(`+)(.+?)(?<!`)\1(?!`)", re.S)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+(?:\([^()]*\))?)\)")
_URL = re.compile(r"&lt;(https?://[^\s&]+)&gt;")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_ENTITY = re.compile(r"&amp;(\w+|#\d+);")
_BREAK = re.compile(r"&lt;br ?/?&gt;")


def anchor(text):
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", plain(text).strip().lower()).replace(" ", "-")


def plain(text):
    """A line without its marks."""
    text = _LINK.sub(lambda m: m[2], text)
    text = re.sub(r"\*\*?([^*\s](?:[^*]*[^*\s])?)\*\*?", r"\1", text)
    return _ESCAPE.sub(r"\1", text.replace("`", "").replace("<br>", " "))


def cells(line):
    """The cells of a line of a table. A bar after a backslash is text."""
    return [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line.strip().strip("|") + " ")]


class Page:
    """Makes HTML from one page and collects the texts of the search.

    `link(target, of_image)` returns the address of what a link names. `place(text)` returns the address
    of what a text in backticks names, or "" where it names no page.
    """

    def __init__(self, text, link, place=lambda text: ""):
        self._link, self._place = link, place
        self._anchors = {}
        self.headings = []  # (level, text, anchor)
        self.entries = []   # [title, anchor, text]: sections, and rows of tables that begin with code
        self.title = ""
        self.html = self._blocks(text.splitlines())

    # --- Lines

    def line(self, text):
        """The marks in a line of text."""
        kept = []

        def keep(made):
            kept.append(made)
            return f"\0{len(kept) - 1}\0"

        def code(found):
            inner = found[2].strip() if found[2].strip() else found[2]
            target = self._place(inner)
            made = f"<code>{html.escape(inner, quote=False)}</code>"
            return keep(f'<a href="{html.escape(target)}">{made}</a>' if target else made)

        def link(found):
            target = html.escape(self._link(found[3], bool(found[1])))
            if found[1]:
                return keep(f'<img src="{target}" alt="{html.escape(plain(found[2]))}">')
            return keep(f'<a href="{target}">') + found[2] + keep("</a>")

        text = re.sub(r"\\`", lambda m: keep("`"), text)
        if "](" in text:  # a link's text may be code
            text = _LINK.sub(lambda m: link(m) if not _inside_code(text, m.start()) else m[0], text)
        text = _CODE.sub(code, text)
        text = _ESCAPE.sub(lambda m: keep(html.escape(m[1])), text)
        text = html.escape(text, quote=False)
        text = _URL.sub(lambda m: keep(f'<a href="{m[1]}">{m[1]}</a>'), text)
        text = _ENTITY.sub(r"&\1;", text)
        text = _BREAK.sub("<br>", text)
        text = re.sub(r"\*\*(?=\S)(.+?)(?<=\S)\*\*", r"<strong>\1</strong>", text, flags=re.S)
        text = re.sub(r"(?<![\w*])\*(?=[^\s*])([^*]*?[^\s*])\*(?![\w*])", r"<em>\1</em>", text)
        while "\0" in text:
            text = re.sub("\0(\\d+)\0", lambda m: kept[int(m[1])], text)
        return text

    # --- Blocks

    def _unique(self, wanted):
        count = self._anchors.get(wanted)
        self._anchors[wanted] = 0 if count is None else count + 1
        return wanted if count is None else f"{wanted}-{count + 1}"

    def _note(self, text):
        """For the search: text of the present section."""
        if self.entries and text:
            section = next(e for e in reversed(self.entries) if e[3])
            section[2] += plain(text) + " "

    def _blocks(self, lines):
        made, i = [], 0
        while i < len(lines):
            line = lines[i]
            if not line.strip():
                i += 1
            elif _FENCE.match(line):
                i = self._fenced(lines, i, made)
            elif _HEADING.match(line):
                self._heading(line, made)
                i += 1
            elif line.startswith("    "):
                i = self._indented(lines, i, made)
            elif _RULE.match(line):
                made.append("<hr>")
                i += 1
            elif line.lstrip().startswith("|") and i + 1 < len(lines) and _TABLE_RULE.match(lines[i + 1]):
                i = self._table(lines, i, made)
            elif _ITEM.match(line):
                i = self._list(lines, i, made)
            elif line.startswith(">"):
                end = next((j for j in range(i, len(lines)) if not lines[j].startswith(">")), len(lines))
                quoted = self._blocks([re.sub("^> ?", "", q) for q in lines[i:end]])
                made.append(f"<blockquote>{quoted}</blockquote>")
                i = end
            else:
                i = self._paragraph(lines, i, made)
        return "\n".join(made)

    def _heading(self, line, made):
        marks, text = _HEADING.match(line).groups()
        where = self._unique(anchor(text))
        self.headings.append((len(marks), plain(text), where))
        self.title = self.title or plain(text)
        self.entries.append([plain(text), where, "", True])
        level = len(marks)
        made.append(f'<h{level} id="{where}">{self.line(text)} <a class="here" href="#{where}" '
                    f'aria-label="this section">#</a></h{level}>')

    def _code(self, text, language, name=""):
        self._note(text)
        title = f"<figcaption>{html.escape(name)}</figcaption>" if name else ""
        body = f'<pre tabindex="0"><code>{highlighted(text, language)}</code></pre>'
        return f"<figure>{title}{body}</figure>" if title else body

    def _fenced(self, lines, i, made):
        indent, language, name = _FENCE.match(lines[i]).groups()
        end = next((j for j in range(i + 1, len(lines)) if lines[j].strip() == "```"), len(lines))
        text = "\n".join(line.removeprefix(indent) for line in lines[i + 1:end])
        made.append(self._code(text, language, name))
        return end + 1

    def _indented(self, lines, i, made):
        end = i
        for j in range(i, len(lines)):
            if lines[j].startswith("    "):
                end = j + 1
            elif lines[j].strip():
                break
        made.append(self._code("\n".join(line[4:] for line in lines[i:end]), "sh"))
        return end

    def _table(self, lines, i, made):
        head = cells(lines[i])
        rows, j = [], i + 2
        while j < len(lines) and lines[j].lstrip().startswith("|"):
            rows.append(cells(lines[j]))
            j += 1
        text = "".join(f"<th>{self.line(c)}</th>" for c in head)
        text = f"<thead><tr>{text}</tr></thead><tbody>"
        for row in rows:
            row = (row + [""] * len(head))[:len(head)]
            text += self._row_begin(row) + "".join(f"<td>{self.line(c)}</td>" for c in row) + "</tr>"
        made.append(f'<div class="scroll" tabindex="0"><table>{text}</tbody></table></div>')
        return j

    def _row_begin(self, row):
        """A row that begins with code is found by that, and has a place of its own."""
        name = re.match(r"`([\w:.-]+)", row[0])
        if not name:
            self._note(" ".join(row))
            return "<tr>"
        where = self._unique("row-" + name[1].replace("::", "-"))
        self.entries.append([name[1], where, plain(" ".join(row)), False])
        return f'<tr id="{where}">'

    def _list(self, lines, i, made):
        """All items at this depth, each with the indented lines below it."""
        indent, mark = len(_ITEM.match(lines[i])[1]), _ITEM.match(lines[i])[2]
        kind = "ol" if mark[0].isdigit() else "ul"
        items = []
        while i < len(lines):
            item = _ITEM.match(lines[i])
            if not item or len(item[1]) != indent or item[2][0].isdigit() != (kind == "ol"):
                break
            inside = [item[3]]
            width = len(item[1]) + len(item[2]) + 1
            i += 1
            while i < len(lines):
                line = lines[i]
                if line.strip():
                    begins = len(line) - len(line.lstrip())
                    lazy = not _ITEM.match(line) and not _HEADING.match(line) and not _FENCE.match(line) and \
                        lines[i - 1].strip() and not line.lstrip().startswith("|")
                    if begins <= indent and not lazy:
                        break
                    inside.append(line[min(begins, width):])
                elif i + 1 < len(lines) and lines[i + 1].startswith(" " * (indent + 2)):
                    inside.append("")
                else:
                    break
                i += 1
            items.append(self._item(inside))
            ahead = next((j for j in range(i, len(lines)) if lines[j].strip()), len(lines))
            if ahead < len(lines) and ahead > i and _ITEM.match(lines[ahead]):
                i = ahead
        made.append(f"<{kind}>" + "".join(items) + f"</{kind}>")
        return i

    def _item(self, lines):
        made = self._blocks(lines)
        if made.count("<p>") == 1:  # only lines of text, and lists below them
            made = re.sub(r"^<p>(.*?)</p>", r"\1", made, flags=re.S)
        return f"<li>{made}</li>"

    def _paragraph(self, lines, i, made):
        end = i + 1
        while end < len(lines) and lines[end].strip() and not (
                _FENCE.match(lines[end]) or _HEADING.match(lines[end]) or lines[end].startswith(("|", ">")) or
                (_ITEM.match(lines[end]) and not _ITEM.match(lines[end])[2][0].isdigit())):
            end += 1
        text = "\n".join(line.strip() for line in lines[i:end])
        self._note(text.replace("\n", " "))
        made.append(f"<p>{self.line(text)}</p>")
        return end


def _inside_code(text, at):
    """Whether there is an open backtick before `at` that is closed behind it."""
    return any(found.start() < at < found.end() for found in _CODE.finditer(text))
