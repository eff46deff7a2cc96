// Errors of ranks that do not fit together, that fail or that do not come.
#include <algorithm>
#include <cmath>
#include <latch>
#include <stdexcept>

#include "firn/autograd/backward.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/autograd/hooks.h"
#include "firn/device/comm/agreement.h"
#include "firn/nn/parallel/data_parallel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/error_of.h"
#include "tests/nn/parallel/on_ranks.h"

namespace firn {
namespace {

using nn::parallel::DataParallel;
using nn::parallel::DataParallelOptions;
using ::testing::AllOf;
using ::testing::Each;
using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::Networks;
using testing::NotingRank;
using testing::OnRanks;
using testing::StatusOf;
using Rank = std::shared_ptr<NotingRank>;

struct Net : nn::Module {
  explicit Net(int64_t out = 4) : fc(Add<nn::Linear>("fc", {.in = 3, .out = out})) {}
  nn::Linear& fc;
  Tensor Loss() { return Sum(fc(Ones({2, 3}))); }
};

// The error of each rank that makes a DataParallel.
std::vector<std::string> ErrorsOf(std::vector<nn::Module*> nets,
                                  std::vector<DataParallelOptions> options = {}) {
  std::vector<std::string> errors(nets.size());
  options.resize(nets.size());
  OnRanks(static_cast<int>(nets.size()), [&](const Rank& c) {
    const auto rank = static_cast<size_t>(c->rank());
    errors[rank] = ErrorOf([&] { const DataParallel parallel(*nets[rank], c, options[rank]); });
    // Ranks are still together.
    EXPECT_TRUE(c->Barrier().ok());
  });
  return errors;
}

TEST(DataParallelErrorsTest, NamesBothSidesOnAllRanks) {
  Net a, b, wide(5), frozen;
  frozen.fc.SetTrainable(false);
  EXPECT_THAT(ErrorsOf({&a, &b, &wide}),
              Each("data_parallel: ranks differ: rank 0 has \"parameter fc.weight f32 [4, 3] on "
                   "cpu\", rank 2 has \"parameter fc.weight f32 [5, 3] on cpu\""));
  EXPECT_THAT(ErrorsOf({&a, &frozen}), Each(HasSubstr("[4, 3] on cpu, frozen\"")));
  struct More : Net {
    nn::Linear& second = Add<nn::Linear>("second", {.in = 3, .out = 4});
  } more;
  EXPECT_THAT(ErrorsOf({&a, &more}), Each(AllOf(HasSubstr("rank 0 has \"2 parameters\""),
                                                HasSubstr("rank 1 has \"4 parameters\""))));
  EXPECT_THAT(ErrorsOf({&a, &b}, {{}, {.bucket_bytes = 7}}),
              Each(AllOf(HasSubstr("\"bucket_bytes 26214400\""), HasSubstr("\"bucket_bytes 7\""))));
  EXPECT_THAT(ErrorsOf({&a, &b}, {{}, {.compression = DType::kBF16}}),
              Each(AllOf(HasSubstr("\"compression none\""), HasSubstr("\"compression bf16\""))));
  EXPECT_THAT(ErrorsOf({&a, &b}), Each(""));
}

TEST(DataParallelErrorsTest, RefusesWhatMakesNoSense) {
  Net a, b;
  EXPECT_THAT(ErrorsOf({&a, &b}, {{.bucket_bytes = 0}, {.bucket_bytes = 0}}),
              Each("data_parallel: bucket_bytes is 0 (want >= 1)"));
  EXPECT_THAT(ErrorsOf({&a, &b}, {{.first_bucket_bytes = -1}, {.first_bucket_bytes = -1}}),
              Each("data_parallel: first_bucket_bytes is -1 (want >= 1)"));
  EXPECT_THAT(ErrorsOf({&a}, {{.compression = DType::kI8}}),
              Each("data_parallel: compression is i8 (want f16 or bf16)"));
  EXPECT_EQ(ErrorOf([&] { const DataParallel parallel(a, nullptr); }),
            "data_parallel: the communicator is null");
  nn::Linear waits({.out = 4}), waits_too({.out = 4});
  EXPECT_THAT(ErrorsOf({&waits, &waits_too}),
              Each(AllOf(HasSubstr("weight f32 [4, ?], pending until the first forward"),
                         HasSubstr("call the network once before"))));
}

void RaiseUnlessAgreed(comm::Communicator& comm, const std::vector<std::string>& lines) {
  RaiseIfError(comm::CheckAgreement(comm, lines), "test");
}

TEST(AgreementTest, ComparesLinesAndShowsThemAsText) {
  OnRanks(3, [](const Rank& c) {
    RaiseUnlessAgreed(*c, {"same", ""});
    RaiseUnlessAgreed(*c, {});
    EXPECT_EQ(c->started.back(), "all_gather of 3 i64");
    const std::vector<std::string> lines = {"same", c->rank() < 2 ? "a\x01" : "b"};
    const auto status = StatusOf([&] { RaiseUnlessAgreed(*c, lines); });
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(status.message(), "test: ranks differ: rank 0 has \"a\\x01\", rank 2 has \"b\"");
    const std::vector<std::string> longer(c->rank() == 1 ? 2 : 1, "line");
    EXPECT_EQ(ErrorOf([&] { RaiseUnlessAgreed(*c, longer); }),
              "test: ranks differ: rank 0 has nothing more, rank 1 has \"line\"");
  });
}

// A rank that may report any size and number.
class LyingRank : public comm::Communicator {
 public:
  explicit LyingRank(int64_t length) : Communicator(0, 2, 0), length_(length) {}
  absl::StatusOr<std::unique_ptr<Communicator>> Split(int, int) override { return nullptr; }
  void Abort(std::string_view) override {}

