#!/usr/bin/env python3
"""A page is what the registries say: page_test.py PROGRAM PAGE, where PROGRAM of //tests/docs prints PAGE"""
import os
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")

if __name__ == "__main__":
    program, name = sys.argv[1:]
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    with open(os.path.join(ROOT, name), encoding="utf-8") as page:
        if page.read() != said:
            sys.exit(f"{name}: print it anew, bazel run //tests/docs:{os.path.basename(program)} > {name}")
