// Files that nobody saved: damaged ones, and those that somebody made to do harm. Each is refused
// with an error, or is a graph that runs; under the sanitizers this says more.
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "device/cpu_allocator.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/graph_file.h"
#include "io/internal/graph_archive.h"
#include "tensor/from.h"
#include "tensor/operators.h"
#include "tensor/ops.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using internal::StoredGraph;
using testing::HasSubstr;

constexpr size_t kHeader = 32;

uint32_t Crc(const std::string& bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

template <class T>
T At(const std::string& bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

template <class T>
void Put(std::string& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

// A file taken apart, to be changed and put together with sizes and checksums that are right.
struct Parts {
  std::string structure, elements;

  explicit Parts(const std::string& file) {
    const auto size = At<uint64_t>(file, 16);
    structure = file.substr(kHeader, size);
    elements = file.substr(kHeader + size, file.size() - kHeader - size - 4);
  }
  StoredGraph graph() const { return *internal::DecodeGraph(structure, "test", 0); }
  std::string File() const {
    std::string file(kHeader, '\0');
    std::memcpy(file.data(),
                "\x89"
                "FIRN\r\n\x1a",
                8);
    Put<uint32_t>(file, 8, 1);
    Put<uint32_t>(file, 12, Crc(structure));
    Put<uint64_t>(file, 16, structure.size());
    Put<uint64_t>(file, 24, elements.size());
    file += structure + elements;
    std::string crc(4, '\0');
    Put<uint32_t>(crc, 0, Crc(file));
    return file + crc;
  }
};

// A view, a state that is written, a constant, indices, a convolution.
std::string SmallFile() {
  const Tensor table = FromVector<float>({1, 2, 3, 4, 5, 6}, {3, 2});
  Tensor count = FromVector<int64_t>({7}, {});
  const auto f = [&](const Tensor& x, const Tensor& indices) {
    count.CopyFrom(count + 1);
    return IndexSelect(table, 0, indices) * 2 + x.T();
  };
  const Tensor x = Ones({2, 4}), indices = FromValues<int64_t>({0, 2, 1, 1});
  const std::string path = TempPath("small.firn");
  const StaticGraph graph = Freeze(f, x, indices);
  const absl::Status saved = SaveGraph(path, graph, {.names = {{"count", count}}});
  EXPECT_TRUE(saved.ok()) << saved;
  return ReadFile(path);
}

// A file that is never on a disk: the sweeps below write ten thousands.
std::string InMemory(const std::string& bytes) {
  static const int fd = memfd_create("graph", 0);
  EXPECT_EQ(ftruncate(fd, 0), 0);
  EXPECT_EQ(pwrite(fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  return "/proc/self/fd/" + std::to_string(fd);
}

// What loading says of the file; a graph that it gives is run.
absl::Status Try(const std::string& file, const LoadGraphOptions& options = {}) {
  absl::StatusOr<StaticGraph> graph = LoadGraph(InMemory(file), options);
  if (!graph.ok()) return graph.status();
  TensorList in;
  for (ValueId id : graph->graph().inputs) {
    const TensorSpec& spec = graph->graph().value(id).spec;
    in.push_back(Zeros(spec.shape, spec.dtype));
  }
  TensorList out(graph->graph().outputs.size());
  return graph->Run(in, absl::MakeSpan(out));
}

// The error of the small file after a change.
absl::Status AfterChange(const std::function<void(StoredGraph&)>& change) {
  static const std::string small = SmallFile();
  Parts parts(small);
  StoredGraph graph = parts.graph();
  change(graph);
  parts.structure = EncodeGraph(graph);
  return Try(parts.File());
}

std::string MessageAfter(const std::function<void(StoredGraph&)>& change) {
  return std::string(AfterChange(change).message());
}

internal::StoredInstr& Find(StoredGraph& graph, const std::string& op) {
  for (internal::StoredInstr& i : graph.instrs) {
    if (i.op == op) return i;
  }
  ADD_FAILURE() << "no " << op;
  return graph.instrs[0];
}

// --- Damage --------------------------------------------------------------------------------------

TEST(GraphFileHostileTest, TheSmallFileIsSound) {
  const std::string file = SmallFile();
  EXPECT_LT(file.size(), 4096u);
  EXPECT_TRUE(Try(file).ok()) << Try(file);
  EXPECT_EQ(Parts(file).File(), file);
}

TEST(GraphFileHostileTest, EveryTruncationIsAnError) {
  const std::string file = SmallFile();
  for (size_t n = 0; n < file.size(); ++n) {
    EXPECT_EQ(Try(file.substr(0, n)).code(), absl::StatusCode::kDataLoss) << n;
  }
  EXPECT_EQ(Try(file + '\0').code(), absl::StatusCode::kDataLoss);
}

TEST(GraphFileHostileTest, EveryFlippedBitIsAnError) {
  const std::string file = SmallFile();
  for (size_t bit = 0; bit < 8 * file.size(); ++bit) {
    std::string damaged = file;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(Try(damaged).ok()) << "bit " << bit % 8 << " of byte " << bit / 8;
  }
}

// The same bytes with checksums that fit: what the checks behind them are for.
TEST(GraphFileHostileTest, NoByteOfTheStructureIsTrusted) {
  const Parts sound(SmallFile());
  LoadGraphOptions options;
  options.limits.max_total_bytes = 1 << 20;
  int accepted = 0;
  for (size_t at = 0; at < sound.structure.size(); ++at) {
    for (const int byte : {0x00, 0x01, 0x02, 0x7f, 0x80, 0xff}) {
      Parts parts = sound;
      parts.structure[at] = static_cast<char>(byte);
      accepted += Try(parts.File(), options).ok() ? 1 : 0;
    }
  }
  EXPECT_GT(accepted, 0);  // names and warnings may say anything
}

TEST(GraphFileHostileTest, StructuresMayEndAnywhere) {
  const Parts sound(SmallFile());
  for (size_t n = 0; n < sound.structure.size(); ++n) {
    Parts parts = sound;
    parts.structure.resize(n);
    EXPECT_EQ(Try(parts.File()).code(), absl::StatusCode::kDataLoss) << n;
  }
}

TEST(GraphFileHostileTest, LaterVersionsAreSaidToBe) {
  std::string file = SmallFile();
  Put<uint32_t>(file, 8, 2);
  const absl::Status status = Try(file);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("version 2, of a later Firn; this one reads up to version 1"));
}

// --- Sizes ---------------------------------------------------------------------------------------

TEST(GraphFileHostileTest, CountsAndSizesDoNotAllocate) {
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

TEST(GraphFileHostileTest, OffsetsAndStridesStayInside) {
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

TEST(GraphFileHostileTest, ViewsLieWhereTheirRuleSays) {
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

// --- Operations ----------------------------------------------------------------------------------

TEST(GraphFileHostileTest, UnknownOperationsAreNamed) {
  const absl::Status status =
      AfterChange([](StoredGraph& g) { Find(g, "index_select").op = "index_selekt"; });
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("operation 'index_selekt' is not linked into this program; did you mean "
                        "index_select?"));
}

TEST(GraphFileHostileTest, AttributesAreCheckedAndMayBeMissing) {
  using internal::StoredAttr;
  const auto with = [](const StoredAttr& attr) {
    return MessageAfter([&](StoredGraph& g) { Find(g, "index_select").attrs.push_back(attr); });
  };
  EXPECT_THAT(with({"dimm", int64_t{0}}), HasSubstr("index_select: there is no attribute 'dimm'"));
  EXPECT_THAT(with({"dim", int64_t{0}}), HasSubstr("attribute 'dim' is given twice"));
  const auto set = [](const internal::AttrValue& value) {
    return MessageAfter([&](StoredGraph& g) {
      for (StoredAttr& a : Find(g, "index_select").attrs) {
        if (a.name == "dim") a.value = value;
      }
    });
  };
  EXPECT_THAT(set(0.0), HasSubstr("attribute 'dim' is of another type"));
  EXPECT_THAT(set(int64_t{1} << 40), HasSubstr("dim 1099511627776 is outside [3, 2]"));
  // Here all defaults are what the file said.
  EXPECT_EQ(MessageAfter([](StoredGraph& g) { Find(g, "index_select").attrs.clear(); }), "");
}

TEST(GraphFileHostileTest, ArgumentsAreAsDeclared) {
  const auto in = [](const std::function<void(std::vector<int32_t>&)>& change) {
    return MessageAfter([&](StoredGraph& g) { change(Find(g, "index_select").in); });
  };
  EXPECT_THAT(in([](auto& ids) { ids.pop_back(); }), HasSubstr("takes 2 tensors, got 1"));
  EXPECT_THAT(in([](auto& ids) { ids.push_back(ids[0]); }), HasSubstr("takes 2 tensors, got 3"));
  EXPECT_THAT(in([](auto& ids) { ids[1] = kNoValue; }), HasSubstr("is an undefined tensor"));
  EXPECT_THAT(in([](auto& ids) { ids[1] = 99; }), HasSubstr("an argument is value 99 of"));
  EXPECT_THAT(in([](auto& ids) { ids[1] = -2; }), HasSubstr("an argument is value -2 of"));
  EXPECT_THAT(in([](auto& ids) { ids[1] = ids[0]; }), HasSubstr("must be i32 or i64"));
}

TEST(GraphFileHostileTest, ResultsAreInMemoryOfTheirOwn) {
  const auto buffer_of = [](StoredGraph& g, int32_t id) -> int32_t& {
    return g.values[static_cast<size_t>(id)].buffer;
  };
  // Over the indices that were checked before.
  EXPECT_THAT(MessageAfter([&](StoredGraph& g) {
                internal::StoredInstr& i = Find(g, "index_select");
                buffer_of(g, i.out[0]) = buffer_of(g, i.in[1]);
              }),
              HasSubstr("a buffer holds"));
  EXPECT_THAT(MessageAfter([&](StoredGraph& g) {
                const int32_t taken = buffer_of(g, Find(g, "index_select").out[0]);
                buffer_of(g, Find(g, "mul").out[0]) = taken;
              }),
              HasSubstr("a result is written over something else"));
  EXPECT_THAT(MessageAfter([&](StoredGraph& g) {
                internal::StoredInstr& i = Find(g, "index_select");
                buffer_of(g, i.out[0]) = buffer_of(g, i.in[0]);
              }),
              HasSubstr("reaches outside"));
  EXPECT_THAT(MessageAfter([&](StoredGraph& g) {
                internal::StoredInstr& i = Find(g, "mul");
                g.buffers[static_cast<size_t>(buffer_of(g, i.out[0]))].bytes += 4;
              }),
              HasSubstr("a result does not fill its memory"));
}

TEST(GraphFileHostileTest, ValuesComeFromSomewhere) {
  EXPECT_THAT(MessageAfter([](StoredGraph& g) { std::swap(g.instrs.front(), g.instrs.back()); }),
              HasSubstr("which nothing gives a value"));
  EXPECT_THAT(MessageAfter([](StoredGraph& g) { g.inputs.pop_back(); }),
              HasSubstr("which nothing gives a value"));
  EXPECT_THAT(MessageAfter([](StoredGraph& g) { g.inputs[1] = g.inputs[0]; }),
              HasSubstr("two inputs in one buffer"));
  EXPECT_FALSE(AfterChange([](StoredGraph& g) { g.outputs[0] = 99; }).ok());
  EXPECT_FALSE(AfterChange([](StoredGraph& g) {
                 for (auto& v : g.values) v.bound = true;
               }).ok());
  EXPECT_FALSE(AfterChange([](StoredGraph& g) {
                 for (auto& v : g.values) v.bound = false;
               }).ok());
}

TEST(GraphFileHostileTest, OtherDevicesAndDTypesAreRefused) {
  EXPECT_THAT(MessageAfter([](StoredGraph& g) {
                for (auto& b : g.buffers) b.device = "cuda:0";
              }),
              HasSubstr("graph files are for the CPU"));
  EXPECT_FALSE(AfterChange([](StoredGraph& g) { g.buffers[0].device = "tpu"; }).ok());
  EXPECT_THAT(MessageAfter([](StoredGraph& g) { g.values[0].dtype = "f31"; }),
              HasSubstr("there is no dtype 'f31'"));
}

TEST(GraphFileHostileTest, ElementsOfBoolsAreZeroOrOne) {
  const Tensor mask = FromValues({1.f, 0.f, 1.f}).To(DType::kBool);
  StaticGraph graph = Freeze([&](const Tensor& x) { return x * mask.To(DType::kF32); }, Zeros({3}));
  const std::string path = TempPath("bools.firn");
  ASSERT_TRUE(SaveGraph(path, graph).ok());
  Parts parts(ReadFile(path));
  EXPECT_TRUE(Try(parts.File()).ok());
  parts.elements[1] = 2;
  EXPECT_THAT(std::string(Try(parts.File()).message()), HasSubstr("element 1 is 2"));
}

// The file of what `fn` does on `x`, after `change` has been at its structure.
template <class F>
std::string Changed(F fn, const Tensor& x, const std::function<void(StoredGraph&)>& change) {
  const std::string path = TempPath("changed.firn");
  const absl::Status saved = SaveGraph(path, Freeze(fn, x));
  EXPECT_TRUE(saved.ok()) << saved;
  Parts parts(ReadFile(path));
  StoredGraph graph = parts.graph();
  change(graph);
  parts.structure = internal::EncodeGraph(graph);
  return parts.File();
}

// A view of four bytes with more elements than anybody wants to add up while a file is loaded.
TEST(GraphFileHostileTest, ExpandedConstantsTakeNoTime) {
  const auto fn = [](const Tensor& x) { return Sum(Expand(Full({1}, 2.0), {8})) + x; };
  const auto load = [&](int64_t elements) {
    const auto grow = [&](std::vector<int64_t>& sizes) {
      if (sizes == std::vector<int64_t>{8}) sizes = {elements};
    };
    const std::string file = Changed(fn, Ones({1}), [&](StoredGraph& g) {
      for (auto& v : g.values) grow(v.shape);
      for (auto& i : g.instrs) {
        for (auto& a : i.attrs) {
          if (auto* list = std::get_if<std::vector<int64_t>>(&a.value)) grow(*list);
        }
      }
    });
    return LoadGraph(InMemory(file)).status();
  };
  EXPECT_TRUE(load(8).ok()) << load(8);
  EXPECT_TRUE(load(int64_t{1} << 37).ok()) << load(int64_t{1} << 37);  // a run would take its time
  EXPECT_EQ(load(int64_t{1} << 59).code(), absl::StatusCode::kResourceExhausted);
}

TEST(GraphFileHostileTest, TheArenaIsLimited) {
  const auto fn = [](const Tensor& x) { return Sum(Full({1 << 20}, 2.0) * x); };
  const std::string file = Changed(fn, Ones({1}), [](StoredGraph&) {});
  EXPECT_TRUE(Try(file).ok()) << Try(file);
  LoadGraphOptions options;
  options.limits.max_total_bytes = 1 << 20;
  const absl::Status status = Try(file, options);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
}

}  // namespace
}  // namespace firn::io
