// Times one layer of an LSTM, 64 steps, batch 32, 128 inputs and 256 units, forward and backward:
// oneDNN's primitives, and Firn's layer in turns with them. Reordering oneDNN's weights into its
// own order, and their gradients out of it, is timed apart. Firn's times are those of the whole
// layer, with its tape.
//
//   OMP_NUM_THREADS=1 bazel run //benchmarks:onednn_lstm -- f32      (or bf16)
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "benchmarks/call_times.h"
#include "dnnl.hpp"
#include "firn/firn.h"

namespace firn::benchmarks {
namespace {

using dnnl::memory;
using Desc = memory::desc;
using Type = memory::data_type;
using Tag = memory::format_tag;
using Arguments = std::unordered_map<int, memory>;

constexpr int64_t kSteps = 64, kBatch = 32, kIn = 128, kHidden = 256;

// oneDNN's forward and backward primitives with their memory, filled with numbers of either sign.
class Primitives {
 public:
  explicit Primitives(Type type) : type_(type), engine_(dnnl::engine::kind::cpu, 0), s_(engine_) {
    MakePrimitives();
    MakeMemory();
  }

  void Forward() { Execute(forward_, forward_arguments_); }
  // Gradients of weights and biases are added to what is there.
  void Backward() {
    for (const int name :
         {DNNL_ARG_DIFF_WEIGHTS_LAYER, DNNL_ARG_DIFF_WEIGHTS_ITER, DNNL_ARG_DIFF_BIAS}) {
      const memory& m = backward_arguments_.at(name);
      std::memset(m.get_data_handle(), 0, m.get_desc().get_size());
    }
    Execute(backward_, backward_arguments_);
  }
  void BringWeights() {
    Reorder(own_layer_, forward_arguments_.at(DNNL_ARG_WEIGHTS_LAYER));
    Reorder(own_iter_, forward_arguments_.at(DNNL_ARG_WEIGHTS_ITER));
  }
  void BringWeightsBack() {
    Reorder(own_layer_, backward_arguments_.at(DNNL_ARG_WEIGHTS_LAYER));
    Reorder(own_iter_, backward_arguments_.at(DNNL_ARG_WEIGHTS_ITER));
    Reorder(backward_arguments_.at(DNNL_ARG_DIFF_WEIGHTS_LAYER), grad_layer_);
    Reorder(backward_arguments_.at(DNNL_ARG_DIFF_WEIGHTS_ITER), grad_iter_);
  }
  std::string kernels() const { return kernels_; }

 private:
  void MakePrimitives() {
    const auto any = [](memory::dims sizes, Type type) { return Desc(sizes, type, Tag::any); };
    // Gradients, and what is added up over steps, are f32.
    const auto steps = [](int64_t size, Type type) {
      return Desc({kSteps, kBatch, size}, type, Tag::tnc);
    };
    const auto state = [](Type type) { return Desc({1, 1, kBatch, kHidden}, type, Tag::ldnc); };
    const Desc x = steps(kIn, type_), y = steps(kHidden, type_), h = state(type_);
    const Desc c = state(Type::f32), bias({1, 1, 4, kHidden}, Type::f32, Tag::ldgo);
    const memory::dims layer = {1, 1, kIn, 4, kHidden}, iter = {1, 1, kHidden, 4, kHidden};
    const auto direction = dnnl::rnn_direction::unidirectional_left2right;
    const dnnl::lstm_forward::primitive_desc forward(
        {dnnl::prop_kind::forward_training, direction, x, h, c, any(layer, type_), any(iter, type_),
         bias, y, h, c},
        engine_);
    const dnnl::lstm_backward::primitive_desc backward({dnnl::prop_kind::backward,
                                                        direction,
                                                        x,
                                                        h,
                                                        c,
                                                        any(layer, type_),
                                                        any(iter, type_),
                                                        bias,
                                                        y,
                                                        h,
                                                        c,
                                                        steps(kIn, Type::f32),
                                                        state(Type::f32),
                                                        c,
                                                        any(layer, Type::f32),
                                                        any(iter, Type::f32),
                                                        bias,
                                                        steps(kHidden, Type::f32),
                                                        state(Type::f32),
                                                        c},
                                                       engine_, forward);
    kernels_ = std::string(forward.impl_info_str()) + ", " + backward.impl_info_str();
    forward_ = dnnl::lstm_forward(forward);
    backward_ = dnnl::lstm_backward(backward);
    const memory in = Filled(x, 2), h0 = Filled(h, 1), c0 = Filled(c, 1), b = Filled(bias, 0.1f);
    const memory out = Filled(y, 0), h1 = Filled(h, 0), c1 = Filled(c, 0);
    const memory space(forward.workspace_desc(), engine_);
    forward_arguments_ = {{DNNL_ARG_SRC_LAYER, in},  {DNNL_ARG_SRC_ITER, h0},
                          {DNNL_ARG_SRC_ITER_C, c0}, {DNNL_ARG_BIAS, b},
                          {DNNL_ARG_DST_LAYER, out}, {DNNL_ARG_DST_ITER, h1},
                          {DNNL_ARG_DST_ITER_C, c1}, {DNNL_ARG_WORKSPACE, space}};
    backward_arguments_ = forward_arguments_;
    forward_arguments_[DNNL_ARG_WEIGHTS_LAYER] = memory(forward.weights_layer_desc(), engine_);
    forward_arguments_[DNNL_ARG_WEIGHTS_ITER] = memory(forward.weights_iter_desc(), engine_);
    const std::pair<int, Desc> more[] = {
        {DNNL_ARG_WEIGHTS_LAYER, backward.weights_layer_desc()},
        {DNNL_ARG_WEIGHTS_ITER, backward.weights_iter_desc()},
        {DNNL_ARG_DIFF_SRC_LAYER, backward.diff_src_layer_desc()},
        {DNNL_ARG_DIFF_SRC_ITER, backward.diff_src_iter_desc()},
        {DNNL_ARG_DIFF_SRC_ITER_C, backward.diff_src_iter_c_desc()},
        {DNNL_ARG_DIFF_WEIGHTS_LAYER, backward.diff_weights_layer_desc()},
        {DNNL_ARG_DIFF_WEIGHTS_ITER, backward.diff_weights_iter_desc()},
        {DNNL_ARG_DIFF_BIAS, backward.diff_bias_desc()}};
    for (const auto& [name, desc] : more) backward_arguments_[name] = memory(desc, engine_);
    backward_arguments_[DNNL_ARG_DIFF_DST_LAYER] = Filled(backward.diff_dst_layer_desc(), 0.1f);
    backward_arguments_[DNNL_ARG_DIFF_DST_ITER] = Filled(backward.diff_dst_iter_desc(), 0.1f);
    backward_arguments_[DNNL_ARG_DIFF_DST_ITER_C] = Filled(backward.diff_dst_iter_c_desc(), 0.1f);
  }

