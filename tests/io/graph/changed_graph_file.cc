#include "tests/io/graph/changed_graph_file.h"

#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "firn/autograd/graph/graph.h"
#include "firn/io/graph/graph_file_status.h"
#include "firn/tensor/from.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

constexpr size_t kHeader = 32;

uint32_t Crc(const std::string& bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string InMemory(const std::string& bytes) {
  static const int fd = memfd_create("graph", 0);
  EXPECT_EQ(ftruncate(fd, 0), 0);
  EXPECT_EQ(pwrite(fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  return "/proc/self/fd/" + std::to_string(fd);
}

std::string WithStructure(Parts parts, const GraphChange& change) {
  StoredGraph graph = parts.graph();
  change(graph);
  parts.version = graph.version;
  parts.structure = internal::EncodeGraph(graph);
  return parts.File();
}

}  // namespace

Parts::Parts(const std::string& file) {
  uint64_t size = 0;
  std::memcpy(&size, file.data() + 16, sizeof(size));
  std::memcpy(&version, file.data() + 8, sizeof(version));
  structure = file.substr(kHeader, size);
  elements = file.substr(kHeader + size, file.size() - kHeader - size - 4);
}

StoredGraph Parts::graph() const { return *internal::DecodeGraph(structure, "test", 0, version); }

std::string Parts::File() const {
  std::string file(kHeader, '\0');
  std::memcpy(file.data(),
              "\x89"
              "FIRN\r\n\x1a",
              8);
  Put<uint32_t>(file, 8, version);
  Put<uint32_t>(file, 12, Crc(structure));
  Put<uint64_t>(file, 16, structure.size());
  Put<uint64_t>(file, 24, elements.size());
  file += structure + elements;
  std::string crc(4, '\0');
  Put<uint32_t>(crc, 0, Crc(file));
  return file + crc;
}

std::string SmallFile(const GraphInfo& info) {
  const Tensor table = FromVector<float>({1, 2, 3, 4, 5, 6}, {3, 2});
  Tensor count = FromVector<int64_t>({7}, {});
  const auto f = [&](const Tensor& x, const Tensor& indices) {
    count.CopyFrom(count + 1);
    return IndexSelect(table, 0, indices) * 2 + x.T();
  };
  const Tensor x = Ones({2, 4}), indices = FromValues<int64_t>({0, 2, 1, 1});
  const std::string path = TempPath("small.firn");
  const StaticGraph graph = Freeze(f, x, indices);
  const absl::Status saved = TrySaveGraph(path, graph, {.names = {{"count", count}}, .info = info});
  EXPECT_TRUE(saved.ok()) << saved;
  return ReadFile(path);
}

std::string FileWithWords() {
  const auto f = [](const Tensor& x) {
    const Tensor y = Pad(x, {1, 1}, {.mode = PadMode::kReflect});
    return Cast(Div(Gelu(y, GeluApproximate::kTanh), x.Mean(), DivRounding::kFloor), DType::kI32);
  };
  const std::string path = TempPath("words.firn");
  const absl::Status saved = TrySaveGraph(path, Freeze(f, Ones({2, 3})));
  EXPECT_TRUE(saved.ok()) << saved;
  return ReadFile(path);
}

absl::StatusOr<StaticGraph> LoadFromMemory(const std::string& file,
                                           const LoadGraphOptions& options) {
  return TryLoadGraph(InMemory(file), options);
}

absl::Status Try(const std::string& file, const LoadGraphOptions& options) {
  absl::StatusOr<StaticGraph> graph = LoadFromMemory(file, options);
  if (!graph.ok()) return graph.status();
  TensorList in;
  for (ValueId id : graph->graph().inputs) {
    const TensorSpec& spec = graph->graph().value(id).spec;
    in.push_back(Zeros(spec.shape, spec.dtype));
  }
  TensorList out(graph->graph().outputs.size());
  return graph->Run(in, absl::MakeSpan(out));
}

std::string Changed(const StaticGraph& graph, const GraphChange& change) {
  const std::string path = TempPath("changed.firn");
  const absl::Status saved = TrySaveGraph(path, graph);
  EXPECT_TRUE(saved.ok()) << saved;
  return WithStructure(Parts(ReadFile(path)), change);
}

absl::Status AfterChange(const GraphChange& change) {
  static const std::string small = SmallFile();
  return Try(WithStructure(Parts(small), change));
}

std::string MessageAfter(const GraphChange& change) {
  return std::string(AfterChange(change).message());
}

internal::StoredInstr& Find(StoredGraph& graph, const std::string& op) {
  for (internal::StoredInstr& i : graph.instrs) {
    if (i.op == op) return i;
  }
  ADD_FAILURE() << "no " << op;
  return graph.instrs[0];
}

}  // namespace firn::io
