#!/usr/bin/env python3
"""docs/onnx.md is what the registries say: onnx_page_test.py ONNX_PAGE"""
import os
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")

if __name__ == "__main__":
    said = subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout
    with open(os.path.join(ROOT, "docs/onnx.md"), encoding="utf-8") as page:
        if page.read() != said:
            sys.exit("docs/onnx.md: print it anew, bazel run //tests/docs:onnx_page > docs/onnx.md")
