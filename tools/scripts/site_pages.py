"""All of Firn's pages as HTML files that link to each other, for site.py, which describes the result."""

import html
import json
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from highlight import highlighted  # noqa: E402
from markup import Page  # noqa: E402

SKIPPED = ("site",)  # folders of the root that hold no pages
PICTURES = (".svg", ".png", ".jpg", ".gif")
LANGUAGES = {".cc": "cpp", ".h": "cpp", ".cu": "cpp", ".cuh": "cpp", ".py": "python", ".sh": "sh", ".json": "json",
             "": "sh"}

FIRST = ("README.md", "docs/tutorial.md", "docs/reference/README.md", "docs/operations.md", "CONTRIBUTING.md")

# The headings of the list of pages, and the paths of their pages: a page stands under the first
# that fits.
GROUPS = (
    ("Start", lambda p: p in ("README.md", "docs/tutorial.md", "docs/pytorch.md", "docs/nnabla.md", "CHANGELOG.md")),
    ("Reference", lambda p: p.startswith("docs/reference/") or p in (
        "docs/operations.md", "docs/zoo.md", "docs/onnx.md", "docs/nnabla_functions.md", "docs/nnabla_export.md", "docs/glossary.md")),
    ("Guides", lambda p: p == "CONTRIBUTING.md" or p.startswith("docs/") and p.count("/") == 1),
    ("Folders", lambda p: p.endswith("/README.md") and not p.startswith("docs/")),
    ("Decisions and measurements", lambda p: True),
)

TEMPLATE = """<!DOCTYPE html>
<html lang="en" data-up="{up}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
content="default-src 'none'; img-src 'self' data:; style-src 'self'; script-src 'self'">
<title>{title}</title>
<link rel="stylesheet" href="{up}style.css">
<link rel="icon" href="data:,">
<script src="{up}search.js" defer></script>
</head>
<body>
<header>
<a class="name" href="{up}index.html">Firn</a>
<input id="menu" type="checkbox" aria-label="List of pages"><label for="menu">Pages</label>
<form role="search"><input id="query" type="search" placeholder="Search" aria-label="Search"
autocomplete="off" spellcheck="false"></form>
<div id="found"></div>
</header>
<div class="columns">
<nav aria-label="Pages">
{nav}
</nav>
<main>
{body}
<footer>{source}</footer>
</main>
</div>
</body>
</html>
"""


def pages(root):
    """Paths of all Markdown files, from the root."""
    found = []
    for folder, below, names in os.walk(root):
        below[:] = sorted(b for b in below if not b.startswith((".", "bazel-")) and
                          not (folder == root and b in SKIPPED))
        found += [os.path.relpath(os.path.join(folder, name), root) for name in sorted(names) if name.endswith(".md")]
    return found


def address(path):
    """Where a page or a source goes: README.md to index.html of its folder."""
    folder, name = os.path.split(path)
    if name == "README.md":
        return os.path.join(folder, "index.html")
    return os.path.splitext(path)[0] + ".html" if path.endswith(".md") else f"sources/{path}.html"


