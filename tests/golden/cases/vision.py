"""Cases of images at other sizes and places, and of boxes."""

import math

import torch
from torch import nn
from torch.nn import functional as F


def add_interpolation(v):
    def interpolate(x, size=None, scale_factor=None, mode="nearest", align_corners=False,
                    antialias=False):
        names = {"linear": ("linear", "bilinear", "trilinear")[x.dim() - 3], "cubic": "bicubic"}
        smooth = mode in ("linear", "cubic")
        return F.interpolate(x, size, scale_factor, names.get(mode, mode),
                             align_corners if smooth else None, antialias=antialias)

    for mode in ("nearest", "nearest-exact", "area", "linear", "cubic"):
        v.case("interpolate", mode + "_larger", interpolate, {"size": [7, 5], "mode": mode},
               x=v.values(1, 2, 4, 3))
        v.case("interpolate", mode + "_smaller", interpolate, {"size": [3, 4], "mode": mode},
               x=v.values(1, 1, 7, 6))
        if mode == "cubic":
            continue
        v.case("interpolate", mode + "_sequence", interpolate, {"size": [8], "mode": mode},
               x=v.values(2, 2, 5))
        v.case("interpolate", mode + "_volume", interpolate, {"size": [2, 3, 5], "mode": mode},
               x=v.values(1, 1, 3, 2, 3))
    for mode in ("linear", "cubic"):
        v.case("interpolate", mode + "_aligned", interpolate,
               {"size": [7, 2], "mode": mode, "align_corners": True}, x=v.values(1, 2, 4, 5))
        v.case("interpolate", mode + "_antialiased", interpolate,
               {"size": [4, 3], "mode": mode, "antialias": True}, x=v.values(1, 1, 11, 8))
        v.case("interpolate", mode + "_antialiased_larger", interpolate,
               {"size": [9, 3], "mode": mode, "antialias": True}, x=v.values(1, 1, 4, 8))
        v.case("interpolate", mode + "_antialiased_aligned", interpolate,
               {"size": [4, 5], "mode": mode, "antialias": True, "align_corners": True},
               x=v.values(1, 1, 9, 7))
    for mode in ("nearest", "nearest-exact", "linear", "cubic"):
        v.case("interpolate", mode + "_factor", interpolate, {"scale_factor": 1.7, "mode": mode},
               x=v.values(1, 1, 5, 4))
        v.case("interpolate", mode + "_small_factor", interpolate,
               {"scale_factor": 0.45, "mode": mode}, x=v.values(1, 1, 9, 8))


def add_grids(v):
    def grid_sample(x, grid, mode="bilinear", padding="zeros", align_corners=False):
        return F.grid_sample(x, grid, mode, padding, align_corners)

    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            for align in (False, True):
                name = f"{mode}_{padding}" + ("_aligned" if align else "")
                attrs = {"mode": mode, "padding": padding, "align_corners": align}
                v.case("grid_sample", name, grid_sample, attrs, x=v.values(1, 2, 3, 4, scale=1.0),
                       grid=v.values(1, 2, 3, 2, scale=3.0))
                if mode != "bicubic":
                    v.case("grid_sample", name + "_volume", grid_sample, attrs,
                           x=v.values(1, 1, 2, 3, 3, scale=1.0),
                           grid=v.values(1, 1, 2, 2, 3, scale=3.0))
    affine_grid = lambda theta, size, align_corners=False: F.affine_grid(theta, size, align_corners)
    for name, theta, size, align in (("images", (2, 2, 3), [2, 1, 3, 4], False),
                                     ("aligned", (1, 2, 3), [1, 1, 3, 2], True),
                                     ("volumes", (1, 3, 4), [1, 1, 2, 3, 2], False)):
        v.case("affine_grid", name, affine_grid, {"size": size, "align_corners": align},
               theta=v.values(*theta))


