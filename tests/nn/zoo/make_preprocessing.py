#!/usr/bin/env python3
"""Writes preprocessing.txt: how images become inputs of torchvision's first weights of each network of the zoo.

    make_preprocessing.py      (needs torchvision)

A line is NAME RESIZE CROP INTERPOLATION MEAN MEAN MEAN STDDEV STDDEV STDDEV, from Weights.transforms(). The shorter
side is resized to RESIZE, and the middle CROP x CROP is cut out. preprocessing_test.cc compares the zoo with it.
"""
import pathlib

from torchvision.models import get_model_weights, list_models
from torchvision.transforms._presets import ImageClassification

HERE = pathlib.Path(__file__).resolve().parent


def line(name):
    first = next(iter(get_model_weights(name))).transforms()
    if not isinstance(first, ImageClassification):
        return None
    assert first.antialias, name
    numbers = [f"{value:g}" for value in first.mean + first.std]
    return " ".join([name, str(first.resize_size[0]), str(first.crop_size[0]), first.interpolation.value, *numbers])


def main():
    zoo = {path.stem for path in (HERE / "references").glob("*.txt")}
    lines = [line(name) for name in sorted(zoo.intersection(list_models()))]
    (HERE / "preprocessing.txt").write_text("".join(found + "\n" for found in lines if found))


if __name__ == "__main__":
    main()
