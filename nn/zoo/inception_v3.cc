// The paper's figures 5, 6 and 7 are units A, C and E, which differ in their branches alone; B and
// D halve the image. A branch of E ends in a fork, whose convolutions read the same tensor.
#include "firn/nn/zoo/inception_v3.h"

#include "firn/nn/init.h"
#include "firn/tensor/ops/pool/avg_pool.h"
#include "firn/tensor/ops/pool/max_pool.h"
#include "firn/tensor/ops/random/dropout.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/join.h"

namespace firn::zoo {
namespace {

using Branches = std::vector<InceptionBranch>;
constexpr bool kHalves = true;

InceptionBranch PooledBranch(int64_t out) {
  return {.convs = {{"branch_pool", out}}, .pool = InceptionPool::kMean};
}

Branches A(int64_t pooled) {
  return {{{{"branch1x1", 64}}},
          {{{"branch5x5_1", 48}, {"branch5x5_2", 64, 5}}},
          {{{"branch3x3dbl_1", 64}, {"branch3x3dbl_2", 96, 3}, {"branch3x3dbl_3", 96, 3}}},
          PooledBranch(pooled)};
}

Branches B() {
  return {{{{"branch3x3", 384, 3, kHalves}}},
          {{{"branch3x3dbl_1", 64}, {"branch3x3dbl_2", 96, 3}, {"branch3x3dbl_3", 96, 3, kHalves}}},
          {.pool = InceptionPool::kMax}};
}

Branches C(int64_t inner) {
  const Sizes wide(1, 7), high(7, 1);
  return {{{{"branch1x1", 192}}},
          {{{"branch7x7_1", inner}, {"branch7x7_2", inner, wide}, {"branch7x7_3", 192, high}}},
          {{{"branch7x7dbl_1", inner},
            {"branch7x7dbl_2", inner, high},
            {"branch7x7dbl_3", inner, wide},
            {"branch7x7dbl_4", inner, high},
            {"branch7x7dbl_5", 192, wide}}},
          PooledBranch(192)};
}

Branches D() {
  return {{{{"branch3x3_1", 192}, {"branch3x3_2", 320, 3, kHalves}}},
          {{{"branch7x7x3_1", 192},
            {"branch7x7x3_2", 192, Sizes(1, 7)},
            {"branch7x7x3_3", 192, Sizes(7, 1)},
            {"branch7x7x3_4", 192, 3, kHalves}}},
          {.pool = InceptionPool::kMax}};
}

Branches E() {
  const Sizes wide(1, 3), high(3, 1);
  return {{{{"branch1x1", 320}}},
          {{{"branch3x3_1", 384}}, {{"branch3x3_2a", 384, wide}, {"branch3x3_2b", 384, high}}},
          {{{"branch3x3dbl_1", 448}, {"branch3x3dbl_2", 384, 3}},
           {{"branch3x3dbl_3a", 384, wide}, {"branch3x3dbl_3b", 384, high}}},
          PooledBranch(192)};
}

struct Unit {
  const char* name;
  int64_t in;  // channels
  Branches branches;
};
const std::vector<Unit>& Units() {
  static const auto* const units = new std::vector<Unit>{
      {"Mixed_5b", 192, A(32)},  {"Mixed_5c", 256, A(64)},  {"Mixed_5d", 288, A(64)},
      {"Mixed_6a", 288, B()},    {"Mixed_6b", 768, C(128)}, {"Mixed_6c", 768, C(160)},
      {"Mixed_6d", 768, C(160)}, {"Mixed_6e", 768, C(192)}, {"Mixed_7a", 768, D()},
      {"Mixed_7b", 1280, E()},   {"Mixed_7c", 2048, E()}};
  return *units;
}
constexpr size_t kBefore = 8;  // units before the auxiliary classifier

nn::LinearOptions LinearOf(int64_t in, int64_t out, double deviation) {
  return {.in = in, .out = out, .weight_init = nn::init::TruncatedNormal(0, deviation, -2, 2)};
}

Tensor Pooled(const Tensor& x, InceptionPool pool) {
  if (pool == InceptionPool::kMax) return MaxPool2d(x, {.kernel = 3, .stride = 2});
  if (pool == InceptionPool::kMean) return AvgPool2d(x, {.kernel = 3, .stride = 1, .padding = 1});
  return x;
}

}  // namespace

int64_t InceptionUnitOptions::out() const {
  int64_t channels = 0;
  for (const InceptionBranch& branch : branches) {
    for (const InceptionConv& conv : branch.fork) channels += conv.out;
    if (branch.fork.empty()) channels += branch.convs.empty() ? in : branch.convs.back().out;
  }
  return channels;
}

InceptionUnit::InceptionUnit(const Options& options) : LayerWithOptions(options) {
  for (const InceptionBranch& branch : options.branches) {
    std::vector<BasicConv*>& convs = convs_.emplace_back();
    int64_t in = options.in;
    for (const InceptionConv& conv : branch.convs) {
      convs.push_back(&AddConv(conv, in));
      in = conv.out;
    }
    for (const InceptionConv& conv : branch.fork) convs.push_back(&AddConv(conv, in));
  }
}

BasicConv& InceptionUnit::AddConv(const InceptionConv& conv, int64_t in) {
  return Add<BasicConv>(conv.name, {.in = in,
                                    .out = conv.out,
                                    .kernel = conv.kernel,
                                    .stride = conv.halves ? 2 : 1,
                                    .padding = conv.halves ? Sizes(0) : HalfOf(conv.kernel)});
}

Tensor InceptionUnit::Forward(const Tensor& x) {
  std::vector<Tensor> results;
  for (size_t b = 0; b < convs_.size(); ++b) {
    const InceptionBranch& branch = options().branches[b];
    const size_t chained = branch.convs.size();
    Tensor h = Pooled(x, branch.pool);
    for (size_t i = 0; i < chained; ++i) h = (*convs_[b][i])(h);
    for (size_t i = chained; i < convs_[b].size(); ++i) results.push_back((*convs_[b][i])(h));
    if (branch.fork.empty()) results.push_back(h);
  }
  return Concat(results, 1);
}

InceptionClassifier::InceptionClassifier(const Options& options)
    : LayerWithOptions(options),
      conv0_(Add<BasicConv>("conv0", {.in = options.in, .out = 128})),
      conv1_(Add<BasicConv>("conv1", {.in = 128, .out = 768, .kernel = 5, .deviation = 0.01})),
      fc_(Add<nn::Linear>("fc", LinearOf(768, options.classes, 0.001))) {}

Tensor InceptionClassifier::Forward(const Tensor& x) {
  const Tensor h = conv1_(conv0_(AvgPool2d(x, {.kernel = 5, .stride = 3})));
  return fc_(Mean(h, {2, 3}));
}

InceptionV3::InceptionV3(const Options& options)
    : LayerWithOptions(options),
      stem_(AddStem()),
      before_(AddUnits(0, kBefore)),
      aux_(options.auxiliary
               ? &Add<InceptionClassifier>("AuxLogits", {.in = 768, .classes = options.classes})
               : nullptr),
      behind_(AddUnits(kBefore, Units().size())),
      fc_(Add<nn::Linear>("fc", LinearOf(2048, options.classes, 0.1))) {}

std::vector<BasicConv*> InceptionV3::AddStem() {
  const auto add = [&](const char* name, const BasicConvOptions& conv) {
    return &Add<BasicConv>(name, conv);
  };
  return {add("Conv2d_1a_3x3", {.in = 3, .out = 32, .kernel = 3, .stride = 2}),
          add("Conv2d_2a_3x3", {.in = 32, .out = 32, .kernel = 3}),
          add("Conv2d_2b_3x3", {.in = 32, .out = 64, .kernel = 3, .padding = 1}),
          add("Conv2d_3b_1x1", {.in = 64, .out = 80}),
          add("Conv2d_4a_3x3", {.in = 80, .out = 192, .kernel = 3})};
}

std::vector<InceptionUnit*> InceptionV3::AddUnits(size_t from, size_t to) {
  std::vector<InceptionUnit*> units;
  for (size_t i = from; i < to; ++i) {
    const Unit& unit = Units()[i];
    units.push_back(&Add<InceptionUnit>(unit.name, {.in = unit.in, .branches = unit.branches}));
  }
  return units;
}

InceptionV3Scores InceptionV3::Scores(const Tensor& x, bool auxiliary) {
  InceptionV3Scores scores;
  Tensor h = options().transform_input ? half_colours_(x) : x;
  for (size_t i = 0; i < stem_.size(); ++i) {
    h = (*stem_[i])(h);
    if (i == 2 || i == 4) h = Pooled(h, InceptionPool::kMax);
  }
  for (InceptionUnit* unit : before_) h = (*unit)(h);
  if (auxiliary) scores.aux = (*aux_)(h);
  for (InceptionUnit* unit : behind_) h = (*unit)(h);
  scores.main = fc_(Dropout(Mean(h, {2, 3}), options().dropout, training()));
  return scores;
}

InceptionV3Scores InceptionV3::WithAuxiliary(const Tensor& x) {
  if (aux_ == nullptr) RaiseNoAuxiliary("zoo::InceptionV3");
  const nn::CallScope scope(*this);
  return Scores(x, true);
}

namespace {

const PublishedClassifiers<InceptionV3Options>& All() {
  static const auto* const all =
      new PublishedClassifiers<InceptionV3Options>{{"inception_v3", {{}, 27'161'264, 5.713, 299}}};
  return *all;
}

}  // namespace

InceptionV3Options InceptionV3Of(const std::string& name, const Options& options) {
  InceptionV3Options of = FindPublished(All(), name).options;
  of.classes = ClassesOr(options, of.classes);
  of.dropout = DropoutOr(options, of.dropout);
  return of;
}

std::vector<Network> InceptionV3Networks() {
  return ClassifiersOf<InceptionV3>(
      All(), InceptionV3Of,
      "Szegedy et al., \"Rethinking the Inception architecture for computer vision\", 2015");
}

}  // namespace firn::zoo