def deform_conv2d(x, offset, weight, bias=None, mask=None, stride=1, padding=0, dilation=1,
                  groups=1):
    """torchvision's deform_conv2d by its definition."""
    pair = lambda value: (value, value) if isinstance(value, int) else value
    stride, padding, dilation = pair(stride), pair(padding), pair(dilation)
    n, channels, height, width = x.shape
    out, _, kh, kw = weight.shape
    oh, ow = offset.shape[2:]
    parts = offset.shape[1] // (2 * kh * kw)
    moved = offset.reshape(n, parts, kh, kw, 2, oh, ow)
    steps = lambda count, step, before: torch.arange(count, dtype=x.dtype) * step - before
    row = (moved[..., 0, :, :] + steps(kh, dilation[0], 0)[:, None, None, None] +
           steps(oh, stride[0], padding[0])[:, None])
    column = (moved[..., 1, :, :] + steps(kw, dilation[1], 0)[:, None, None] +
              steps(ow, stride[1], padding[1]))
    near = lambda place, size: (1 - (place[..., None] - steps(size, 1, 0)).abs()).clamp(min=0)
    columns = torch.einsum("npcij,npuvabi,npuvabj->npcuvab",
                           x.reshape(n, parts, -1, height, width), near(row, height),
                           near(column, width))
    if mask is not None:
        columns = columns * mask.reshape(n, parts, 1, kh, kw, oh, ow)
    columns = columns.reshape(n, groups, channels // groups, kh, kw, oh, ow)
    y = torch.einsum("ngcuvab,gocuv->ngoab", columns,
                     weight.reshape(groups, out // groups, -1, kh, kw)).reshape(n, out, oh, ow)
    return y if bias is None else y + bias[:, None, None]


def bilinear(plane, y, x):
    """The value of plane [c, h, w] between its elements, computed as in torchvision's operations on boxes."""
    taps = []
    for place, size in ((y, plane.shape[1]), (x, plane.shape[2])):
        if place < -1 or place > size:
            return torch.zeros_like(plane[:, 0, 0])
        place = max(place, 0.0)
        low = min(int(place), size - 1)
        part = place - low if low < size - 1 else 0.0
        taps.append(((low, 1 - part), (min(low + 1, size - 1), part)))
    return sum(plane[:, i, j] * (u * v) for i, u in taps[0] for j, v in taps[1])


def roi_align(x, boxes, output_size=1, spatial_scale=1.0, sampling_ratio=-1, aligned=False):
    """torchvision's roi_align by its definition."""
    bins = output_size if isinstance(output_size, list) else [output_size] * 2
    regions = []
    for sample, *corners in boxes.tolist():
        left, top, right, bottom = [c * spatial_scale - (0.5 if aligned else 0) for c in corners]
        places = []
        for low, high, count in ((top, bottom, bins[0]), (left, right, bins[1])):
            length = high - low if aligned else max(high - low, 1.0)
            samples = sampling_ratio if sampling_ratio > 0 else math.ceil(length / count)
            step = length / count / samples
            places.append([[low + (b * samples + i + 0.5) * step for i in range(samples)]
                           for b in range(count)])
        plane = x[int(sample)]
        means = [torch.stack([bilinear(plane, i, j) for i in rows for j in columns]).mean(0)
                 for rows in places[0] for columns in places[1]]
        regions.append(torch.stack(means, 1).reshape(-1, *bins))
    return torch.stack(regions)


def roi_pool(x, boxes, output_size=1, spatial_scale=1.0):
    """torchvision's roi_pool by its definition."""
    bins = output_size if isinstance(output_size, list) else [output_size] * 2
    rounded = lambda number: math.floor(abs(number) + 0.5) * (1 if number >= 0 else -1)
    regions = []
    for sample, *corners in boxes.tolist():
        left, top, right, bottom = [rounded(c * spatial_scale) for c in corners]
        ranges = []
        for low, high, count, size in ((top, bottom, bins[0], x.shape[2]),
                                       (left, right, bins[1], x.shape[3])):
            length = max(high - low + 1, 1)
            held = lambda i, start=low, most=size: min(max(start + i, 0), most)
            ranges.append([(held(b * length // count), held(-(-(b + 1) * length // count)))
                           for b in range(count)])
        plane = x[int(sample)]
        values = []
        for first, last in ranges[0]:
            for begin, end in ranges[1]:
                part = plane[:, first:last, begin:end]
                values.append(part.amax((1, 2)) if part.numel() > 0 else plane[:, 0, 0] * 0)
        regions.append(torch.stack(values, 1).reshape(-1, *bins))
    return torch.stack(regions)


def add_boxes(v):
    def box_iou(a, b):
        low = torch.maximum(a[:, None, :2], b[None, :, :2])
        high = torch.minimum(a[:, None, 2:], b[None, :, 2:])
        common = (high - low).clamp(min=0).prod(-1)
        area = lambda boxes: (boxes[:, 2:] - boxes[:, :2]).prod(-1)
        return common / (area(a)[:, None] + area(b) - common)

    def boxes(count):
        corner = v.values(count, 2)
        return torch.cat([corner, corner + v.positive(count, 2, low=0.5, high=4.0)], 1)

    v.case("box_iou", "boxes", box_iou, a=boxes(4), b=boxes(3))


def add_deform_conv(v):
    v.case("deform_conv2d", "plain", deform_conv2d, x=v.values(1, 2, 4, 5),
           offset=v.values(1, 12, 3, 3), weight=v.values(3, 2, 2, 3))
    v.case("deform_conv2d", "mask_and_bias", deform_conv2d, x=v.values(2, 2, 3, 3),
           offset=v.values(2, 8, 2, 2), weight=v.values(2, 2, 2, 2), bias=v.values(2),
           mask=v.positive(2, 4, 2, 2))
    v.case("deform_conv2d", "options", deform_conv2d,
           {"stride": [2, 1], "padding": [1, 2], "dilation": [1, 2]}, x=v.values(1, 2, 5, 4),
           offset=v.values(1, 8, 3, 6), weight=v.values(2, 2, 2, 2))
    v.case("deform_conv2d", "groups_and_parts", deform_conv2d, {"groups": 2},
           x=v.values(1, 4, 3, 3), offset=v.values(1, 16, 2, 2), weight=v.values(4, 2, 2, 2),
           mask=v.positive(1, 8, 2, 2))


def add_resize(v):
    def resize(x, sizes, mode="nearest", coordinates="half_pixel", nearest="", dims=None,
               antialias=False):
        if mode == "nearest":
            name = "nearest" if coordinates == "asymmetric" else "nearest-exact"
            return F.interpolate(x, sizes, mode=name)
        return F.interpolate(x, sizes, mode={"linear": "bilinear", "cubic": "bicubic"}[mode],
                             align_corners=coordinates == "align_corners", antialias=antialias)

    for size in ([7, 5], [3, 4]):
        name = "larger" if size[0] == 7 else "smaller"
        for mode in ("linear", "cubic"):
            for coordinates in ("half_pixel", "pytorch_half_pixel", "align_corners"):
                attrs = {"sizes": size, "mode": mode, "coordinates": coordinates, "dims": [2, 3]}
                v.case("resize", f"{mode}_{coordinates}_{name}", resize, attrs,
                       x=v.values(1, 2, 5, 6))
        for coordinates, nearest in (("asymmetric", "floor"), ("half_pixel", "round_prefer_ceil")):
            attrs = {"sizes": size, "coordinates": coordinates, "nearest": nearest, "dims": [2, 3]}
            v.case("resize", f"{nearest}_{name}", resize, attrs, x=v.values(1, 2, 5, 6))


def add_regions(v):
    def boxes(samples, count, low=-1.0, high=6.0):
        corners = v.values(count, 4, scale=high - low) + (high + low) / 2
        first, second = corners[:, :2], corners[:, 2:]
        sorted_corners = torch.cat([torch.minimum(first, second), torch.maximum(first, second)], 1)
        return torch.cat([v.integers(count, 1, high=samples).float(), sorted_corners], 1)

    for name, attrs in (("default", {"output_size": 2}),
                        ("aligned", {"output_size": [2, 3], "aligned": True}),
                        ("samples", {"output_size": [3, 2], "sampling_ratio": 2}),
                        ("scale", {"output_size": 2, "spatial_scale": 0.625, "sampling_ratio": 3,
                                   "aligned": True})):
        v.case("roi_align", name, roi_align, attrs, ["x"], x=v.values(2, 2, 5, 4),
               boxes=boxes(2, 4))
    for name, attrs in (("default", {"output_size": 2}), ("rows", {"output_size": [3, 1]}),
                        ("scale", {"output_size": 2, "spatial_scale": 0.625})):
        v.case("roi_pool", name, roi_pool, attrs, ["x"], x=v.values(2, 2, 5, 4),
               boxes=boxes(2, 4))


def add_image_layers(v):
    def upsample(x, size=None, scale_factor=None, mode="nearest", align_corners=None):
        names = {"linear": ("linear", "bilinear", "trilinear")[x.dim() - 3], "cubic": "bicubic"}
        factor = scale_factor
        if factor is not None:
            factor = tuple(factor) if len(factor) > 1 else factor[0]
        return nn.Upsample(size, factor, names.get(mode, mode), align_corners)(x)

    image = v.values(1, 2, 3, 4)
    v.case("upsample", "size", upsample, {"size": [5, 7]}, x=image)
    v.case("upsample", "factor", upsample, {"scale_factor": [2.0]}, x=image)
    v.case("upsample", "factors", upsample,
           {"scale_factor": [1.5, 2.5], "mode": "linear", "align_corners": False}, x=image)
    v.case("upsample", "aligned", upsample,
           {"size": 6, "mode": "cubic", "align_corners": True}, x=image)
    v.case("upsample", "sequence", upsample, {"scale_factor": [2.0], "mode": "linear"},
           x=v.values(2, 2, 3))
    v.case("pixel_shuffle", "default", lambda x, upscale: nn.PixelShuffle(upscale)(x),
           {"upscale": 2}, x=v.values(1, 8, 2, 3))
    v.case("pixel_unshuffle", "default", lambda x, downscale: nn.PixelUnshuffle(downscale)(x),
           {"downscale": 2}, x=v.values(1, 2, 4, 6))
    v.case("channel_shuffle", "default", lambda x, groups: nn.ChannelShuffle(groups)(x),
           {"groups": 3}, x=v.values(2, 6, 2, 2))
    boxes = torch.tensor([[0, 0.25, 0.5, 3.5, 4.75], [1, -1.25, 1.5, 3.25, 6.125]])
    v.case("roi_align", "default", roi_align, {"output_size": 2}, ["x"], x=v.values(2, 2, 5, 4),
           boxes=boxes)
    v.case("roi_align", "options", roi_align,
           {"output_size": [2, 3], "spatial_scale": 0.5, "sampling_ratio": 2, "aligned": True},
           ["x"], x=v.values(2, 2, 5, 4), boxes=boxes)
    v.case("roi_pool", "default", roi_pool, {"output_size": 2}, ["x"], x=v.values(2, 2, 5, 4),
           boxes=boxes)
    v.case("roi_pool", "options", roi_pool, {"output_size": [1, 2], "spatial_scale": 0.5}, ["x"],
           x=v.values(2, 2, 5, 4), boxes=boxes)


def add_deform_layer(v):
    def layer(x, offset, mask=None, weight=None, bias=None, **attrs):
        options = {name: attrs[name] for name in ("stride", "padding", "dilation", "groups")
                   if name in attrs}
        return deform_conv2d(x, offset, weight, bias if isinstance(bias, torch.Tensor) else None,
                             mask, **options)

    sizes = {"in": 2, "out": 3, "kernel": [2, 2]}
    v.case("deform_conv2d", "default", layer, sizes, x=v.values(1, 2, 3, 4),
           offset=v.values(1, 8, 2, 3), weight=v.values(3, 2, 2, 2), bias=v.values(3))
    v.case("deform_conv2d", "mask", layer, sizes, x=v.values(1, 2, 3, 4),
           offset=v.values(1, 8, 2, 3), mask=v.positive(1, 4, 2, 3), weight=v.values(3, 2, 2, 2),
           bias=v.values(3))
    v.case("deform_conv2d", "options", layer,
           {**sizes, "out": 2, "stride": [2, 1], "padding": [1, 0], "dilation": [1, 2], "groups": 2,
            "bias": False}, x=v.values(1, 2, 4, 4), offset=v.values(1, 16, 3, 2),
           weight=v.values(2, 1, 2, 2))


PARTS = (add_interpolation, add_grids, add_boxes, add_deform_conv, add_resize, add_regions)
LAYERS = (add_image_layers, add_deform_layer)
