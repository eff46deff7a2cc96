// Lessons are programs of one file, and their networks stand in these; so the files are read here,
// each in a namespace of its own, with all headers of theirs before.
#include "tests/examples/networks.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <numbers>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "examples/models.h"
#include "firn/autograd/graph/capture.h"
#include "firn/autograd/graph/edit.h"
#include "firn/autograd/graph/quantize.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/firn.h"
#include "firn/nn/quantized/qat.h"
#include "firn/nn/zoo/zoo.h"
#include "firn/tensor/op.h"
#include "tools/firn/train/config.h"
#include "tools/firn/train/models.h"

namespace firn::lessons::classify_folder {
#include "examples/classify_folder.cc"  // NOLINT
}
namespace firn::lessons::custom_module {
#include "examples/custom_module.cc"  // NOLINT
}
namespace firn::lessons::detector {
#include "examples/detector.cc"  // NOLINT
}
namespace firn::lessons::finetune {
#include "examples/finetune.cc"  // NOLINT
}
namespace firn::lessons::gan {
#include "examples/gan.cc"  // NOLINT
}
namespace firn::lessons::gpt {
#include "examples/gpt.cc"  // NOLINT
}
namespace firn::lessons::lstm_text {
#include "examples/lstm_text.cc"  // NOLINT
}
namespace firn::lessons::mixed_precision {
#include "examples/mixed_precision.cc"  // NOLINT
}
namespace firn::lessons::quantize {
#include "examples/quantize.cc"  // NOLINT
}
namespace firn::lessons::resume {
#include "examples/resume.cc"  // NOLINT
}
namespace firn::lessons::rnn {
#include "examples/rnn.cc"  // NOLINT
}
namespace firn::lessons::siamese {
#include "examples/siamese.cc"  // NOLINT
}
namespace firn::lessons::spectrogram {
#include "examples/spectrogram.cc"  // NOLINT
}
namespace firn::lessons::vae {
#include "examples/vae.cc"  // NOLINT
}
namespace firn::lessons::vector_length {
#include "examples/vector_length.cc"  // NOLINT
}

