// The encoder describes each character with its neighbours; at each step of the decoder, attention
// (Bahdanau et al., 2014) picks the characters that are read now.
#include "firn/nn/zoo/tacotron.h"

#include <map>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/nn/batch_norm.h"
#include "firn/nn/conv.h"
#include "firn/nn/dropout.h"
#include "firn/nn/module_list.h"
#include "firn/nn/recurrent.h"
#include "firn/nn/recurrent_cells.h"
#include "firn/tensor/error.h"
#include "firn/tensor/index.h"
#include "firn/tensor/ops/activation/rectifiers.h"
#include "firn/tensor/ops/activation/sigmoids.h"
#include "firn/tensor/ops/activation/softmax.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/linear/matmul.h"
#include "firn/tensor/ops/pool/max_pool.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/pad.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn::zoo {
namespace {

const TacotronOptions& Checked(const TacotronOptions& o) {
  if (o.hidden < 2 || o.hidden % 2 != 0 || o.reduction < 1) {
    RaiseStatus(InvalidArgument("expected an even number of hidden features and steps of frames, "
                                "got ",
                                o.hidden, " features and steps of ", o.reduction),
                "zoo::Tacotron");
  }
  return o;
}

// A convolution that keeps the length, and a norm.
// x: [n, in, t]      y: [n, out, t]
class ConvNorm1d final : public nn::Layer {
 public:
  ConvNorm1d(int64_t in, int64_t out, int64_t kernel, bool relu)
      : conv_(Add<nn::Conv1d>(
            "conv", {.in = in, .out = out, .kernel = kernel, .padding = kSame, .bias = false})),
        norm_(Add<nn::BatchNorm1d>(
            "norm", {.channels = out,
                     .activation = relu ? FusedActivation::kRelu : FusedActivation::kNone})) {}

 protected:
  Tensor Forward(const Tensor& x) override { return norm_(conv_(x)); }

 private:
  nn::Conv1d& conv_;
  nn::BatchNorm1d& norm_;
};

// x + gate (relu(transform) - x) (Srivastava et al., 2015).
class Highway final : public nn::Layer {
 public:
  explicit Highway(int64_t size)
      : transform_(Add<nn::Linear>("transform", {.in = size, .out = size})),
        gate_(Add<nn::Linear>("gate",
                              {.in = size, .out = size, .bias_init = nn::init::Constant(-1)})) {}

 protected:
  Tensor Forward(const Tensor& x) override {
    return Add(x, Mul(Sigmoid(gate_(x)), Sub(Relu(transform_(x)), x)));
  }

 private:
  nn::Linear &transform_, &gate_;
};

}  // namespace

class TacotronPrenet final : public nn::Layer {
 public:
  TacotronPrenet(int64_t in, const TacotronOptions& o)
      : fc1_(Add<nn::Linear>("fc1", {.in = in, .out = 2 * o.hidden})),
        fc2_(Add<nn::Linear>("fc2", {.in = 2 * o.hidden, .out = o.hidden})),
        dropout_(Add<nn::Dropout>("dropout", {.p = o.dropout})) {}

 protected:
  Tensor Forward(const Tensor& x) override { return dropout_(Relu(fc2_(dropout_(Relu(fc1_(x)))))); }

 private:
  nn::Linear &fc1_, &fc2_;
  nn::Dropout& dropout_;
};

// x: [n, t, in]      y: [n, t, 2 hidden]
class TacotronCbhg final : public nn::Layer {
 public:
  TacotronCbhg(int64_t in, int64_t widest, int64_t projected, int64_t hidden)
      : project1_(Add<ConvNorm1d>("project1", widest * hidden, projected, 3, true)),
        project2_(Add<ConvNorm1d>("project2", projected, in, 3, false)) {
    for (int64_t kernel = 1; kernel <= widest; ++kernel) bank_.Append(in, hidden, kernel, true);
    for (int i = 0; i < 4; ++i) highways_.Append(hidden);
    if (in != hidden) {
      fit_ = &Add<nn::Linear>("fit", {.in = in, .out = hidden, .bias = false});
    }
    gru_ = &Add<nn::Gru>(
        "gru", {.in = hidden, .hidden = hidden, .batch_first = true, .bidirectional = true});
  }

