#!/usr/bin/env python3
"""The site of all pages: every link leads somewhere, no Markdown is left over, nothing comes from
elsewhere, the search finds, and headless Chromium (Debian's package chromium; said and left out
where there is none) sees no page that is wider than a telephone.

It reads the pages where they lie in the repository, which BUILD says by the tag "external".

FIRN_SITE_SCREENSHOTS: a folder that Chromium's pictures of some pages go to; none are kept when unset.
"""

import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../.."))
sys.path.insert(0, os.path.join(ROOT, "tools/scripts"))
from highlight import highlighted  # noqa: E402
from markup import Page, anchor  # noqa: E402
from site_pages import Site, address  # noqa: E402

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
VOID = {"meta", "link", "input", "br", "hr", "img"}  # without an end


class Reader(html.parser.HTMLParser):
    """Links, places, and text that is no code, of one page. Tags have to be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.ids, self.text, self.open, self.wrong = [], [], [], "", [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "a":
            self.links.append(attrs["href"])
        if tag in ("script", "link", "img", "iframe"):
            self.loads.append(attrs.get("src") or attrs.get("href") or "")
        if tag in ("p", "li", "td", "h1", "h2", "h3"):
            self.text += "\n"

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        if not {"code", "pre", "script", "title"} & set(self.open):
            self.text += data


def made(markdown):
    return Page(markdown, lambda target, of_image: target).html


class MarkupTest(unittest.TestCase):

    def test_lines(self):
        self.assertEqual(made("a `b*c*<d>` *e* **f** x_y_z 3 * 4 * 5"),
                         "<p>a <code>b*c*&lt;d&gt;</code> <em>e</em> <strong>f</strong> x_y_z 3 * 4 * 5</p>")
        self.assertEqual(made("[`a[0]`](b.md#c) and `[x](y)`"),
                         '<p><a href="b.md#c"><code>a[0]</code></a> and <code>[x](y)</code></p>')
        self.assertEqual(made(r"\*a\* a\|b <T> & &lt;"), "<p>*a* a|b &lt;T&gt; &amp; &lt;</p>")
        self.assertEqual(made("<script>alert(1)</script>"), "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>")

    def test_headings_have_githubs_anchors(self):
        self.assertEqual(anchor("From `a.h`: what's new, in 2 steps"), "from-ah-whats-new-in-2-steps")
        page = made("# A b\n\n## A b\n")
        self.assertIn('id="a-b"', page)
        self.assertIn('id="a-b-1"', page)

    def test_blocks(self):
        self.assertEqual(made("- a\n  b\n- c\n  - d\n"), "<ul><li>a\nb</li><li>c\n<ul><li>d</li></ul></li></ul>")
        self.assertEqual(made("1. a\n2. b"), "<ol><li>a</li><li>b</li></ol>")
        table = made("| x | y |\n|---|---|\n| a\\|b | c<br>d |")
        self.assertIn("<tbody><tr><td>a|b</td><td>c<br>d</td></tr></tbody>", table)
        self.assertIn("<figcaption>own/a.h</figcaption>", made("```cpp own/a.h\nint a;\n```"))
        self.assertIn("<code>bazel test &lt;x&gt;</code>", made("Do:\n\n    bazel test <x>\n"))
        self.assertEqual(made("- a\n\n      code\n\nb").count("<pre"), 1)

    def test_code_is_coloured(self):
        self.assertEqual(highlighted('int a = 1;  // "b"', "cpp"),
                         '<span class="keyword">int</span> a = <span class="number">1</span>;  '
                         '<span class="comment">// "b"</span>')
        self.assertEqual(highlighted("a < b", "unheard"), "a &lt; b")


class SiteTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.out = scratch.name
        cls.site = Site(ROOT, cls.out)
        cls.site.write()
        cls.pages = {}
        for folder, _, names in os.walk(cls.out):
            for name in names:
                if name.endswith(".html"):
                    path = os.path.relpath(os.path.join(folder, name), cls.out)
                    with open(os.path.join(cls.out, path), encoding="utf-8") as file:
                        cls.pages[path] = Reader(file.read())
        with open(os.path.join(cls.out, "search.js"), encoding="utf-8") as file:
            cls.entries = json.loads(file.readline().removeprefix("const PAGES = ").rstrip().rstrip(";"))

    def test_all_pages_are_there(self):
        self.assertGreater(len(self.site.paths), 50)
        for path in ("README.md", "docs/tutorial.md", "docs/reference/layers.md", "io/data/README.md"):
            self.assertIn(address(path), self.pages)

    def test_every_link_leads_to_a_page_and_a_place_on_it(self):
        self.assertEqual(self.site.bad, [])
        lost, seen = [], 0
        for path, page in self.pages.items():
            for link in page.links:
                if link.startswith("https://"):
                    continue
                file, _, place = link.partition("#")
                there = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
                seen += 1
                if not os.path.exists(os.path.join(self.out, there)) or \
                        place and there in self.pages and place not in self.pages[there].ids:
                    lost.append(f"{path}: {link}")
        self.assertEqual(lost, [])
        self.assertGreater(seen, 1000)

    def test_pages_are_whole(self):
        for path, page in self.pages.items():
            self.assertEqual((page.wrong, page.open), ([], []), path)
            self.assertEqual(len(page.ids), len(set(page.ids)), f"{path}: a place that is there twice")

    def test_nothing_comes_from_elsewhere(self):
        for path, page in self.pages.items():
            for load in page.loads:
                self.assertNotRegex(load, r"^(https?:|//)", path)
                if not load.startswith("data:"):
                    there = os.path.join(self.out, os.path.dirname(path), load)
                    self.assertTrue(os.path.exists(there), f"{path}: {load}")
        with open(os.path.join(self.out, "style.css"), encoding="utf-8") as style:
            self.assertNotIn("url(", style.read())

    def test_no_markdown_is_left_over(self):
        left = re.compile(r"\]\(|\*\*|```|^#{1,6} |^\|.*\|.*\|$|\|---|^- [A-Za-z]|`", re.M)
        for path, page in self.pages.items():
            if not path.startswith("sources/"):
                found = left.search(page.text)
                self.assertFalse(found, f"{path}: {found and page.text[max(0, found.start() - 60):found.end() + 60]!r}")

    def test_the_search_has_what_people_look_for(self):
        titles = {(title, url) for url, _, parts in self.entries for title, *_ in parts}
        for title, path in (("Conv2d", "docs/reference/layers.md"), ("Conv2d", "docs/operations.md"),
                            ("Adam", "docs/reference/optimizers.md"),
                            ("FIRN_NUM_THREADS", "docs/reference/environment.md")):
            self.assertIn((title, address(path)), titles)
        for url, _, parts in self.entries:
            for _, place, _, _ in parts:
                self.assertIn(place, self.pages[url].ids)

    @unittest.skipUnless(shutil.which("node"), "no node here")
    def test_the_search_is_a_script(self):
        subprocess.run(["node", "--check", os.path.join(self.out, "search.js")], check=True)

    # --- As a browser sees it

    def chromium(self, page, *arguments):
        with tempfile.TemporaryDirectory() as profile:
            done = subprocess.run(
                [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
                 "--virtual-time-budget=5000", "--hide-scrollbars", *arguments, f"file://{self.out}/{page}"],
                capture_output=True, text=True, check=False, timeout=280)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    @unittest.skipIf(CHROMIUM is None, "no chromium is installed")
    def test_the_search_finds_conv2d(self):
        found = re.search(r'<div id="found">(.*?)</div>', self.chromium("index.html?q=Conv2d", "--dump-dom"), re.S)
        self.assertTrue(found)
        first = re.search(r'<a href="([^"]+)"><b>([^<]+)</b>', found[1])
        self.assertEqual(first[2], "Conv2d")
        file, _, place = first[1].partition("#")
        self.assertIn(place, self.pages[file].ids)

    @unittest.skipIf(CHROMIUM is None, "no chromium is installed")
    def test_no_page_is_wider_than_a_telephone(self):
        """Each page in a frame of 400 px, in one page that asks how wide they are."""
        names = sorted(path for path in self.pages if not path.startswith("sources/"))
        with open(os.path.join(self.out, "frames.html"), "w", encoding="utf-8") as file:
            file.write("<!DOCTYPE html><body><pre id=widths></pre><script>\n"
                       f"const pages = {json.dumps(names)}; let left = pages.length;\n"
                       "for (const page of pages) {\n"
                       "  const frame = document.createElement('iframe');\n"
                       "  frame.width = 400; frame.height = 800; frame.style.border = 0; frame.src = page;\n"
                       "  frame.onload = () => {\n"
                       "    const root = frame.contentDocument.documentElement;\n"
                       "    widths.textContent += `${page} ${root.scrollWidth} ${root.clientWidth}\\n`;\n"
                       "    frame.remove();\n"
                       "    if (--left === 0) document.title = 'done';\n"
                       "  };\n"
                       "  document.body.append(frame);\n"
                       "}\n</script>")
        dom = self.chromium("frames.html", "--dump-dom", "--allow-file-access-from-files",
                            "--virtual-time-budget=60000")
        said = re.search(r"<pre id=\"?widths\"?>(.*?)</pre>", dom, re.S)[1]
        found = re.findall(r"^(\S+\.html) (\d+) (\d+)$", said, re.M)
        self.assertEqual(sorted(path for path, _, _ in found), names)
        self.assertEqual([f"{path}: {wide}" for path, wide, _ in found if int(wide) > 400], [])

    @unittest.skipIf(CHROMIUM is None, "no chromium is installed")
    def test_pictures(self):
        folder = os.environ.get("FIRN_SITE_SCREENSHOTS") or self.out
        for name, page, options in (
                ("light", "docs/tutorial.html", ["--window-size=1280,1000"]),
                ("dark", "docs/tutorial.html", ["--window-size=1280,1000", "--force-dark-mode"]),
                ("narrow", "docs/reference/layers.html", ["--window-size=400,1600"]),
                ("search", "index.html?q=Conv2d", ["--window-size=1280,1000"])):
            path = os.path.join(folder, f"{name}.png")
            self.chromium(page, f"--screenshot={path}", *options)
            self.assertGreater(os.path.getsize(path), 10000)


if __name__ == "__main__":
    if CHROMIUM is None:
        print("no chromium is installed: pages are not looked at as a browser shows them", file=sys.stderr)
    unittest.main()
