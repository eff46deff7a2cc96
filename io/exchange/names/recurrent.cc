// What the functions of tensor/ops/recurrent are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(Gru, .nnabla = "gru", .onnx = "GRU");
FIRN_NAMES(Lstm, .nnabla = "lstm", .onnx = "LSTM");
FIRN_NAMES(Rnn, .nnabla = "rnn", .onnx = "RNN");
FIRN_NAMES(PackPaddedSequence, .nnabla = "pack_padded_sequence");
FIRN_NAMES(PadPackedSequence, .nnabla = "pad_packed_sequence");
FIRN_NAMES(ReverseSequence, .onnx = "ReverseSequence");
