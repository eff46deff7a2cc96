// Sizes, offsets and counts that a file may not ask for: the reader allocates, reads and walks only
// parts that it knows to be there.
#include <string>
#include <variant>
#include <vector>

#include "firn/device/cpu_allocator.h"
#include "firn/io/graph/graph_file.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/graph/changed_graph_file.h"

namespace firn::io {
namespace {

using testing::HasSubstr;

TEST(GraphFileSizesTest, CountsAndSizesDoNotAllocate) {
  Parts parts(SmallFile());
  const StoredGraph graph = parts.graph();
  CpuAllocator().ResetPeak();
  const int64_t before = CpuAllocator().stats().peak_bytes;
  for (const uint32_t count : {0xffffffffu, 0x7fffffffu, 100000u}) {
    Parts longer = parts;
    Put(longer.structure, 1, count);  // of buffers
    EXPECT_THAT(std::string(Try(longer.File()).message()), HasSubstr("bytes are left"));
  }
  for (const int64_t bytes : {INT64_MAX, int64_t{1} << 40, int64_t{-1}}) {
    for (size_t b = 0; b < graph.buffers.size(); ++b) {
      EXPECT_FALSE(AfterChange([&](StoredGraph& g) { g.buffers[b].bytes = bytes; }).ok());
    }
  }
  for (size_t b = 0; b < graph.buffers.size(); ++b) {  // within the limits, but not in the file
    const absl::Status status =
        AfterChange([&](StoredGraph& g) { g.buffers[b].bytes = int64_t{1} << 32; });
    EXPECT_EQ(status.ok(), graph.buffers[b].kind == 0) << b;  // an input: the caller's memory
  }
  for (size_t v = 0; v < graph.values.size(); ++v) {
    EXPECT_FALSE(AfterChange([&](StoredGraph& g) {
                   g.values[v].shape = {int64_t{1} << 40, int64_t{1} << 40};
                   g.values[v].strides.clear();
                 }).ok());
    EXPECT_FALSE(AfterChange([&](StoredGraph& g) {
                   g.values[v].shape.assign(1, int64_t{1} << 50);
                   g.values[v].strides.clear();
                   for (auto& b : g.buffers) b.bytes = int64_t{1} << 36;
                 }).ok());
  }
  EXPECT_LT(CpuAllocator().stats().peak_bytes, before + (1 << 20));
}

TEST(GraphFileSizesTest, OffsetsAndStridesStayInside) {
  const Parts parts(SmallFile());
  const size_t count = parts.graph().values.size();
  for (const int64_t number :
       {INT64_MIN, INT64_MIN + 8, int64_t{-4}, int64_t{1} << 62, INT64_MAX - 3, int64_t{4096}}) {
    for (size_t v = 0; v < count; ++v) {
      EXPECT_FALSE(AfterChange([&](StoredGraph& g) { g.values[v].offset = number; }).ok()) << v;
      EXPECT_FALSE(AfterChange([&](StoredGraph& g) {
                     g.values[v].strides.assign(g.values[v].shape.size(), number);
                     if (g.values[v].shape.empty()) g.values[v].offset = number;
                   }).ok())
          << v << " " << number;
    }
  }
}

TEST(GraphFileSizesTest, ViewsLieWhereTheirRuleSays) {
  const auto view = [](StoredGraph& g) -> internal::StoredValue& {
    return g.values[static_cast<size_t>(Find(g, "transpose").out[0])];
  };
  EXPECT_THAT(MessageAfter([&](StoredGraph& g) {
                view(g).strides = {1, 2};
              }),
              HasSubstr("a view lies elsewhere than its shape rule says"));
  // The caller's memory is not as large as the file says.
  EXPECT_THAT(MessageAfter([&](StoredGraph& g) {
                g.values.push_back(view(g));
                g.values.back().offset = 32;
                g.buffers[static_cast<size_t>(view(g).buffer)].bytes += 32;
              }),
              HasSubstr("a view reaches outside input"));
  EXPECT_THAT(MessageAfter([&](StoredGraph& g) {
                g.values[static_cast<size_t>(g.inputs[0])].offset = 2;
                g.buffers[static_cast<size_t>(view(g).buffer)].bytes += 2;
              }),
              HasSubstr("is not aligned at 2"));
}

// A view of four bytes with more elements than could be added up while a file is loaded.
TEST(GraphFileSizesTest, ExpandedConstantsTakeNoTime) {
  const auto fn = [](const Tensor& x) { return Sum(Expand(Full({1}, 2.0), {8})) + x; };
  const auto load = [&](int64_t elements) {
    const auto grow = [&](std::vector<int64_t>& sizes) {
      if (sizes == std::vector<int64_t>{8}) sizes = {elements};
    };
    const std::string file = Changed(Freeze(fn, Ones({1})), [&](StoredGraph& g) {
      for (auto& v : g.values) grow(v.shape);
      for (auto& i : g.instrs) {
        for (auto& a : i.attrs) {
          if (auto* list = std::get_if<std::vector<int64_t>>(&a.value)) grow(*list);
        }
      }
    });
    return LoadFromMemory(file).status();
  };
  EXPECT_TRUE(load(8).ok()) << load(8);
  EXPECT_TRUE(load(int64_t{1} << 37).ok()) << load(int64_t{1} << 37);  // a run would take very long
  EXPECT_EQ(load(int64_t{1} << 59).code(), absl::StatusCode::kResourceExhausted);
}

TEST(GraphFileSizesTest, TheArenaIsLimited) {
  const auto fn = [](const Tensor& x) { return Sum(Full({1 << 20}, 2.0) * x); };
  const std::string file = Changed(Freeze(fn, Ones({1})), [](StoredGraph&) {});
  EXPECT_TRUE(Try(file).ok()) << Try(file);
  LoadGraphOptions options;
  options.limits.max_total_bytes = 1 << 20;
  const absl::Status status = Try(file, options);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
}

}  // namespace
}  // namespace firn::io