 protected:
  Tensor Forward(const Tensor& x) override {
    const Tensor channels = x.Transpose(1, 2);
    std::vector<Tensor> found;
    for (ConvNorm1d& conv : bank_) found.push_back(conv(channels));
    // The maximum of each element and the next one; the last element has no next one.
    const Tensor last = Concat(found, 1);
    const Tensor pooled =
        MaxPool1d(Pad(last, {0, 1}, {.mode = PadMode::kReplicate}), {.kernel = 2, .stride = 1});
    Tensor y = Add(x, project2_(project1_(pooled)).Transpose(1, 2));
    if (fit_ != nullptr) y = (*fit_)(y);
    for (Highway& highway : highways_) y = highway(y);
    return (*gru_)(y);
  }

 private:
  nn::ModuleList<ConvNorm1d>& bank_ = Add<nn::ModuleList<ConvNorm1d>>("bank");
  ConvNorm1d &project1_, &project2_;
  nn::ModuleList<Highway>& highways_ = Add<nn::ModuleList<Highway>>("highways");
  nn::Linear* fit_ = nullptr;  // null where x has as many features as the highways
  nn::Gru* gru_;
};

class TacotronDecoder final : public nn::Module {
 public:
  explicit TacotronDecoder(const TacotronOptions& o)
      : width_(2 * o.hidden),
        prenet_(Add<TacotronPrenet>("prenet", o.mels, o)),
        attention_rnn_(
            Add<nn::GruCell>("attention_rnn", {.in = o.hidden + width_, .hidden = width_})),
        query_(Add<nn::Linear>("query", {.in = width_, .out = width_, .bias = false})),
        memory_(Add<nn::Linear>("memory", {.in = width_, .out = width_})),
        score_(Add<nn::Linear>("score", {.in = width_, .out = 1, .bias = false})),
        project_(Add<nn::Linear>("project", {.in = 2 * width_, .out = width_})),
        rnn1_(Add<nn::GruCell>("rnn1", {.in = width_, .hidden = width_})),
        rnn2_(Add<nn::GruCell>("rnn2", {.in = width_, .hidden = width_})),
        mel_(Add<nn::Linear>("mel", {.in = width_, .out = o.mels * o.reduction})) {}

  // The state of a text that goes from step to step.
  struct Reading {
    Tensor memory, keys;  // [n, s, width]
    Tensor context;       // [n, width], of the memory
    Tensor attention, first, second;
  };
  Reading Begin(const Tensor& memory) {
    const nn::CallScope scope(*this);
    return {memory,
            memory_(memory),
            Zeros({memory.size(0), width_}, memory.dtype(), memory.device()),
            {},
            {},
            {}};
  }
  // frames: [n, ..., mels]      y: [n, ..., hidden]
  Tensor Prepared(const Tensor& frames) {
    const nn::CallScope scope(*this);
    return prenet_(frames);
  }
  // prepared: [n, hidden], of the frame before      y: [n, mels * reduction]
  Tensor Step(const Tensor& prepared, Reading& r) {
    const nn::CallScope scope(*this);
    r.attention = attention_rnn_(Concat({prepared, r.context}, 1), r.attention);
    const Tensor scores = score_(Tanh(Add(query_(r.attention).Unsqueeze(1), r.keys)));  // [n, s, 1]
    r.context = Matmul(Softmax(scores, 1), r.memory, true).Squeeze(1);
    const Tensor x = project_(Concat({r.attention, r.context}, 1));
    r.first = rnn1_(x, r.first);
    const Tensor h = Add(x, r.first);
    r.second = rnn2_(h, r.second);
    return mel_(Add(h, r.second));
  }