 private:
  struct Done : comm::Pending {
    absl::Status Wait() override { return absl::OkStatus(); }
  };
  absl::StatusOr<std::unique_ptr<comm::Pending>> StartChecked(
      const comm::Collective& call) override {
    if (call.kind == comm::CollectiveKind::kAllGather) {
      const auto* in = static_cast<const int64_t*>(call.in);
      auto* out = static_cast<int64_t*>(call.out);
      std::copy(in, in + 3, out);
      std::copy(in, in + 3, out + 3);
      out[3] = length_;
    }
    return std::make_unique<Done>();
  }
  const int64_t length_;
};

TEST(AgreementTest, BelievesNothing) {
  for (const int64_t length : {int64_t{-1}, int64_t{1} << 60}) {
    LyingRank liar(length);
    EXPECT_THAT(ErrorOf([&] { RaiseUnlessAgreed(liar, {"a"}); }),
                HasSubstr("rank 1 describes itself in"));
  }
  LyingRank liar(5);
  EXPECT_THAT(ErrorOf([&] { RaiseUnlessAgreed(liar, {"a"}); }),
              HasSubstr("what rank 1 says of itself arrived as something else"));
}

TEST(DataParallelErrorsTest, NamesARankThatRunsNoPass) {
  auto nets = Networks<Net>(2);
  std::latch over(2);
  OnRanks(2,
          [&](const Rank& c) {
            Net& net = *nets[static_cast<size_t>(c->rank())];
            const DataParallel parallel(net, c);
            if (c->rank() == 0) {
              EXPECT_THAT(ErrorOf([&] { net.Loss().Backward(); }),
                          HasSubstr("on rank 0 waited 100ms for rank 1"));
              EXPECT_FALSE(net.fc.weight().grad().defined());
            }
            over.arrive_and_wait();
          },
          {.timeout = absl::Milliseconds(100)});
}

struct Deep : Net {
  nn::Linear& last = Add<nn::Linear>("last", {.in = 4, .out = 2});
  Tensor Loss() { return Sum(last(fc(Ones({2, 3})))); }
};

// Gradients of the last layer have come, and may be on their way, when the pass fails.
TEST(DataParallelErrorsTest, APassThatFailsEndsThoseOfAllRanks) {
  for (const int good_steps : {0, 1}) {
    auto nets = Networks<Deep>(3);
    OnRanks(3, [&](const Rank& c) {
      Deep& net = *nets[static_cast<size_t>(c->rank())];
      const DataParallel parallel(net, c, {.bucket_bytes = 1, .first_bucket_bytes = 1});
      for (int step = 0; step < good_steps; ++step) net.Loss().Backward();
      if (c->rank() == 1) {
        RegisterHook(net.fc.weight(),
                     [](const Tensor&) -> Tensor { throw std::runtime_error("no"); });
        EXPECT_THROW(net.Loss().Backward(), std::runtime_error);
      } else {
        EXPECT_EQ(ErrorOf([&] { net.Loss().Backward(); }),
                  "data_parallel: rank 1 gave up: its backward pass failed");
      }
      const Tensor& grad = net.last.bias().grad();  // 2 samples each step
      EXPECT_EQ(grad.defined() ? grad.Select(0, 0).Item() : 0, 2 * good_steps);
    });
  }
}

TEST(DataParallelErrorsTest, APassWithoutSynchronisationFailsAlone) {
  auto nets = Networks<Net>(2);
  OnRanks(2, [&](const Rank& c) {
    Net& net = *nets[static_cast<size_t>(c->rank())];
    DataParallel parallel(net, c);
    {
      const auto no_sync = parallel.NoSync();
      Tensor weight = net.fc.weight();
      auto hook =
          RegisterHook(weight, [](const Tensor&) -> Tensor { throw std::runtime_error(""); });
      if (c->rank() == 1) {
        EXPECT_THROW(net.Loss().Backward(), std::runtime_error);
      }
      hook.Remove();
    }
    net.Loss().Backward();
    EXPECT_EQ(net.fc.bias().grad().ToVector<float>(), std::vector<float>(4, 2));
  });
}

TEST(DataParallelErrorsTest, RefusesWeightsThatAreNone) {
  auto nets = Networks<Net>(2);
  for (const double bad : {-1.0, std::nan(""), HUGE_VAL}) {
    OnRanks(2, [&](const Rank& c) {
      Net& net = *nets[static_cast<size_t>(c->rank())];
      DataParallel parallel(net, c);
      parallel.SetWeight(c->rank() == 0 ? 3 : bad);
      const auto status = StatusOf([&] { net.Loss().Backward(); });
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
      EXPECT_THAT(std::string(status.message()), HasSubstr("rank 1 has a weight of "));
      parallel.SetWeight(0);
      EXPECT_THAT(ErrorOf([&] { net.Loss().Backward(); }), HasSubstr("no rank has a sample"));
      net.Loss().Backward();  // of the next pass alone
      for (Tensor& p : net.parameters()) p.ZeroGrad();
    });
  }
}

TEST(DataParallelErrorsTest, RefusesPassesThatItCannotReduce) {
  auto nets = Networks<Net>(2);
  OnRanks(2, [&](const Rank& c) {
    Net& net = *nets[static_cast<size_t>(c->rank())];
    net.fc.SetTrainable(false);
    Tensor weight = net.fc.weight();
    weight.SetRequiresGrad();
    const DataParallel parallel(net, c);
    EXPECT_THAT(ErrorOf([&] { Backward({net.Loss()}, {.create_graph = true}); }),
                HasSubstr("create_graph"));
    net.SetTrainable();
    EXPECT_THAT(ErrorOf([&] { net.Loss().Backward(); }),
                HasSubstr("parameter fc.bias was frozen when this was made, and is trained now"));
    EXPECT_FALSE(net.fc.weight().grad().defined());
  });
}

}  // namespace
}  // namespace firn
