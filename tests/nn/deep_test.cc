// Modules, tapes and graphs that are deep: nothing recurses but calls, which have a limit.
// Everything runs on a thread with a small stack, where a function that calls itself for each level
// would crash.

#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "firn/autograd/backward.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/nn/clone.h"
#include "firn/nn/linear.h"
#include "firn/nn/sequential.h"
#include "firn/tensor/error.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "tests/error_of.h"

namespace firn::nn {
namespace {

constexpr int kDeep = 20'000;

void OnStackOf(size_t bytes, const std::function<void()>& f) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, bytes), 0);
  pthread_t thread;
  const auto run = [](void* function) -> void* {
    (*static_cast<const std::function<void()>*>(function))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&f)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

void OnSmallStack(const std::function<void()>& f) { OnStackOf(size_t{256} << 10, f); }

// A linear layer inside so many Sequentials.
std::unique_ptr<Sequential> Nested(int depth) {
  auto net = std::make_unique<Sequential>();
  Sequential* inner = net.get();
  for (int i = 1; i < depth; ++i) inner = &inner->Append<Sequential>();
  inner->Append<Linear>({.in = 2, .out = 3});
  return net;
}

TEST(DeepTest, ModulesAreBuiltVisitedAndDestroyed) {
  OnSmallStack([] {
    const std::unique_ptr<Sequential> net = Nested(kDeep);
    int count = 0;
    net->VisitModules([&count](Module&) { ++count; });
    EXPECT_EQ(count, kDeep + 1);
    EXPECT_EQ(net->num_parameters(), 9);
    EXPECT_EQ(net->named_parameters()[0].name.size(), 2u * kDeep + 6);
    net->Eval();
    net->To(DType::kF64);
    net->SetTrainable(false);
    EXPECT_EQ(net->parameters()[0].dtype(), DType::kF64);
    StateDict state = net->state_dict();
    EXPECT_TRUE(net->LoadStateDict(state).ok());
    EXPECT_EQ(Clone(*net)->num_parameters(), 9);
  });
}

TEST(DeepTest, ModulesArePrinted) {
  OnSmallStack([] {
    const std::string text = Nested(kDeep)->ToString();
    EXPECT_NE(text.find("Linear(2 -> 3)"), std::string::npos);
    EXPECT_LT(text.size(), 500u * kDeep);
  });
  EXPECT_EQ(Nested(2)->ToString(),
            "Sequential(\n  (0): Sequential(\n    (0): Linear(2 -> 3)\n  )\n)");
}

// Children live until the destructor of a user's class, which may name them, has ended.
struct Parent : Module {
  Linear& fc = Add<Linear>("fc", {.in = 2, .out = 3});
  std::string* left;
  explicit Parent(std::string* l) : left(l) {}
  ~Parent() override { *left = fc.type_name(); }
};

TEST(DeepTest, ADestructorFindsItsChildren) {
  std::string left;
  struct Outer : Module {
    explicit Outer(std::string* l) { Add<Parent>("parent", l); }
  };
  { const Outer outer(&left); }
  EXPECT_EQ(left, "Linear");
}

// A network that is a member of a module is destroyed before the module's other members.
struct Noisy : Module {
  std::vector<int>* log;
  explicit Noisy(std::vector<int>* l) : log(l) {}
  ~Noisy() override { log->push_back(1); }
};
struct Body : Module {
  explicit Body(std::vector<int>* l) { Add<Noisy>("noisy", l); }
};
struct Wrapper : Module {
  explicit Wrapper(size_t* s) : seen(s), body(&log) {}
  ~Wrapper() override { *seen = log.size(); }
  struct Counted {
    std::vector<int>* log;
    size_t* count;
    ~Counted() { *count = log->size(); }
  };
  size_t* seen;
  std::vector<int> log;
  Counted counted{&log, seen};  // destroyed behind `body`
  Body body;
};

TEST(DeepTest, AMemberThatIsANetworkGoesWithItsChildren) {
  size_t seen = 0;
  struct Outer : Module {
    explicit Outer(size_t* s) { Add<Wrapper>("wrapper", s); }
  };
  { const Outer outer(&seen); }
  EXPECT_EQ(seen, 1u);
}

TEST(DeepTest, CallsHaveALimitBeforeTheStackEnds) {
  const std::unique_ptr<Sequential> fine = Nested(1000), deep = Nested(kDeep);
  const Tensor x = Ones({1, 2});
  EXPECT_EQ((*fine)(x).shape(), Shape({1, 3}));
  for (int i = 0; i < 2; ++i) {
    const absl::Status refusal = testing::StatusOf([&] { (*deep)(x); });
    EXPECT_EQ(refusal.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(refusal.message(),
              "call at sequential: more than 2000 calls of modules run inside each other, the last"
              " one of a Sequential; each takes a part of the stack. Put layers one after another"
              " into one Sequential, not each into the one before");
  }
  EXPECT_EQ((*fine)(x).shape(), Shape({1, 3}));  // the refused calls have ended
  // A quarter of the usual stack is enough.
  OnStackOf(size_t{2} << 20, [&] { EXPECT_THROW((*deep)(x), Error); });
}

TEST(DeepTest, TapesAndGraphsAreUsedAndDropped) {
  OnSmallStack([] {
    Tensor x = Ones({2});
    x.SetRequiresGrad();
    const auto chain = [](Tensor y) {
      for (int i = 0; i < kDeep; ++i) y = Tanh(y + 1);
      return Sum(y);
    };
    { const Tensor dropped = chain(x); }
    chain(x).Backward();
    const Tensor g = Grad(chain(x), x, {.create_graph = true});
    EXPECT_TRUE(Grad(Sum(g * g), x).defined());
    StaticGraph graph = Freeze(chain, Ones({2}));
    EXPECT_TRUE(graph(Ones({2})).Equals(chain(Ones({2}))));
  });
}

}  // namespace
}  // namespace firn::nn
