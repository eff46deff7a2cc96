"""Fourier transforms and windows. Complex numbers are a last dimension of size 2."""

import torch

NORMS = {"backward": {}, "ortho": {"norm": "ortho"}, "forward": {"norm": "forward"}}


def add_transforms(v):
    def complex_to_complex(function):
        def run(x, dim=-1, norm="backward"):
            return torch.view_as_real(function(torch.view_as_complex(x), dim=dim, norm=norm))
        return run

    def rfft(x, dim=-1, norm="backward"):
        return torch.view_as_real(torch.fft.rfft(x, dim=dim, norm=norm))

    def irfft(y, size, dim=-1, norm="backward"):
        return torch.fft.irfft(torch.view_as_complex(y), size, dim=dim, norm=norm)

    for norm, attrs in NORMS.items():
        for n in (1, 6, 7, 30):
            for op, function in (("fft", torch.fft.fft), ("ifft", torch.fft.ifft)):
                v.case(op, f"{n}_{norm}", complex_to_complex(function), attrs,
                       x=v.values(2, n, 2))
            v.case("rfft", f"{n}_{norm}", rfft, attrs, x=v.values(2, n))
            v.case("irfft", f"{n}_{norm}", irfft, {"size": n, **attrs},
                   y=v.values(2, n // 2 + 1, 2))
    for op, function in (("fft", torch.fft.fft), ("ifft", torch.fft.ifft)):
        v.case(op, "columns", complex_to_complex(function), {"dim": 0}, x=v.values(5, 3, 2))
    v.case("rfft", "columns", rfft, {"dim": 0}, x=v.values(6, 3))
    v.case("irfft", "too_many", irfft, {"size": 4}, y=v.values(2, 5, 2))
    v.case("irfft", "too_few", irfft, {"size": 9}, y=v.values(2, 3, 2))


def add_short_time(v):
    def stft(x, n_fft, hop, window=None, center=True, normalized=False, onesided=True):
        length = None if window is None else window.numel()
        return torch.view_as_real(torch.stft(
            x, n_fft, hop, length, window, center=center, normalized=normalized,
            onesided=onesided, return_complex=True))

    def istft(y, n_fft, hop, window=None, center=True, normalized=False, onesided=True):
        length = None if window is None else window.numel()
        return torch.istft(torch.view_as_complex(y), n_fft, hop, length, window, center=center,
                           normalized=normalized, onesided=onesided)

    for name, extra in (("default", {}), ("normalized", {"normalized": True}),
                        ("not_centred", {"center": False}), ("both_sides", {"onesided": False})):
        attrs = {"n_fft": 6, "hop": 2, **extra}
        rows = 4 if extra.get("onesided", True) else 6
        v.case("stft", name, stft, attrs, x=v.values(2, 14), window=v.positive(6))
        v.case("istft", name, istft, attrs, y=v.values(rows, 5, 2), window=v.positive(6))
    v.case("stft", "short_window", stft, {"n_fft": 6, "hop": 2}, x=v.values(14),
           window=v.positive(3))
    v.case("stft", "no_window", stft, {"n_fft": 4, "hop": 3}, x=v.values(14))


def add_windows(v):
    for op, function in (("hann_window", torch.hann_window),
                         ("hamming_window", torch.hamming_window),
                         ("blackman_window", torch.blackman_window)):
        for n in (1, 2, 7, 16):
            for periodic in (True, False):
                v.case(op, f"{n}_{'periodic' if periodic else 'symmetric'}",
                       lambda n, periodic, f=function: f(n, periodic=periodic,
                                                         dtype=torch.float64),
                       {"n": n, "periodic": periodic})


PARTS = (add_transforms, add_short_time, add_windows)
