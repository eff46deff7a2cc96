#!/usr/bin/env python3
"""PyTorch's loader on the work of ../loader_benchmark.cc: JPEGs decoded by PIL, RandomResizedCrop to
224 x 224, RandomHorizontalFlip, ToTensor, Normalize, batches of 64, two worker processes.

    torch_loader.py --folder=/tmp/jpegs [--workers=2] [--batch=64] [--epochs=5]

Needs torch, torchvision and pillow.
"""

import argparse
import statistics
import time

import torch
from torchvision import datasets, transforms


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", default="/tmp/firn_jpegs")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()
    torch.set_num_threads(1)
    data = datasets.ImageFolder(args.folder, transforms.Compose([
        transforms.RandomResizedCrop(224),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
    ]))
    loader = torch.utils.data.DataLoader(data, batch_size=args.batch, shuffle=True,
                                         num_workers=args.workers,
                                         persistent_workers=args.workers > 0)
    rates = []
    for epoch in range(args.epochs):
        start, images = time.perf_counter(), 0
        for batch, _ in loader:
            images += len(batch)
        rate = images / (time.perf_counter() - start)
        print(f"epoch {epoch}: {rate:.0f} images/s", flush=True)
        if epoch > 0 or args.epochs == 1:
            rates.append(rate)
    print(f"median {statistics.median(rates):.0f} images/s with {args.workers} workers, "
          f"torch {torch.__version__}")


if __name__ == "__main__":
    main()
