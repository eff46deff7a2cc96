"""Quantization to integers and back. Scales are such that no x / scale is near to a half."""

import torch


def fake_quantize(x, scale, zero_point, dim=0, qmin=-128, qmax=127):
    if scale.dim() == 0:
        return torch.fake_quantize_per_tensor_affine(x.float(), scale.float(), zero_point, qmin, qmax)
    return torch.fake_quantize_per_channel_affine(x.float(), scale.float(), zero_point, dim, qmin,
                                                  qmax)


QUANTIZED = {"u8": torch.quint8, "i32": torch.qint32}


def quantize(x, scale, zero_point, dtype, dim=0):
    x, to = x.detach().float(), QUANTIZED[dtype]
    if scale.dim() == 0:
        return torch.quantize_per_tensor(x, scale.item(), zero_point.item(), to).int_repr()
    return torch.quantize_per_channel(x, scale.detach(), zero_point, dim, to).int_repr()


def dequantize(x, scale, zero_point, dim=0):
    if scale.dim() == 0:
        made = torch._make_per_tensor_quantized_tensor(x, scale.item(), zero_point.item())
    else:
        made = torch._make_per_channel_quantized_tensor(x, scale.detach(), zero_point, dim)
    return made.dequantize()


def whole(*values):
    return torch.tensor(values, dtype=torch.int32)


def add_quantization(v):
    one, several = torch.tensor(0.03), torch.tensor([0.03, 0.011, 0.07])
    zero, zeros = torch.tensor(5, dtype=torch.int32), whole(0, 100, 255)
    v.case("fake_quantize", "tensor", fake_quantize, {"qmin": -60, "qmax": 40}, ["x"],
           x=v.values(3, 7), scale=one, zero_point=torch.tensor(-3, dtype=torch.int32))
    v.case("fake_quantize", "rows", fake_quantize, {"qmin": 0, "qmax": 255}, ["x"],
           x=v.values(3, 7), scale=several, zero_point=zeros)
    v.case("fake_quantize", "columns", fake_quantize, {"dim": 1, "qmin": -8, "qmax": 7}, ["x"],
           x=v.values(2, 3, 2), scale=several, zero_point=whole(0, -8, 7))
    for dtype in QUANTIZED:
        v.case("quantize_linear", f"tensor_{dtype}", quantize, {"dtype": dtype}, [],
               x=v.values(3, 7), scale=one, zero_point=zero)
        v.case("quantize_linear", f"columns_{dtype}", quantize, {"dim": 1, "dtype": dtype}, [],
               x=v.values(2, 3, 4), scale=several, zero_point=zeros)
    levels = v.integers(3, 5, high=256).to(torch.uint8)
    v.case("dequantize_linear", "tensor", dequantize, {}, [], x=levels, scale=one, zero_point=zero)
    v.case("dequantize_linear", "rows", dequantize, {}, [], x=levels, scale=several,
           zero_point=zeros)


class MinMax(torch.autograd.Function):
    """NNabla's min_max_quantize, whose derivatives are not those of what it computes."""

    @staticmethod
    def forward(ctx, x, low, high, last_level, fine, eps):
        scale = (torch.maximum(high, low + eps) - low) / last_level
        zero = (0.5 - low / scale).floor().clamp(0, last_level)
        low, high = -zero * scale, (last_level - zero) * scale
        ctx.save_for_backward(x < low, x > high)
        ctx.fine = fine
        cut = torch.minimum(torch.maximum(x, low), high)
        return ((cut - low) / scale + 0.5).floor() * scale + low

    @staticmethod
    def backward(ctx, dy):
        below, above = ctx.saved_tensors
        dx = dy * ~(below | above) if ctx.fine else dy
        return dx, (dy * below).sum(), (dy * above).sum(), None, None, None


def min_max_steps(x, qr_min, qr_max, ql_max, decay=0.999, x_min_max=False, ema=False,
                  ste_fine_grained=True, eps=0.01):
    """Training steps, then one evaluating step on the first input (the last output)."""
    outputs = {}
    for step, batch in enumerate([*x, x[0]]):
        if x_min_max and step < len(x):
            rest = decay if ema else 0.0
            qr_min = rest * qr_min + (1 - rest) * batch.detach().min()
            qr_max = rest * qr_max + (1 - rest) * batch.detach().max()
        outputs[f"y.{step}"] = MinMax.apply(batch, qr_min, qr_max, ql_max, ste_fine_grained, eps)
    return outputs if not x_min_max else {**outputs, "qr_min": qr_min, "qr_max": qr_max}


def add_min_max_layer(v):
    for name, attrs in (("learnt", {}), ("learnt_all_through", {"ste_fine_grained": False}),
                        ("held", {"ema": True}), ("extremes", {"x_min_max": True}),
                        ("averages", {"x_min_max": True, "ema": True, "decay": 0.75})):
        v.case("min_max_quantize", name, min_max_steps, {"ql_max": 15.0, **attrs},
               ["x"] if "x_min_max" in attrs or "ema" in attrs else ["x", "qr_min", "qr_max"],
               x=[v.values(3, 4) for _ in range(2)], qr_min=torch.tensor(-0.875),
               qr_max=torch.tensor(1.25))


PARTS = (add_quantization,)
LAYERS = (add_min_max_layer,)
