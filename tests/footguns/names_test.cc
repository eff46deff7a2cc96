// A program that writes `using namespace firn` may use any names: firn contains only names that
// programs write, and docs/names.txt and docs/operations.md list them.

#include "absl/status/status.h"
#include "firn/firn.h"
#include "gtest/gtest.h"

using namespace firn;

struct Block : nn::Module {
  nn::Linear& linear = Add<nn::Linear>("linear", {.out = 4});
  Tensor Forward(const Tensor& x) { return Relu(linear(x)); }
};
struct Generator : nn::Module {
  nn::ModuleList<Block>& blocks = Add<nn::ModuleList<Block>>("blocks");
  Generator() {
    for (int i = 0; i < 2; ++i) blocks.Append();
  }
  Tensor Forward(Tensor x) {
    for (Block& block : blocks) x = block.Forward(x);
    return x;
  }
};
struct Value {
  double price = 0;
};
struct Slot {
  int64_t width = 4;
};
struct NamedSlot {
  Slot slot;
};
// The names are free inside of a module and of an optimizer, too, whose bases have names of their
// own.
struct Slotted : nn::Module {
  NamedSlot first;
};
struct GroupOptions {
  double lr = 0.1;
  template <class V>
  void Visit(V&) {}
};
struct Group {};
class Grouped : public optim::OptimizerOf<GroupOptions> {
  std::vector<Group> mine_;
};
struct Node {
  Value value;
};
struct Edge {
  int from = 0, to = 0;
};
struct Graph {
  std::vector<Node> nodes;
  std::vector<Edge> edges;
};
struct Kernel {
  int width = 3;
};
struct Storage {
  Graph graph;
  Kernel kernel;
};
enum class Layout { kWide, kTall };
class Allocator {};
class Attrs {};
class Buffer {};
class Executor {};
class Instr {};
class Operand {};
class Plan {};
class Recorder {};
class Stream {};
namespace core {
struct Engine {};
}  // namespace core
namespace internal {
struct Part {};
}  // namespace internal
void Hash(const Node&) {}
void Describe(const Node&) {}
void Name(const Node&) {}
void Visit(const Graph&) {}
void Capture(const Graph&) {}
absl::Status NotFound(const Node&) { return absl::NotFoundError("node"); }

namespace {

TEST(NamesTest, AProgramMayHaveItsOwn) {
  Generator generator;
  EXPECT_EQ(generator.Forward(Randn({2, 3})).shape(), Shape({2, 4}));
  EXPECT_EQ(generator.type_name(), "Generator");
  EXPECT_EQ(Slotted().first.slot.width, 4);

  Storage storage{.graph = {.nodes = {{.value = {.price = 2}}}, .edges = {{.from = 0, .to = 0}}},
                  .kernel = {.width = 3}};
  const Node& node = storage.graph.nodes[0];
  Hash(node), Describe(node), Name(node), Visit(storage.graph), Capture(storage.graph);
  EXPECT_EQ(node.value.price + storage.kernel.width, 5);
  EXPECT_FALSE(NotFound(node).ok());
  EXPECT_NE(Layout::kWide, Layout::kTall);
  static_cast<void>(std::tuple<Allocator, Attrs, Buffer, Executor, Instr, Operand, Plan, Recorder,
                               Stream, Edge, core::Engine, internal::Part>());
}

}  // namespace
