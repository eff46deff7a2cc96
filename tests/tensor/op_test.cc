// The registry: what it refuses, its errors, and look-ups in one thread while another registers.

#include "firn/tensor/op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/infer.h"
#include "firn/tensor/internal/level_kernels.h"
#include "firn/tensor/ops/create/constant.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::StatusOf;

absl::Status Infer(InferContext& c) {
  c.set_out_like(0, 0);
  return absl::OkStatus();
}

absl::Status DoNothing(KernelContext&) { return absl::OkStatus(); }

void Grad(GradContext&) {}

absl::StatusOr<IndexBounds> Bounds(const KernelQuery&, int) { return IndexBounds{0, 1}; }

// A correct declaration whose y is like x.
OpDef Sound(std::string_view name) {
  return {.name = name,
          .doc = "Leaves y as it is.",
          .inputs = {{.name = "x"}},
          .outputs = {{.name = "y"}},
          .infer = Infer,
          .kernels = {{.name = "loop", .run = DoNothing}}};
}

// These are registered before main(), so a user's first call gets the error.
FIRN_REGISTER_OP(op_test_without_infer) {
  OpDef def = Sound("op_test_without_infer");
  def.infer = nullptr;
  return def;
}
FIRN_REGISTER_OP(op_test_stem) { return Sound("op_test_other_name"); }
FIRN_REGISTER_KERNELS(op_test_alone) { return {{.name = "loop", .run = DoNothing}}; }

