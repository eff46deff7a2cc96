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


PARTS = (add_quantization,)