  // Weights as PyTorch and Firn have them, [4 hidden, in].
  void MakeMemory() {
    const auto own = [](int64_t in, Type type) {
      return Desc({1, 1, in, 4, kHidden}, type, Tag::ldgoi);
    };
    own_layer_ = Filled(own(kIn, type_), 0.12f);
    own_iter_ = Filled(own(kHidden, type_), 0.12f);
    grad_layer_ = memory(own(kIn, Type::f32), engine_);
    grad_iter_ = memory(own(kHidden, Type::f32), engine_);
  }

  // Numbers of either sign up to half of `scale`.
  memory Filled(const Desc& desc, float scale) {
    memory m(desc, engine_);
    const bool half = desc.data_type() == Type::bf16;
    const size_t count = desc.get_size() / (half ? 2 : 4);
    auto* const bytes = static_cast<char*>(m.get_data_handle());
    for (size_t i = 0; i < count; ++i) {
      const auto bits = static_cast<float>((i * 2654435761u) >> 8 & 0xffff);
      const float value = scale * (bits / 65536 - 0.5f);
      const char* const from = reinterpret_cast<const char*>(&value);
      std::memcpy(bytes + i * (half ? 2 : 4), from + (half ? 2 : 0), half ? 2 : 4);
    }
    return m;
  }

  void Execute(const dnnl::primitive& primitive, const Arguments& arguments) {
    primitive.execute(s_, arguments);
    s_.wait();
  }
  void Reorder(memory& from, memory& to) {
    dnnl::reorder(from, to).execute(s_, from, to);
    s_.wait();
  }

  const Type type_;
  dnnl::engine engine_;
  dnnl::stream s_;
  dnnl::primitive forward_, backward_;
  Arguments forward_arguments_, backward_arguments_;
  memory own_layer_, own_iter_, grad_layer_, grad_iter_;
  std::string kernels_;
};

void Run(bool half) {
  Primitives onednn(half ? Type::bf16 : Type::f32);
  onednn.BringWeights();
  onednn.BringWeightsBack();
  nn::Lstm lstm({.in = kIn, .hidden = kHidden});
  const DType dtype = half ? DType::kBF16 : DType::kF32;
  lstm.To(dtype);
  const Tensor x = Randn({kSteps, kBatch, kIn}).To(dtype).SetRequiresGrad();
  const Tensor seed = Full({kSteps, kBatch, kHidden}, 0.1).To(dtype);
  Tensor y;
  const auto forward = [&] { y = lstm(x); };
  const auto peer_forward = [&] { onednn.Forward(); };
  const auto peer_backward = [&] { onednn.Backward(); };
  // Each runs once before it is timed, so that the caches hold its data and not that of the others.
  PrintTimesInTurns({{"oneDNN, forward", peer_forward, peer_forward},
                     {"oneDNN, backward", peer_backward, peer_backward},
                     {"oneDNN, weights, forward", [&] { onednn.BringWeights(); }},
                     {"oneDNN, weights, backward", [&] { onednn.BringWeightsBack(); }},
                     {"Firn, forward", forward, forward},
                     {"Firn, backward", [&] { y.Backward(seed); }, forward}},
                    25, NumThreads() > 1);
  std::printf("oneDNN's kernels: %s\n", onednn.kernels().c_str());
}

}  // namespace
}  // namespace firn::benchmarks

int main(int argc, char** argv) {
  const std::string type = argc > 1 ? argv[1] : "f32";
  if (type != "f32" && type != "bf16") {
    std::fprintf(stderr, "usage: onednn_lstm f32|bf16\n");
    return 2;
  }
  firn::benchmarks::Run(type == "bf16");
}