 private:
  const int64_t width_;
  TacotronPrenet& prenet_;
  nn::GruCell& attention_rnn_;
  nn::Linear &query_, &memory_, &score_, &project_;
  nn::GruCell &rnn1_, &rnn2_;
  nn::Linear& mel_;
};

Tacotron::Tacotron(const Options& o)
    : LayerWithOptions(Checked(o)),
      embedding_(Add<nn::Embedding>("embedding", {.count = o.characters, .size = 2 * o.hidden})),
      prenet_(Add<TacotronPrenet>("prenet", 2 * o.hidden, o)),
      encoder_(Add<TacotronCbhg>("encoder", o.hidden, int64_t{16}, o.hidden, o.hidden)),
      decoder_(Add<TacotronDecoder>("decoder", o)),
      post_(Add<TacotronCbhg>("post", o.mels, int64_t{8}, 2 * o.hidden, o.hidden)),
      linear_(Add<nn::Linear>("linear", {.in = 2 * o.hidden, .out = o.frequencies})) {}

Tensor Tacotron::Encoded(const Tensor& ids) { return encoder_(prenet_(embedding_(ids))); }

void Tacotron::CheckFrames(int64_t frames) const {
  if (frames > 0 && frames % options().reduction == 0) return;
  RaiseStatus(
      InvalidArgument("expected a multiple of ", options().reduction, " frames, got ", frames),
      "zoo::Tacotron");
}

Tensor Tacotron::Forward(const Tensor& ids, const Tensor& mels) {
  if (mels.rank() != 3) {
    RaiseStatus(InvalidArgument("expected frames [n, t, ", options().mels, "], got ",
                                mels.shape().ToString()),
                "zoo::Tacotron");
  }
  const int64_t each = options().reduction, t = mels.size(1);
  CheckFrames(t);
  const Tensor before = Concat({Zeros({mels.size(0), 1, mels.size(2)}, mels.dtype(), mels.device()),
                                mels[{kAll, Range(each - 1, t - 1, each)}]},
                               1);
  TacotronDecoder::Reading reading = decoder_.Begin(Encoded(ids));
  std::vector<Tensor> made;
  for (const Tensor& prepared : decoder_.Prepared(before).Unbind(1)) {
    made.push_back(decoder_.Step(prepared, reading));
  }
  return Unflatten(Concat(made, 1), 1, {t, options().mels});
}

Tensor Tacotron::Generate(const Tensor& ids, int64_t frames) {
  CheckFrames(frames);
  const nn::CallScope scope(*this);
  TacotronDecoder::Reading reading = decoder_.Begin(Encoded(ids));
  Tensor last = Zeros({ids.size(0), options().mels}, reading.memory.dtype(), ids.device());
  std::vector<Tensor> made;
  for (int64_t i = 0; i < frames; i += options().reduction) {
    made.push_back(decoder_.Step(decoder_.Prepared(last), reading));
    last = made.back()[{kAll, Range(-options().mels)}];
  }
  return Unflatten(Concat(made, 1), 1, {frames, options().mels});
}

Tensor Tacotron::Spectrogram(const Tensor& mels) {
  const nn::CallScope scope(*this);
  return linear_(post_(mels));
}

TacotronOptions TacotronOf(const std::string& name, const Options& options) {
  TacotronOptions of =
      FindPublished(std::map<std::string, TacotronOptions>{{"tacotron", {}}}, name);
  ExpectNoClasses(options, name);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> TacotronNetworks() {
  return {{.name = "tacotron",
           .paper = "Wang et al., \"Tacotron: towards end-to-end speech synthesis\", 2017",
           .origin = "Firn",
           .inputs = {{"ids", {100}, 70}, {"mels", {400, 80}, 0}},
           .parameters = 6'978'625,
           .make = MakerOf<Tacotron>(TacotronOf, "tacotron")}};
}

}  // namespace firn::zoo
