// What the functions of tensor/ops/signal are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(Fft, .nnabla = "fft", .onnx = "DFT");
FIRN_NAMES(Ifft, .nnabla = "ifft", .onnx = "DFT");
FIRN_NAMES(Rfft, .onnx = "DFT");
FIRN_NAMES(Stft, .nnabla = "stft", .onnx = "STFT");
FIRN_NAMES(Istft, .nnabla = "istft");
FIRN_NAMES(HannWindow, .onnx = "HannWindow");
FIRN_NAMES(HammingWindow, .onnx = "HammingWindow");
FIRN_NAMES(BlackmanWindow, .onnx = "BlackmanWindow");
FIRN_NAMES(MelFilterBank, .onnx = "MelWeightMatrix");