namespace firn::testing {
namespace {

using Inputs = absl::Span<const Tensor>;
using Visitor = std::function<void(const Network&)>;

// Captures a network in evaluation mode, with running statistics that differ from those of a new
// network.
template <class Forward>
void Visit(const Visitor& f, const std::string& name, nn::Module& net, const Forward& forward,
           const TensorList& inputs) {
  const auto run = [&](Inputs in) { return TensorList{forward(in)}; };
  const NoGradScope no_grad;
  net.Train();
  for (int i = 0; i < 3; ++i) run(inputs);
  net.Eval();
  Captured captured = Capture(run, inputs);
  f({name, std::move(captured.graph), inputs, std::move(captured.outputs), net.state_dict()});
}

void Visit(const Visitor& f, const std::string& name, nn::Layer& net, const Tensor& x) {
  Visit(f, name, net, [&](Inputs in) { return net(in[0]); }, {x});
}

Tensor Images(int64_t channels, int64_t side) { return Rand({3, channels, side, side}); }

void OfMnist(const Visitor& f) {
  for (const char* name : {"lenet", "mlp", "resnet", "deep_cnn"}) {
    Visit(f, name, **examples::MakeModel(name, 1), Images(1, 8));
  }
}

// Visits the networks whose input is an image, or nearly one.
void OfImages(const Visitor& f) {
  lessons::classify_folder::Net folder(4);
  Visit(f, "classify_folder", folder, Images(3, 16));
  lessons::custom_module::StochasticResnet stochastic;
  Visit(f, "custom_module", stochastic, [&](Inputs in) { return stochastic.Forward(in[0]); },
        {Images(1, 8)});
  Visit(f, "finetune", *lessons::finetune::MakeNet(), Images(1, 8));
  lessons::gan::Generator generator;
  Visit(f, "gan_generator", generator, Randn({3, 16}));
  lessons::gan::Discriminator discriminator;
  Visit(f, "gan_discriminator", discriminator, Images(1, 8));
  lessons::mixed_precision::Net mixed;
  Visit(f, "mixed_precision", mixed, Images(1, 8));
  lessons::resume::Net resume;
  Visit(f, "resume", resume, Images(1, 8));
  lessons::rnn::RowReader rows;
  Visit(f, "rnn", rows, [&](Inputs in) { return rows.Forward(in[0], false); }, {Images(1, 8)});
  lessons::vae::Vae vae;
  const auto again = [&](Inputs in) {  // the second input: the random numbers
    const Tensor h = Relu(vae.hidden(in[0]));
    return vae.Decode(vae.mean(h) + Exp(vae.log_variance(h) * 0.5) * in[1]);
  };
  Visit(f, "vae", vae, again, {Rand({3, 64}), Randn({3, 4})});
}

void OfOthers(const Visitor& f) {
  lessons::gpt::Gpt gpt;
  Visit(f, "gpt", gpt, Randint(0, 256, {3, 7}));
  lessons::lstm_text::Reader reader;
  const PackedSequence text = lessons::lstm_text::Pack({3888, 1989, 44, 19, 1});
  const auto read = [&](Inputs in) { return reader.Forward({in[0], text.batch_sizes}); };
  Visit(f, "lstm_text", reader, read, {text.data});
  lessons::siamese::Siamese siamese;
  Visit(f, "siamese", siamese, [&](Inputs in) { return siamese.embed(in[0]); }, {Images(1, 8)});
  Visit(f, "siamese_loss", siamese, [&](Inputs in) { return siamese.Forward(in[0], in[1], in[2]); },
        {Images(1, 8), Images(1, 8), FromValues({1.f, 0.f, 1.f})});
  lessons::vector_length::Mlp length;
  Visit(f, "vector_length", length, Randn({3, 2}));
  // The part of the network after the spectrogram.
  lessons::spectrogram::Net tones;
  const auto hear = [&](Inputs in) {
    const Tensor h = MaxPool2d(Relu(tones.conv1(tones.norm(in[0]))), 2);
    return tones.head(Mean(Relu(tones.conv2(h)), {2, 3}));
  };
  Visit(f, "spectrogram", tones, hear, {tones.spectrogram(Randn({3, 4096}))});
}

// The graph with the bytes to which it quantizes values as further results.
inner::Graph WithBytes(inner::Graph graph) {
  std::vector<inner::ValueId> bytes;
  for (const inner::Instr& instr : graph.instrs) {
    if (instr.op->name == "quantize_linear") bytes.push_back(instr.out[0]);
  }
  for (const inner::ValueId id : bytes) AddOutput(graph, id).IgnoreError();
  return graph;
}

// Converts a network after training, and one that was trained for integers.
void InIntegers(const Visitor& f) {
  const Tensor x = Images(1, 8);
  const auto converted = [&](const char* name) {
    return [&f, &x, name](const Network& net) {
      f(net);
      const inner::Graph graph = WithBytes(Quantize(net.graph, {{x}}).value());
      TensorList outputs(graph.outputs.size());
      StaticGraph run = StaticGraph::Compile(graph).value();
      run.Run({x}, absl::MakeSpan(outputs)).IgnoreError();
      f({name, graph, {x}, std::move(outputs)});
    };
  };
  lessons::quantize::Plain plain;
  Visit(converted("quantize_i8"), "quantize", plain, x);
  lessons::quantize::Rounded rounded;
  Visit(converted("quantize_trained_i8"), "quantize_trained", rounded, x);
}

void OfTrain(const Visitor& f) {
  const std::pair<const char*, Tensor> models[] = {
      {R"({"name": "mlp", "hidden": [32, 16]})", Rand({3, 20})},
      {R"({"name": "lenet"})", Images(3, 8)},
      {R"({"name": "resnet"})", Images(3, 8)},
      {R"({"name": "resnet18"})", Images(3, 8)}};
  for (const auto& [config, x] : models) {
    const cli::Config model = cli::Config::Parse(config, "train.json");
    const std::vector<int64_t> sizes(x.shape().begin() + 1, x.shape().end());
    const std::unique_ptr<nn::Layer> net = cli::ParseModel(model).make(Shape(sizes), {10});
    Visit(f, "train_" + model.RequiredText("name"), *net, x);
  }
}

void OfDrawings(const Visitor& f) {
  lessons::detector::Detector detector;
  Visit(f, "detector", detector, Images(1, lessons::detector::kSize));
}

}  // namespace

void ForEachNetwork(const Visitor& f) {
  ManualSeed(1);
  OfMnist(f);
  OfImages(f);
  OfOthers(f);
  InIntegers(f);
  OfTrain(f);
  OfDrawings(f);  // last, so that those before draw what they did
}

}  // namespace firn::testing
