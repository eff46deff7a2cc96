"""torchvision's functions for Firn's operations on images and boxes, for torch_operations.py.

The golden cases have definitions of some of these in Python, which are no opponents. Without
torchvision a call raises ImportError, and the operation has no row.
"""


def ops():
    import torchvision  # pylint: disable=import-outside-toplevel
    return torchvision.ops


def roi_align(x, boxes, output_size=1, spatial_scale=1.0, sampling_ratio=-1, aligned=False):
    return ops().roi_align(x, boxes, pair(output_size), spatial_scale, sampling_ratio, aligned)


def roi_pool(x, boxes, output_size=1, spatial_scale=1.0):
    return ops().roi_pool(x, boxes, pair(output_size), spatial_scale)


def deform_conv2d(x, offset, weight, bias=None, mask=None, stride=1, padding=0, dilation=1,
                  groups=1):
    """The groups follow from the shapes."""
    del groups
    return ops().deform_conv2d(x, offset, weight, bias, pair(stride), pair(padding),
                               pair(dilation), mask)


def pair(sizes):
    """2 or [2] -> (2, 2)."""
    sizes = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    return sizes * 2 if len(sizes) == 1 else sizes


def nms(boxes, scores, iou_threshold):
    return ops().nms(boxes, scores, iou_threshold)


def batched_nms(boxes, scores, classes, iou_threshold):
    return ops().batched_nms(boxes, scores, classes, iou_threshold)


def stochastic_depth(x, state, p, training, together):
    del state
    return ops().stochastic_depth(x, p, "batch" if together else "row", training)


OWN = {function.__name__: function for function in (
    roi_align, roi_pool, deform_conv2d, nms, batched_nms, stochastic_depth)}
