// Damaged files, and files that were made to do harm. Each is refused with an error, or is a graph
// that runs; the sanitizers look at both.
#include <functional>
#include <string>
#include <vector>

#include "firn/autograd/graph/graph.h"
#include "firn/io/graph/graph_file.h"
#include "firn/io/graph/graph_file_status.h"
#include "firn/tensor/error.h"
#include "firn/tensor/from.h"
#include "firn/tensor/index.h"
#include "firn/tensor/operators.h"
#include "firn/tensor/ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/graph/changed_graph_file.h"
#include "tests/io/test_files.h"

namespace firn::io {
namespace {

using testing::HasSubstr;

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

// The same bytes with checksums that fit, so that the later checks must find the damage.
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
  Put<uint32_t>(file, 8, 4);
  const absl::Status status = Try(file);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("version 4, of a later Firn; this one reads up to version 3"));
}

// --- Operations ----------------------------------------------------------------------------------

TEST(GraphFileHostileTest, UnknownOperationsAreNamed) {
  const absl::Status status =
      AfterChange([](StoredGraph& g) { Find(g, "index_select").op = "index_selekt"; });
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("operation 'index_selekt' is not linked into this program; did you mean "
                        "index_select? (//:run_graph links all that Firn's graphs are made of)"));
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

TEST(GraphFileHostileTest, NumbersFitTheDtypeBesideThem) {
  const auto call = [](const Tensor& x, double v) {
    Tensor y = Add(x, 0);
    y[0] = v;
    return Pad(MaskedFill(y, Eq(x, 2), v), {1, 1}, {.value = v});
  };
  const Tensor x = FromVector<uint8_t>({1, 2, 44});
  StaticGraph graph = Freeze([&](const Tensor& in) { return call(in, 7.9); }, x);
  EXPECT_TRUE(graph(x).Equals(call(x, 7.9)));
  EXPECT_TRUE(graph(x).Equals(FromVector<uint8_t>({7, 7, 7, 44, 7})));
  EXPECT_THROW((void)Freeze([&](const Tensor& in) { return call(in, 300); }, x), Error);
  const auto with = [&](double value) {
    return Try(Changed(graph, [&](StoredGraph& g) {
      for (internal::StoredAttr& a : Find(g, "pad").attrs) {
        if (a.name == "value") a.value = value;
      }
    }));
  };
  EXPECT_TRUE(with(255).ok()) << with(255);
  EXPECT_THAT(std::string(with(300).message()), HasSubstr("value is 300 (want 0 to 255"));
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
  // Writes over indices that were checked before.
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
              HasSubstr("files call every device the CPU"));
  EXPECT_FALSE(AfterChange([](StoredGraph& g) { g.buffers[0].device = "tpu"; }).ok());
  EXPECT_THAT(MessageAfter([](StoredGraph& g) { g.values[0].dtype = "f31"; }),
              HasSubstr("there is no dtype 'f31'"));
}

TEST(GraphFileHostileTest, ElementsOfBoolsAreZeroOrOne) {
  const Tensor mask = FromValues({1.f, 0.f, 1.f}).To(DType::kBool);
  StaticGraph graph = Freeze([&](const Tensor& x) { return x * mask.To(DType::kF32); }, Zeros({3}));
  const std::string path = TempPath("bools.firn");
  ASSERT_TRUE(TrySaveGraph(path, graph).ok());
  Parts parts(ReadFile(path));
  EXPECT_TRUE(Try(parts.File()).ok());
  parts.elements[1] = 2;
  EXPECT_THAT(std::string(Try(parts.File()).message()), HasSubstr("element 1 is 2"));
}

}  // namespace
}  // namespace firn::io