TEST(OpTest, AnIncompleteDeclarationIsRefusedByNameAndNotCalled) {
  const auto call = [] { Apply1(Op("op_test_without_infer"), {Ones({2})}); };
  EXPECT_EQ(ErrorOf(call),
            "operation op_test_without_infer was refused: it has no shape rule (OpDef::infer)");
  EXPECT_EQ(StatusOf(call).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(FindOp("op_test_without_infer"), nullptr);
  for (const OpDef* op : AllOps()) EXPECT_NE(op->name, "op_test_without_infer");
}

TEST(OpTest, ANameUnlikeTheStemIsRefusedUnderBoth) {
  for (const char* name : {"op_test_stem", "op_test_other_name"}) {
    EXPECT_EQ(ErrorOf([&] { Op(name); }),
              absl::StrCat("operation ", name,
                           " was refused: its name (OpDef::name) is op_test_other_name, "
                           "FIRN_REGISTER_OP says op_test_stem"));
  }
}

TEST(OpTest, KernelsWithoutTheirOperationAreNoOperation) {
  EXPECT_EQ(ErrorOf([] { Op("op_test_alone"); }),
            "operation op_test_alone was refused: it has kernels, but "
            "FIRN_REGISTER_OP(op_test_alone) is not linked into this program");
}

TEST(OpTest, RefusedOnesAreListed) {
  std::vector<std::string> messages;
  for (const absl::Status& s : RefusedOps()) messages.emplace_back(s.message());
  EXPECT_THAT(messages, ::testing::IsSupersetOf({HasSubstr("operation op_test_without_infer was"),
                                                 HasSubstr("operation op_test_stem was"),
                                                 HasSubstr("operation op_test_alone was")}));
}

TEST(OpTest, UnknownNamesAreErrorsThatNameTheNearest) {
  EXPECT_EQ(ErrorOf([] { Op("identiti"); }),
            "operation 'identiti' is not linked into this program; did you mean identity?");
  EXPECT_EQ(StatusOf([] { Op("identiti"); }).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ErrorOf([] { Op("qqqqqqqqqqqq"); }),
            "operation 'qqqqqqqqqqqq' is not linked into this program");
}

// The error for a correct declaration after `change`; "" if it is not refused.
std::string After(const std::function<void(OpDef&)>& change) {
  static auto* const names = new std::deque<std::string>;  // the registry keeps views of them
  const std::string& name = names->emplace_back(absl::StrCat("op_test_changed_", names->size()));
  OpDef def = Sound(name);
  change(def);
  const OpRegistration registration(name, std::move(def));
  const std::string said = ErrorOf([&] { Op(name); });
  const std::string prefix = absl::StrCat("operation ", name, " was refused: ");
  return said.starts_with(prefix) ? said.substr(prefix.size()) : said;
}

TEST(OpTest, ASoundDeclarationIsTaken) {
  EXPECT_THAT(After([](OpDef&) {}), IsEmpty());
}

TEST(OpTest, DeclarationsWithoutNamesAreRefused) {
  EXPECT_THAT(After([](OpDef& d) { d.name = ""; }),
              IsEmpty());  // the operation has the name of its registration
  EXPECT_EQ(After([](OpDef& d) { d.inputs.push_back({}); }), "input 1 has no name");
  EXPECT_EQ(After([](OpDef& d) { d.outputs[0].name = ""; }), "result 0 has no name");
  EXPECT_EQ(After([](OpDef& d) { d.inputs.push_back({.name = "x"}); }), "two inputs are x");
}

TEST(OpTest, InputsMustReferToEarlierOnes) {
  EXPECT_EQ(After([](OpDef& d) { d.inputs.push_back({.name = "y", .same_dtype_as = "z"}); }),
            "input y has the dtype of z, which is no input before it");
  EXPECT_EQ(After([](OpDef& d) { d.inputs[0].same_dtype_as = "x"; }),
            "input x has the dtype of x, which is no input before it");
  EXPECT_THAT(After([](OpDef& d) {
                d.inputs[0].same_dtype_as = "x";  // all of them have one
                d.inputs[0].variadic = true;
              }),
              IsEmpty());
}

TEST(OpTest, VariadicInputsMustBeTheLastOnes) {
  EXPECT_EQ(After([](OpDef& d) {
              d.inputs[0].variadic = true;
              d.inputs.push_back({.name = "last"});
            }),
            "input last comes after a variadic one");
  EXPECT_EQ(After([](OpDef& d) {
              d.inputs = {{.name = "a", .variadic = true}, {.name = "b", .variadic = true}};
              d.grad = Grad;
            }),
            "its variadic inputs come in groups, for which there can be no gradient rule");
}

TEST(OpTest, ResultsMustBeAsManyAsFit) {
  const auto with_results = [](size_t count, InferFn infer) {
    return After([&](OpDef& d) {
      d.outputs.assign(count, {.name = "y"});
      d.infer = infer;
    });
  };
  EXPECT_THAT(with_results(kMaxOutputs, Infer), IsEmpty());
  EXPECT_EQ(with_results(kMaxOutputs + 1, Infer), "it has 9 results, at most 8 are possible");
  for (InferFn rule : {InferLikeInput, InferBroadcast, InferPredicate}) {
    EXPECT_THAT(with_results(1, rule), IsEmpty());
    EXPECT_EQ(with_results(2, rule), "its shape rule gives one result, it declares 2");
    EXPECT_EQ(with_results(0, rule), "its shape rule gives one result, it declares 0");
  }
}

TEST(OpTest, ShapeRulesThatReadAnInputMustHaveIt) {
  EXPECT_EQ(After([](OpDef& d) {
              d.infer = InferLikeInput;
              d.inputs.clear();
            }),
            "its shape rule wants an input, it declares none");
  EXPECT_EQ(After([](OpDef& d) {
              d.infer = InferBroadcast;
              d.inputs[0].optional = true;
            }),
            "its shape rule wants input x, an optional one");
}

TEST(OpTest, PositionsMustExist) {
  EXPECT_EQ(After([](OpDef& d) { d.saves = {Saved::Input(1)}; }), "saves speaks of input 1 of 1");
  EXPECT_EQ(After([](OpDef& d) { d.saves = {Saved::Output(-1)}; }),
            "saves speaks of result -1 of 1");
  EXPECT_EQ(After([](OpDef& d) { d.may_reuse = {{2, 0}}; }), "may_reuse speaks of result 2 of 1");
  EXPECT_EQ(After([](OpDef& d) { d.may_reuse = {{0, 3}}; }), "may_reuse speaks of input 3 of 1");
  EXPECT_EQ(After([](OpDef& d) {
              d.index_bounds = Bounds;
              d.index_inputs = {1};
            }),
            "index_inputs speaks of input 1 of 1");
  EXPECT_EQ(After([](OpDef& d) { d.index_inputs = {0}; }),
            "index_inputs and index_bounds are given together or not at all");
}

TEST(OpTest, PositionsOfTraitsMustExist) {
  static auto* const kept = new std::deque<GraphTraits>;  // the registry keeps the correct ones
  const auto said = [](const GraphTraits& traits) {
    kept->push_back(traits);
    return After([&](OpDef& d) { d.graph = &kept->back(); });
  };
  EXPECT_THAT(said({.adds_to = 0}), IsEmpty());
  EXPECT_EQ(said({.adds_to = 1}), "adds_to speaks of input 1 of 1");
  EXPECT_EQ(said({.channel_map = ChannelMap{.x = 0, .weight = 1, .bias = 0}}),
            "channel_map speaks of input 1 of 1");
  EXPECT_EQ(said({.centring = Centring{.x = 0, .mean = 1, .running_mean = 0, .momentum = nullptr}}),
            "centring speaks of result 1 of 1");
  EXPECT_EQ(said({.centring_gradient = CentringGradient{.x = 0, .mean = 2, .dx = 0}}),
            "centring_gradient speaks of input 2 of 1");
  EXPECT_EQ(said({.packing = Packing{.input = 3, .pack = nullptr}}),
            "packing speaks of input 3 of 1");
  EXPECT_EQ(said({.integer_sums = [](const Tensor& x, const Tensor&, const Tensor&,
                                     AttrsRef) { return x; }}),
            "it has integer_sums and no channel_map");
  EXPECT_EQ(said({.rounded_range = [](AttrsRef) { return RoundedRange(); }}),
            "rounded_range speaks of input 2 of 1");
}

TEST(OpTest, WhatIsCheapAgainCanDoWithoutItsStates) {
  static constexpr GraphTraits kCheap = {.cheap_again = true};
  const auto said = [](bool optional) {
    return After([&](OpDef& d) {
      d.inputs.push_back({.name = "state", .optional = optional, .inout = true});
      d.graph = &kCheap;
    });
  };
  EXPECT_THAT(said(true), IsEmpty());
  EXPECT_EQ(said(false),
            "it is cheap_again but cannot do without input state, which it writes into");
}

TEST(OpTest, KernelsMustBeThereAndComplete) {
  EXPECT_EQ(After([](OpDef& d) { d.kernels.clear(); }),
            "it has no kernels (OpDef::kernels, FIRN_REGISTER_KERNELS)");
  EXPECT_EQ(After([](OpDef& d) { d.kernels[0].run = nullptr; }),
            "kernel loop has no function (Kernel::run)");
  EXPECT_EQ(After([](OpDef& d) { d.kernels[0].name = ""; }), "kernel 0 has no name (Kernel::name)");
  EXPECT_EQ(
      After([](OpDef& d) {
        d.kernels[0].prepare = [](const KernelQuery&, Prepared&) { return absl::OkStatus(); };
        d.kernels[0].workspace = [](const KernelQuery&) { return size_t{8}; };
      }),
      "kernel loop answers twice: Kernel::prepare stands for supports, workspace and layouts");
}

TEST(OpTest, ViewsHaveAnInputAResultAndNoKernels) {
  EXPECT_EQ(After([](OpDef& d) { d.is_view = true; }), "it is a view and has kernels");
  EXPECT_EQ(After([](OpDef& d) {
              d.is_view = true;
              d.kernels.clear();
              d.inputs.clear();
            }),
            "a view has an input and one result, it has 0 and 1");
  EXPECT_THAT(After([](OpDef& d) {
                d.is_view = true;
                d.kernels.clear();
              }),
              IsEmpty());
}

// The declaration has nothing that would let a pass remove a call or repeat it.
TEST(OpTest, CollectivesAreNeitherViewsNorElementwiseNorHaveTraits) {
  static constexpr GraphTraits kAgain = {.cheap_again = true};
  const auto collective = [](const std::function<void(OpDef&)>& change) {
    return After([&](OpDef& d) {
      d.collective = true;
      change(d);
    });
  };
  EXPECT_THAT(collective([](OpDef&) {}), IsEmpty());
  EXPECT_EQ(collective([](OpDef& d) {
              d.is_view = true;
              d.kernels.clear();
            }),
            "it is collective and a view");
  EXPECT_EQ(collective([](OpDef& d) { d.elementwise.kind = Elementwise::Kind::kMoved; }),
            "it is collective and elementwise");
  EXPECT_EQ(collective([](OpDef& d) { d.graph = &kAgain; }),
            "it is collective and has traits (OpDef::graph)");
}

TEST(OpTest, TheSecondOfANameRefusesBoth) {
  const OpRegistration first("op_test_twice", Sound("op_test_twice"));
  EXPECT_NE(FindOp("op_test_twice"), nullptr);
  const OpRegistration second("op_test_twice", Sound("op_test_twice"));
  EXPECT_EQ(ErrorOf([] { Op("op_test_twice"); }),
            "operation op_test_twice was refused: it is registered twice");
}

std::vector<std::string> KernelNames(const OpDef& op) {
  std::vector<std::string> names;
  for (const Kernel& k : op.kernels) names.emplace_back(k.name);
  return names;
}

TEST(OpTest, AnotherLevelBringsKernelsForTheCpuAndNothingElse) {
  const OpRegistration own("op_test_levels", [] {
    OpDef def = Sound("op_test_levels");
    def.kernels = {{.name = "fast", .run = DoNothing}, {.name = "loop", .run = DoNothing}};
    return def;
  }());
  const KernelRegistration cuda(
      "op_test_levels", {{.name = "device", .device = DeviceType::kCuda, .run = DoNothing}});
  internal::BeginLevelKernels();
  const OpRegistration again("op_test_levels", [] {
    OpDef def = Sound("op_test_levels");
    def.doc = "Of another level.";
    def.kernels = {{.name = "faster", .run = DoNothing},
                   {.name = "loop", .run = DoNothing},
                   {.name = "elsewhere", .device = DeviceType::kCuda, .run = DoNothing}};
    return def;
  }());
  const KernelRegistration more("op_test_levels", {{.name = "fastest", .run = DoNothing}});
  const OpRegistration unknown("op_test_of_no_level", Sound("op_test_of_no_level"));
  internal::EndLevelKernels();
  const OpDef& op = Op("op_test_levels");
  EXPECT_THAT(KernelNames(op), ElementsAre("fastest", "faster", "device", "loop"));
  EXPECT_EQ(op.doc, "Leaves y as it is.");
  EXPECT_EQ(FindOp("op_test_of_no_level"), nullptr);
}

TEST(OpTest, KernelsJoinTheirOperationWhicheverIsRegisteredFirst) {
  const KernelRegistration before("op_test_joined", {{.name = "before", .run = DoNothing}});
  const OpRegistration op("op_test_joined", Sound("op_test_joined"));
  const KernelRegistration after("op_test_joined", {{.name = "after", .run = DoNothing}});
  EXPECT_THAT(KernelNames(Op("op_test_joined")), ElementsAre("after", "before", "loop"));
}

TEST(OpTest, RegisteredKernelsMustBeComplete) {
  const OpRegistration op("op_test_bad_kernel", Sound("op_test_bad_kernel"));
  const KernelRegistration bad("op_test_bad_kernel", {{.name = "mine"}});
  EXPECT_EQ(ErrorOf([] { Op("op_test_bad_kernel"); }),
            "operation op_test_bad_kernel was refused: kernel mine has no function (Kernel::run)");
}

// Calls read an operation's kernels without a lock.
TEST(OpTest, AnOperationThatWasLookedUpNeverChanges) {
  const OpRegistration registration("op_test_late", Sound("op_test_late"));
  const OpDef& op = Op("op_test_late");
  const KernelRegistration late("op_test_late", {{.name = "late", .run = DoNothing}});
  EXPECT_THAT(KernelNames(op), ElementsAre("loop"));
  EXPECT_THAT(ErrorOf([] { Op("op_test_late"); }),
              HasSubstr("op_test_late was refused: kernels were registered for it after its first "
                        "use"));
}

// Registers while other threads compute, as when a shared library is opened; for ThreadSanitizer.
TEST(OpTest, LooksUpWhileOthersRegister) {
  constexpr int kOps = 200;
  std::vector<std::string> names;
  for (int i = 0; i < kOps; ++i) names.push_back(absl::StrCat("op_test_thread_", i));
  std::thread other([&] {
    for (const std::string& name : names) {
      const OpRegistration registration(name, Sound(name));
    }
  });
  int found = 0;
  while (found < kOps) {
    found = 0;
    for (const std::string& name : names) {
      const OpDef* op = FindOp(name);
      found += op != nullptr && op->kernels.size() == 1 ? 1 : 0;
    }
  }
  other.join();
  EXPECT_EQ(found, kOps);
}

}  // namespace
}  // namespace firn
