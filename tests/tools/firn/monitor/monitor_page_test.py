#!/usr/bin/env python3
"""The page that `firn monitor` writes, as an XML parser and as headless Chromium see it. The latter
is skipped where no Chromium is installed (Debian's package chromium):

    bazel build //tools/firn //tests/tools/firn/monitor:write_run
    tests/tools/firn/monitor/monitor_page_test.py bazel-bin/tests/tools/firn/monitor/write_run \\
        bazel-bin/tools/firn/firn

FIRN_SCREENSHOT: the file that Chromium's picture of the page goes to; none is kept when unset.
"""

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

FIRN = sys.argv.pop()
WRITE_RUN = sys.argv.pop()
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
HTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"


def with_class(root, tag, name):
    return [e for e in root.iter(tag) if name in e.get("class", "").split()]


class Page:
    """The page of the run that write_run writes, made once."""

    @classmethod
    def make(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        folder = os.path.join(cls.scratch.name, "a <b>run")
        cls.path = os.path.join(cls.scratch.name, "page.html")
        os.mkdir(folder)
        subprocess.run([WRITE_RUN, folder], check=True)
        said = subprocess.run([FIRN, "monitor", folder, "-o", cls.path, "--smoothing", "0.6", "--json"],
                              check=True, stdout=subprocess.PIPE).stdout
        cls.summary = json.loads(said)
        with open(cls.path, encoding="utf-8") as file:
            cls.text = file.read()
        cls.root = ElementTree.fromstring(cls.text)


def setUpModule():
    Page.make()


def tearDownModule():
    Page.scratch.cleanup()


class MonitorPageTest(unittest.TestCase):

    def test_summary_counts_what_the_page_has(self):
        charts = with_class(Page.root, HTML + "section", "chart")
        self.assertEqual(len(charts), len(Page.summary["charts"]))
        keys = with_class(Page.root, HTML + "span", "key")
        self.assertEqual(len(keys), Page.summary["curves"])
        self.assertEqual(Page.summary["curves"], 9)
        self.assertEqual(len(list(Page.root.iter(HTML + "img"))), Page.summary["pictures"])
        self.assertEqual(len(with_class(Page.root, HTML + "section", "graph")), 2)
        self.assertEqual(Page.summary["histograms"], 2)
        self.assertEqual(Page.summary["texts"], 2)
        self.assertEqual(Page.summary["problems"], [])

    def test_curves_are_drawn_once_each(self):
        for chart in with_class(Page.root, HTML + "section", "chart"):
            keys = with_class(chart, HTML + "span", "key")
            for key in keys:
                color, dashes = key.get("class").split()[1:]
                lines = with_class(chart, SVG + "polyline", color)
                full = [e for e in lines if "pale" not in e.get("class") and
                        (e.get("stroke-dasharray") is None) == (dashes == "d0")]
                self.assertGreaterEqual(len(full), 1)
            self.assertGreater(len(with_class(chart, SVG + "rect", "hint")), 10)

    def test_training_and_test_of_all_runs_share_a_chart(self):
        charts = {"".join(c.find(HTML + "h3").itertext()): c
                  for c in with_class(Page.root, HTML + "section", "chart")}
        names = ["".join(b.itertext()) for b in charts["loss"].find(HTML + "ul").iter(HTML + "bdi")]
        self.assertEqual(names, ["training-loss", "first/loss/test", "second/loss/test"])

    def test_nothing_is_asked_from_elsewhere_and_nothing_runs(self):
        allowed = {"meta", "title", "style", "head", "body", "html", "header", "main", "footer", "nav",
                   "section", "div", "p", "h1", "h2", "h3", "a", "ul", "li", "span", "bdi", "figure",
                   "figcaption", "img", "pre", "svg", "g", "path", "rect", "text", "polyline"}
        for element in Page.root.iter():
            self.assertIn(element.tag.split("}")[-1], allowed)
            for name, value in element.attrib.items():
                self.assertFalse(name.startswith("on"), name)
                self.assertNotEqual(name, "style")
                if name == "src":
                    self.assertRegex(value, "^data:image/(png|jpeg|svg[+]xml);base64,[A-Za-z0-9+/=]+$")
                if name.endswith("href"):
                    self.assertRegex(value, "^#s[0-9]$")
        style = Page.root.find(f"{HTML}head/{HTML}style").text
        self.assertNotRegex(style, "url|@import|http")

    def test_policy_allows_its_style_alone(self):
        metas = [m for m in Page.root.iter(HTML + "meta")
                 if m.get("http-equiv") == "Content-Security-Policy"]
        self.assertEqual(len(metas), 1)
        policy = dict(part.strip().split(" ", 1) for part in metas[0].get("content").split(";"))
        self.assertEqual(policy["default-src"], "'none'")
        self.assertNotIn("script-src", policy)
        style = re.search("<style>(.*?)</style>", Page.text, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        self.assertEqual(policy["style-src"], f"'sha256-{digest}'", "kStyleHash of style.h")

    def test_hostile_names_are_shown_as_they_are(self):
        names = ["".join(h.itertext()) for h in Page.root.iter(HTML + "h3")]
        self.assertIn("<script>alert(1)<", names)
        self.assertIn("<img-src=x-onerror=alert(1)>", names)
        self.assertIn("</style><b>accuracy", names)
        self.assertIn('first/filters"><script>', names)
        notes = ["".join(p.itertext()) for p in Page.root.iter(HTML + "pre")]
        self.assertIn("first line\n<script>alert(document.title)</script>\n&amp; \"quotes\"\n", notes)
        self.assertEqual("".join(Page.root.find(f"{HTML}head/{HTML}title").itertext()), "a <b>run")


@unittest.skipIf(CHROMIUM is None, "no chromium is installed")
class ChromiumTest(unittest.TestCase):

    def chromium(self, *arguments):
        with tempfile.TemporaryDirectory() as profile:
            return subprocess.run(
                [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
                 "--no-first-run", "--enable-logging=stderr", "--window-size=1280,2000", *arguments,
                 "file://" + Page.path],
                check=True, capture_output=True, text=True, timeout=50)

    def test_dom_has_no_script_and_the_policy_blocks_nothing_of_the_page(self):
        run = self.chromium("--dump-dom")
        self.assertNotIn("<script", run.stdout)
        self.assertEqual(run.stdout.count('class="card chart"'), len(Page.summary["charts"]))
        self.assertNotIn("Content Security Policy", run.stderr)

    def test_screenshot_shows_curves(self):
        picture = os.environ.get("FIRN_SCREENSHOT") or os.path.join(Page.scratch.name, "s.png")
        self.chromium(f"--screenshot={picture}")
        with open(picture, "rb") as file:
            png = file.read()
        self.assertTrue(png.startswith(b"\x89PNG"))
        self.assertGreater(len(png), 50_000)  # an empty page of this size has some 10,000


if __name__ == "__main__":
    unittest.main()
