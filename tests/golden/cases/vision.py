"""Cases of images at other sizes and places, and of boxes."""

import torch
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


def add_detection(v):
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

    def deform_conv2d(x, offset, weight, bias=None, mask=None, stride=1, padding=0, dilation=1,
                      groups=1):
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


PARTS = (add_interpolation, add_grids, add_detection)
