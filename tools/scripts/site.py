#!/usr/bin/env python3
"""Writes all of Firn's pages as a site of static files, with a search that needs no server.

    bazel run //docs:site [-- OUT]
    python3 tools/scripts/site.py [OUT]      into the folder OUT, "site" in the repository if none is given

Pages are the Markdown files of the repository; the site includes the sources and pictures that they link to.
docs/site/style.css defines the look. docs/site/search.js is the search; the texts of all pages are put before it.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from site_pages import Site  # noqa: E402

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../.."))


def main():
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    out = os.path.join(os.environ.get("BUILD_WORKING_DIRECTORY", ""), sys.argv[1]) if len(sys.argv) == 2 else \
        os.path.join(ROOT, "site")
    os.makedirs(out, exist_ok=True)
    site = Site(ROOT, out)
    site.write()
    for bad in site.bad:
        print(f"not there: {bad}", file=sys.stderr)
    print(f"{len(site.paths)} pages: {os.path.join(os.path.realpath(out), 'index.html')}")
    sys.exit(bool(site.bad))


if __name__ == "__main__":
    main()
