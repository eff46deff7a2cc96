"""Cases of images at other sizes and places."""

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


PARTS = (add_interpolation, add_grids)
