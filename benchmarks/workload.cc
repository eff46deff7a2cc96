// One table of all workloads. Workloads that classify images differ only in network and size.
#include "benchmarks/workload.h"

#include <vector>

#include "absl/strings/str_join.h"
#include "benchmarks/changing_cnn.h"
#include "benchmarks/gpt.h"
#include "benchmarks/sequences.h"
#include "examples/models.h"
#include "firn/device/status_macros.h"
#include "firn/nn/summary.h"
#include "firn/nn/zoo/resnet.h"
#include "firn/tensor/ops/loss/cross_entropy.h"

namespace firn::benchmarks {
namespace {

class Classify final : public Workload {
 public:
  Classify(std::unique_ptr<nn::Layer> net, const Shape& image)
      : Workload(std::move(net)), image_(image) {}

  HashBatch Batch(int64_t step, int64_t n) const override { return BatchOfStep(step, n, image_); }
  // Runs forward in eval mode, which changes no running statistics.
  void Prepare(const Tensor& input) override {
    std::vector<int64_t> sizes(input.shape().begin(), input.shape().end());
    sizes[0] = 1;
    nn::Summary(net(), Shape(sizes));
  }
  Tensor Loss(const Tensor& input, const Tensor& labels) override {
    return CrossEntropy(net()(input), labels);
  }

 private:
  const Shape image_;
};

using Made = absl::StatusOr<std::unique_ptr<Workload>>;

// A model of examples/models.h.
Made OfModel(const char* name, const WorkloadSizes& s, const Shape& image) {
  FIRN_ASSIGN_OR_RETURN(std::unique_ptr<nn::Layer> net, examples::MakeModel(name, s.depth));
  return std::make_unique<Classify>(std::move(net), image);
}

using Sizes = const WorkloadSizes&;
struct Named {
  const char* name;
  Made (*make)(Sizes);
};

constexpr Named kWorkloads[] = {
    {"mlp", [](Sizes s) { return OfModel("mlp", s, {64}); }},
    {"lenet",
     [](Sizes s) {
       return OfModel("lenet", s, {1, 28, 28});
     }},
    {"resnet",
     [](Sizes s) {
       return OfModel("resnet", s, {1, 28, 28});
     }},
    {"deep_cnn",
     [](Sizes s) {
       return OfModel("deep_cnn", s, {1, 8, 8});
     }},
    {"changing_cnn",
     [](Sizes s) -> Made {
       auto net = std::make_unique<ChangingCnn>(ChangingCnnOptions{.depth = s.depth});
       return std::make_unique<Classify>(std::move(net), Shape({1, 8, 8}));
     }},
    {"resnet18",
     [](Sizes) -> Made {
       return std::make_unique<Classify>(std::make_unique<zoo::Resnet>(zoo::ResnetOf(
                                             "resnet18", {.classes = 10, .small_images = true})),
                                         Shape({3, 32, 32}));
     }},
    {"lstm", [](Sizes) -> Made { return MakeLstm(); }},
    {"lstm_loop", [](Sizes) -> Made { return MakeLstmLoop(); }},
    {"attention", [](Sizes s) -> Made { return MakeAttention(s.batch); }},
    {"gpt", [](Sizes) -> Made { return MakeGpt(); }},
    {"decode", [](Sizes s) -> Made { return MakeDecode(s.batch); }},
};

}  // namespace

Made MakeWorkload(const std::string& name, const WorkloadSizes& sizes) {
  std::vector<std::string> names;
  for (const Named& known : kWorkloads) {
    if (name == known.name) return known.make(sizes);
    names.emplace_back(known.name);
  }
  return InvalidArgument("unknown workload '", name, "': one of ", absl::StrJoin(names, ", "));
}

}  // namespace firn::benchmarks
