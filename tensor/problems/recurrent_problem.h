#ifndef FIRN_TENSOR_PROBLEMS_RECURRENT_PROBLEM_H_
#define FIRN_TENSOR_PROBLEMS_RECURRENT_PROBLEM_H_

// The problems of recurrent layers: attributes, and inputs and results by position.

#include <cstdint>
#include <vector>

#include "firn/device/enum_words.h"

namespace firn {

// The nonlinearity of plain recurrent units.
enum class RnnNonlinearity : uint8_t { kTanh, kRelu };
constexpr auto WordsOf(RnnNonlinearity) {
  return inner::EnumWords<RnnNonlinearity>(
      {{RnnNonlinearity::kTanh, "tanh"}, {RnnNonlinearity::kRelu, "relu"}});
}

namespace inner {
// Attributes of the operations of one layer in one direction. Their inputs begin with x, h0, w_ih,
// w_hh, b_ih and b_hh, their results with y and h_n.
struct RecurrentLayerAttrs {
  bool reverse = false;  // begins at the last step
  // How many sequences have each step, never more than have the one before it, and as many as h0
  // has the first: x is [all rows, in] then. Empty: all of them have every step, and x is
  // [steps, batch, in].
  std::vector<int64_t> batch_sizes;
  template <class V>
  void Visit(V& v) {
    v.Field("reverse", reverse);
    v.Field("batch_sizes", batch_sizes);
  }
};
struct RecurrentIn {
  enum : int { kX, kH0, kWih, kWhh, kBih, kBhh, kC0, kWhr };
};
struct RecurrentOut {
  enum : int { kY, kHn };
};
// Attributes of the operations of a layer's gradients, whose inputs and results begin with these.
struct RecurrentGradAttrs {
  RecurrentLayerAttrs layer = {};
  bool wants_dx = true;  // otherwise dx has no rows
  template <class V>
  void Visit(V& v) {
    layer.Visit(v);
    v.Field("wants_dx", wants_dx);
  }
};
struct RecurrentGradIn {
  enum : int { kX, kH0, kWih, kWhh, kY, kDy, kDhn, kRest };
};
struct RecurrentGradOut {
  enum : int { kDx, kDh0, kDwih, kDwhh, kDb, kRest };
};

// Results of lstm_layer beyond those of all layers, by position.
struct LstmOut {
  enum : int { kY, kHn, kCn, kGates, kCells };
};
// Inputs and results of lstm_layer_grad beyond those of all gradients.
struct LstmGradIn : RecurrentGradIn {
  enum : int { kDcn = kRest, kC0, kGates, kCells, kWhr };
};
struct LstmGradOut : RecurrentGradOut {
  enum : int { kDc0 = kRest, kDwhr };
};

// Results and inputs of gru_layer and of its gradient beyond those of all layers.
struct GruOut : RecurrentOut {
  enum : int { kGates = 2 };
};
struct GruGradIn : RecurrentGradIn {
  enum : int { kGates = kRest };
};
struct GruGradOut : RecurrentGradOut {
  enum : int { kDbhh = kRest };
};

// What a step of a recurrent layer is.
enum class RecurrentCell : uint8_t { kRnnTanh, kRnnRelu, kLstm, kGru };
constexpr auto WordsOf(RecurrentCell) {
  return EnumWords<RecurrentCell>({{RecurrentCell::kRnnTanh, "rnn_tanh"},
                                   {RecurrentCell::kRnnRelu, "rnn_relu"},
                                   {RecurrentCell::kLstm, "lstm"},
                                   {RecurrentCell::kGru, "gru"}});
}

// Attributes of recurrent_layer, a layer of any cell that begins with the first step and keeps
// nothing for its gradient. Its inputs are those of RecurrentIn.
struct CellLayerAttrs {
  RecurrentCell cell = RecurrentCell::kLstm;
  std::vector<int64_t> batch_sizes;  // as in RecurrentLayerAttrs
  template <class V>
  void Visit(V& v) {
    v.Field("cell", cell);
    v.Field("batch_sizes", batch_sizes);
  }
};
struct CellLayerOut {
  enum : int { kY, kHn, kCn };
};
// Attributes of its gradient, which computes the layer again.
struct CellGradAttrs {
  CellLayerAttrs layer = {};
  bool wants_dx = true;  // otherwise dx has no rows
  template <class V>
  void Visit(V& v) {
    layer.Visit(v);
    v.Field("wants_dx", wants_dx);
  }
};
struct CellGradIn : RecurrentIn {
  enum : int { kDy = kWhr + 1, kDhn, kDcn };
};
struct CellGradOut {
  enum : int { kDx, kDh0, kDwih, kDwhh, kDbih, kDbhh, kDc0, kDwhr };
};
// Rows of w_ih and w_hh that belong to a unit.
constexpr int64_t GatesOf(RecurrentCell cell) {
  return cell == RecurrentCell::kLstm ? 4 : cell == RecurrentCell::kGru ? 3 : 1;
}
}  // namespace inner

}  // namespace firn

#endif  // FIRN_TENSOR_PROBLEMS_RECURRENT_PROBLEM_H_