class Site:

    def __init__(self, root, out):
        self.root, self.out = root, out
        self.paths = pages(root)
        self.known = set(self.paths)
        self.made = {}      # {path: Page}
        self.taken = set()  # sources and pictures that pages link to
        self.bad = []       # targets of links that do not exist

    def _from(self, path, target):
        return os.path.relpath(target, os.path.dirname(address(path)) or ".")

    def _link(self, path, target, of_image):
        """The address that stands for `target` on the page at `path`."""
        if target.startswith(("http://", "https://", "mailto:")):
            return target
        file, mark, place = target.partition("#")
        there = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        full = os.path.join(self.root, there)
        if os.path.isdir(full) and f"{there}/README.md" in self.known:
            there = f"{there}/README.md"
        elif there.startswith("..") or not os.path.exists(full):
            self.bad.append(f"{path}: {target}")
            return target
        if there not in self.known:
            self.taken.add(there)
        if there.endswith(PICTURES):
            return self._from(path, there)
        return self._from(path, address(there)) + mark + place

    def _place(self, path, text):
        """The address of the page that a text in backticks names, by a path from the root or from its folder."""
        if not text or " " in text or not (text.endswith((".md", "/")) or "/" in text):
            return ""
        for base in ("", os.path.dirname(path)):
            there = os.path.normpath(os.path.join(base, text))
            for name in (there, f"{there}/README.md"):
                if name in self.known and name != path:
                    return self._from(path, address(name))
        return ""

    def _title(self, path):
        if path.endswith("/README.md") and not path.startswith("docs/"):
            return os.path.dirname(path)
        return "Firn" if path == "README.md" else self.made[path].title or path

    def _nav(self, path):
        groups = [[] for _ in GROUPS]
        for p in self.paths:
            groups[next(i for i, (_, fits) in enumerate(GROUPS) if fits(p))].append(p)
        text = ""
        for (name, _), found in zip(GROUPS, groups):
            found.sort(key=lambda p: FIRST.index(p) if p in FIRST else len(FIRST))
            items = "".join(
                f'<li><a href="{html.escape(self._from(path, address(p)))}"{" aria-current=page" * (p == path)}>'
                f"{html.escape(self._title(p))}</a></li>" for p in found)
            opened = " open" if path in found or name == "Start" else ""
            text += f"<details{opened}><summary>{name}</summary><ul>{items}</ul></details>\n" if found else ""
        return text

    def _write(self, path, title, body, source):
        where = os.path.join(self.out, address(path))
        os.makedirs(os.path.dirname(where), exist_ok=True)
        up = self._from(path, ".") + "/"
        with open(where, "w", encoding="utf-8") as file:
            file.write(TEMPLATE.format(up="" if up == "./" else up, title=html.escape(title), nav=self._nav(path),
                                       body=body, source=source))

    def _contents(self, page):
        seconds = [(text, where) for level, text, where in page.headings if level == 2]
        if len(seconds) < 4:
            return ""
        items = "".join(f'<li><a href="#{where}">{html.escape(text)}</a></li>' for text, where in seconds)
        return f'<details class="toc"><summary>On this page</summary><ul>{items}</ul></details>'

    def write(self):
        for path in self.paths:
            with open(os.path.join(self.root, path), encoding="utf-8") as file:
                text = file.read()
            self.made[path] = Page(text, lambda t, image, p=path: self._link(p, t, image),
                                   lambda t, p=path: self._place(p, t))
        for path, page in self.made.items():
            head, end, rest = page.html.partition("</h1>")
            body = head + end + self._contents(page) + rest
            title = self._title(path) if path == "README.md" else f"{self._title(path)} - Firn"
            self._write(path, title, body, f"From <code>{html.escape(path)}</code>")
        for path in sorted(self.taken):
            self._take(path)
        self._write_search()
        shutil.copyfile(os.path.join(self.root, "docs/site/style.css"), os.path.join(self.out, "style.css"))

    def _take(self, path):
        """A source or a picture that a page links to; for a folder, the names of the files in it."""
        full = os.path.join(self.root, path)
        if path.endswith(PICTURES):
            os.makedirs(os.path.dirname(os.path.join(self.out, path)), exist_ok=True)
            shutil.copyfile(full, os.path.join(self.out, path))
            return
        if os.path.isdir(full):
            text, language = "\n".join(sorted(os.listdir(full))), ""
        else:
            with open(full, encoding="utf-8", errors="replace") as file:
                text, language = file.read(), LANGUAGES.get(os.path.splitext(path)[1], "")
        body = f"<h1>{html.escape(path)}</h1><pre tabindex=\"0\"><code>{highlighted(text, language)}</code></pre>"
        self._write(path, f"{path} - Firn", body, "A source of this version")

    def _write_search(self):
        texts = [[address(path), self._title(path),
                  [[title, where, " ".join(text.split()), int(not section)]
                   for title, where, text, section in page.entries]]
                 for path, page in self.made.items()]
        with open(os.path.join(self.root, "docs/site/search.js"), encoding="utf-8") as file:
            script = file.read()
        with open(os.path.join(self.out, "search.js"), "w", encoding="utf-8") as file:
            file.write("const PAGES = " + json.dumps(texts, ensure_ascii=False, separators=(",", ":")) + ";\n" + script)
