#!/usr/bin/env python3
"""Writes data/photo.png, data/photo.jpg and, as .npy files of f32, the results of torchvision's preset for image
classification: the shorter side is resized to 29, the middle 24x24 cut out, and ImageNet's colours normalised. The .png
is also resized bicubically.

    make_zoo_image.py      (needs torch, torchvision and Pillow)

zoo_image_test.cc compares examples/zoo.cc with them. The sides are such that a crop begins at a half.
"""
import pathlib

import numpy as np
from PIL import Image
from torchvision.transforms import InterpolationMode
from torchvision.transforms._presets import ImageClassification

DATA = pathlib.Path(__file__).resolve().parent / "data"
HEIGHT, WIDTH = 40, 52


def picture():
    """Soft colours, a grid of lines and a corner of noise, no two channels alike."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    red = 255 * x / (WIDTH - 1)
    green = 127.5 + 127.5 * np.sin(y / 5.0)
    blue = np.where((x // 4 + y // 4) % 2 == 0, 230, 40)
    image = np.stack([red, green, blue], axis=2)
    image[:12, :16] = np.random.default_rng(0).integers(0, 256, (12, 16, 3))
    return Image.fromarray(image.astype(np.uint8))


def main():
    seen_as = ImageClassification(crop_size=24, resize_size=29)
    picture().save(DATA / "photo.png")
    picture().save(DATA / "photo.jpg", quality=90)
    for name in ("photo.png", "photo.jpg"):
        with Image.open(DATA / name) as image:
            np.save(DATA / f"{name}.npy", seen_as(image.convert("RGB")).numpy())
    bicubic = ImageClassification(crop_size=24, resize_size=29, interpolation=InterpolationMode.BICUBIC)
    np.save(DATA / "photo.bicubic.npy", bicubic(picture()).numpy())


if __name__ == "__main__":
    main()
