// Compares collective operations of several ranks with the same in one process: values, gradients
// and gradients of gradients.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/autograd/backward.h"
#include "firn/device/comm/groups.h"
#include "firn/device/enum_words.h"
#include "firn/device/inner.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "firn/tensor/ops/collective/all_reduce.h"
#include "firn/tensor/ops/collective/gather.h"
#include "firn/tensor/rng.h"
#include "tests/device/comm/on_ranks.h"
#include "tests/error_of.h"

namespace firn {
namespace {

using comm::Reduction;
using testing::ErrorOf;
using testing::OnRanks;
using testing::StatusOf;

constexpr DType kNumbers[] = {DType::kF32, DType::kF64, DType::kF16, DType::kBF16,
                              DType::kI8,  DType::kI32, DType::kI64, DType::kU8};
constexpr Reduction kReductions[] = {Reduction::kSum, Reduction::kMean, Reduction::kProd,
                                     Reduction::kMin, Reduction::kMax};

// 1, 2 and 3 in an order of the rank's own: their sums and products are exact in all types.
Tensor SmallNumbers(int rank, const Shape& shape, DType dtype) {
  return Reshape(Remainder(Arange(shape.num_elements()) + rank, 3) + 1,
                 {shape.dims().d, static_cast<size_t>(shape.rank())})
      .To(dtype);
}

Tensor Reduced(const Tensor& all, Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum:
      return Sum(all, {0});
    case Reduction::kMean:
      return Mean(all, {0});
    case Reduction::kProd:
      return Prod(all, {0});
    case Reduction::kMin:
      return Amin(all, {0});
    case Reduction::kMax:
      return Amax(all, {0});
  }
  return {};
}

TEST(CollectiveTest, ReducesWhatRanksHave) {
  for (int size = 1; size <= 4; ++size) {
    OnRanks(size, [size](comm::Communicator& ranks) {
      for (DType dtype : kNumbers) {
        for (Reduction reduction : kReductions) {
          // A mean of three is rounded.
          if (reduction == Reduction::kMean && (!IsFloating(dtype) || size == 3)) continue;
          for (const Shape& shape : {Shape({}), Shape({size, 5}), Shape({2 * size}), Shape({0})}) {
            std::vector<Tensor> all;
            for (int r = 0; r < size; ++r) all.push_back(SmallNumbers(r, shape, dtype));
            const Tensor& x = all[static_cast<size_t>(ranks.rank())];
            const Tensor want = Reduced(Stack(all).To(DType::kF64), reduction).To(dtype);
            const std::string which =
                absl::StrCat(size, " ranks, ", WordFor(reduction), " of ", x.spec().ToString());
            EXPECT_TRUE(AllReduce(x, {.reduction = reduction}).Equals(want)) << which;
            if (shape.rank() == 0) continue;
            const int64_t rows = shape[0] / size;
            EXPECT_TRUE(ReduceScatter(x, {.reduction = reduction})
                            .Equals(Contiguous(Narrow(want, 0, rows * ranks.rank(), rows))))
                << which;
          }
        }
      }
    });
  }
}

TEST(CollectiveTest, MovesWhatRanksHave) {
  for (int size = 1; size <= 4; ++size) {
    OnRanks(size, [size](comm::Communicator& ranks) {
      std::vector<DType> dtypes(std::begin(kNumbers), std::end(kNumbers));
      dtypes.push_back(DType::kBool);
      for (DType dtype : dtypes) {
        for (const Shape& shape : {Shape({3, 5}), Shape({1}), Shape({0, 2})}) {
          std::vector<Tensor> all;
          for (int r = 0; r < size; ++r) {
            const Tensor x = SmallNumbers(r, shape, DType::kI32);
            all.push_back(dtype == DType::kBool ? Eq(x, 1) : x.To(dtype));
          }
          const Tensor& x = all[static_cast<size_t>(ranks.rank())];
          EXPECT_TRUE(AllGather(x).Equals(Concat(all)));
          for (int64_t root = 0; root < size; ++root) {
            EXPECT_TRUE(Broadcast(x, {.root = root}).Equals(all[static_cast<size_t>(root)]));
          }
        }
      }
    });
  }
}

// A function of the tensors of all ranks, by rank.
using Function = std::function<Tensor(const Tensor&)>;
using Alone = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

struct Gradients {
  std::vector<Tensor> first, second;
};

// The loss of a rank, which weighs its result. First gradients are those of this loss, second ones
// those of a loss that weighs the first ones. `x` and `others` are of all ranks.
Tensor Loss(const Tensor& y, int rank) {
  RandomGenerator generator(static_cast<uint64_t>(70 + rank));
  return Sum(Square(y) * Randn(y.shape(), DType::kF64, {.generator = &generator}));
}

void ExpectNear(const Tensor& got, const Tensor& want, const std::string& what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  // Sums of at most 4 ranks of products of at most 8 factors, each rounded once.
  const double largest = std::max(1.0, Amax(Abs(want)).Item<double>());
  EXPECT_LE(Amax(Abs(got - want)).Item<double>(), 64 * 2.3e-16 * largest) << what;
}

Gradients GradientsAlone(const std::vector<Tensor>& x, const Alone& function) {
  const std::vector<Tensor> y = function(x);
  std::vector<Tensor> losses, seconds;
  for (size_t r = 0; r < y.size(); ++r) losses.push_back(Loss(y[r], static_cast<int>(r)));
  Gradients g;
  g.first = Grad({Sum(Stack(losses))}, x, {.create_graph = true});
  for (size_t r = 0; r < y.size(); ++r) {
    seconds.push_back(Loss(g.first[r], static_cast<int>(r) + 10));
  }
  g.second = Grad({Sum(Stack(seconds))}, x);
  return g;
}

void CheckGradients(const std::string& what, const Shape& shape, bool ties,
                    const std::function<Function(int size)>& function,
                    const std::function<Alone(int size)>& alone) {
  for (int size = 1; size <= 4; ++size) {
    std::vector<Tensor> x;
    RandomGenerator generator(5);
    Shape own = shape;
    for (int r = 0; r < size; ++r) {
      x.push_back(ties ? SmallNumbers(r, own, DType::kF64)
                       : Randn(own, DType::kF64, {.generator = &generator}));
      x.back().SetRequiresGrad();
    }
    const Gradients want = GradientsAlone(x, alone(size));
    OnRanks(size, [&](comm::Communicator& ranks) {
      const auto r = static_cast<size_t>(ranks.rank());
      const Tensor mine = x[r].Detach().SetRequiresGrad();
      const Tensor y = function(size)(mine);
      const Tensor first = Grad(Loss(y, ranks.rank()), mine, {.create_graph = true});
      const std::string which = absl::StrCat(what, ", rank ", r, " of ", size);
      ExpectNear(first, want.first[r], which);
      ExpectNear(Grad(Loss(first, ranks.rank() + 10), mine), want.second[r], which + ", second");
    });
  }
}

TEST(CollectiveTest, GradientsOfReductionsAreThoseOfOneProcess) {
  for (Reduction reduction : kReductions) {
    for (const bool ties : {false, true}) {
      CheckGradients(
          absl::StrCat(WordFor(reduction), ties ? " with ties" : ""), {3, 4}, ties,
          [=](int) {
            return [=](const Tensor& x) { return AllReduce(x, {.reduction = reduction}); };
          },
          [=](int size) {
            return [=](const std::vector<Tensor>& x) {
              return std::vector<Tensor>(static_cast<size_t>(size), Reduced(Stack(x), reduction));
            };
          });
    }
  }
}

TEST(CollectiveTest, GradientsOfPartsAreThoseOfOneProcess) {
  for (Reduction reduction : {Reduction::kSum, Reduction::kMean}) {
    CheckGradients(
        absl::StrCat("scattered ", WordFor(reduction)), {12, 2}, false,
        [=](int) {
          return [=](const Tensor& x) { return ReduceScatter(x, {.reduction = reduction}); };
        },
        [=](int size) {
          return [=](const std::vector<Tensor>& x) {
            return Chunk(Reduced(Stack(x), reduction), size, 0);
          };
        });
  }
  CheckGradients(
      "gathered", {3, 2}, false, [](int) { return [](const Tensor& x) { return AllGather(x); }; },
      [](int size) {
        return [=](const std::vector<Tensor>& x) {
          return std::vector<Tensor>(static_cast<size_t>(size), Concat(x));
        };
      });
  CheckGradients(
      "broadcast", {3, 2}, false,
      [](int size) { return [=](const Tensor& x) { return Broadcast(x, {.root = size - 1}); }; },
      [](int size) {
        return [=](const std::vector<Tensor>& x) {
          // Inputs whose elements nothing reads have gradients, too: zeros.
          std::vector<Tensor> y;
          for (int r = 0; r < size; ++r) y.push_back(x.back() + x[static_cast<size_t>(r)] * 0);
          return y;
        };
      });
}

TEST(CollectiveTest, GroupsByNumber) {
  OnRanks(4, [](comm::Communicator& ranks) {
    const auto pair = *ranks.Split(ranks.rank() % 2, ranks.rank());
    const comm::Group group(*pair);
    const Tensor x = Full({2}, ranks.rank());
    EXPECT_TRUE(
        AllReduce(x, {.group = group.number()}).Equals(Full({2}, ranks.rank() % 2 == 0 ? 2 : 4)));
  });
}

TEST(CollectiveTest, SaysWhatIsWrong) {
  OnRanks(2, [](comm::Communicator&) {
    EXPECT_EQ(ErrorOf([] {
                ReduceScatter(Ones({3, 2}));
              }),
              "reduce_scatter: x must have as many rows for each of the 2 ranks, got [3, 2]");
    EXPECT_EQ(ErrorOf([] { AllReduce(Ones({2}, DType::kI32), {.reduction = Reduction::kMean}); }),
              "all_reduce: a mean over ranks needs floating numbers, x is i32 [2] on cpu; sum, and "
              "divide");
    EXPECT_EQ(ErrorOf([] { Broadcast(Ones({2}), {.root = 2}); }),
              "broadcast: root must be one of the ranks 0 to 1, got 2");
    EXPECT_EQ(
        ErrorOf([] { AllGather(Ones({2}), {.group = 1 << 30}); }),
        "all_gather: there is no group 1073741824 of ranks in this process now (comm::Group); "
        "0 is the world");
    const Tensor x = Ones({2}).SetRequiresGrad();
    EXPECT_EQ(ErrorOf([&] { ReduceScatter(x, {.reduction = Reduction::kMax}); }),
              "reduce_scatter: the max of ranks has no gradient here, a sum or mean has; take the "
              "rank's rows of AllReduce, or detach x");
    const NoGradScope no_grad;
    EXPECT_TRUE(ReduceScatter(x, {.reduction = Reduction::kMax}).Equals(Ones({1})));
  });
}

// Both ranks get the error, whichever comes first.
TEST(CollectiveTest, RanksThatDifferAreAnErrorOnAll) {
  OnRanks(2, [](comm::Communicator& ranks) {
    const std::string error = ErrorOf([&] {
      if (ranks.rank() == 0) {
        AllReduce(Ones({3}));
      } else {
        AllReduce(Ones({4}));
      }
    });
    EXPECT_NE(error.find("all_reduce of 3 f32 (sum)"), std::string::npos) << error;
    EXPECT_NE(error.find("all_reduce of 4 f32 (sum)"), std::string::npos) << error;
  });
}

}  // namespace
}  // namespace firn
