// Which calls read and write which values.

#include "firn/autograd/graph/analysis.h"

#include <gtest/gtest.h>

#include "tests/autograd/graph/passes/graph_builder.h"

namespace firn {
namespace {

using testing::GraphBuilder;
using testing::Sizes;

std::vector<size_t> Listed(absl::Span<const size_t> span) { return {span.begin(), span.end()}; }

TEST(AnalysisTest, FindsReadersMakersAndVersions) {
  GraphBuilder b;
  const ValueId x = b.Input({4});
  const ValueId y = b.Call("exp", {x});                                     // 0
  const ValueId view = b.Call("reshape", {y}, ShapeAttrs{Sizes({2, 2})});   // 1
  const ValueId other = b.Call("reshape", {x}, ShapeAttrs{Sizes({2, 2})});  // 2
  b.Call("accumulate", {view, other});                                      // 3
  const ValueId twice = b.Call("mul", {y, y});                              // 4
  const Graph graph = b.Build({twice, other});
  const Uses uses(graph);
  EXPECT_EQ(Listed(uses.readers(x)), (std::vector<size_t>{0, 2}));
  EXPECT_EQ(Listed(uses.readers(y)), (std::vector<size_t>{1, 4, 4}));
  EXPECT_EQ(uses.maker(x), Uses::kNone);
  EXPECT_EQ(uses.maker(view), 1u);
  EXPECT_TRUE(uses.leaves(twice));
  EXPECT_FALSE(uses.leaves(y));
  const BufferId buffer = graph.value(y).buffer, input = graph.value(x).buffer;
  EXPECT_EQ(Listed(uses.writers(buffer)), (std::vector<size_t>{0, 3}));
  EXPECT_TRUE(uses.changed(buffer));
  EXPECT_FALSE(uses.changed(input));
  EXPECT_EQ(uses.last_reader(buffer), 4u);
  EXPECT_EQ(uses.last_reader(input), Uses::kNone);  // a view of it is a result
  EXPECT_EQ(uses.VersionAt(buffer, 0), 0u);
  EXPECT_EQ(uses.VersionAt(buffer, 3), 1u);
  EXPECT_EQ(uses.VersionAt(buffer, 4), 2u);
  EXPECT_EQ(ChangedInPlace(graph), (std::vector<bool>{false, true, false}));
}

TEST(AnalysisTest, OnlyViewsInTheirArgumentsMemoryAreAliases) {
  GraphBuilder b;
  const ValueId x = b.Input({2, 8, 4, 4});
  const ValueId blocked = b.Call("reorder", {x}, ReorderAttrs{8});
  const ValueId alias = b.Call("reshape", {x}, ShapeAttrs{Sizes({2, 128})});
  const ValueId copy = b.Call("reshape", {blocked}, ShapeAttrs{Sizes({2, 128})});
  const Graph graph = b.Build({alias, copy});
  EXPECT_FALSE(IsAlias(graph, graph.instrs[0]));
  EXPECT_TRUE(IsAlias(graph, graph.instrs[1]));
  EXPECT_FALSE(IsAlias(graph, graph.instrs[2]));
}

}  // namespace
}  // namespace firn
