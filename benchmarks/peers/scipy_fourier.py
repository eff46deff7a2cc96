#!/usr/bin/env python3
"""scipy_fourier.py LENGTH...: what ../fourier.cc times, by scipy.fft, which is pocketfft."""

import json
import sys
import time

import numpy
import scipy.fft


def microseconds(call):
    """The median of blocks of 5 ms of processor time."""
    def seconds_of(calls):
        begin = time.process_time()
        for _ in range(calls):
            call()
        return time.process_time() - begin

    calls = 1
    while seconds_of(calls) < 5e-3:
        calls *= 2
    return sorted(seconds_of(calls) * 1e6 / calls for _ in range(9))[4]


def main():
    for length in map(int, sys.argv[1:]):
        real = numpy.random.rand(64, length).astype(numpy.float32)
        both = (real + 1j * real).astype(numpy.complex64)
        print(json.dumps({"length": length,
                          "fft_us": microseconds(lambda x=both: scipy.fft.fft(x, workers=1)),
                          "rfft_us": microseconds(lambda x=real: scipy.fft.rfft(x, workers=1))}))


if __name__ == "__main__":
    main()
