#include "firn/io/onnx/internal/onnx_read.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/io/onnx/internal/onnx_write.h"
#include "firn/io/wire/internal/wire.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/io/test_files.h"

namespace firn::io::internal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

WireWriter Wire() { return WireWriter(); }

// A model of this graph, IR 8, opset 18; `more` are further fields.
std::string Model(const std::string& graph, const std::string& more = "") {
  return Wire()
             .Integer(1, 8)
             .Bytes(7, graph)
             .Message(8, Wire().Bytes(1, "").Integer(2, 18))
             .bytes() +
         more;
}
std::string Node(const std::string& fields) {
  return Model(Wire().Bytes(1, Wire().Bytes(4, "Op").bytes() + fields).bytes());
}
std::string Attribute(const std::string& fields) {
  return Node(Wire().Bytes(5, Wire().Bytes(1, "a").bytes() + fields).bytes());
}
std::string Initializer(const std::string& fields) {
  return Model(Wire().Bytes(5, Wire().Bytes(8, "w").bytes() + fields).bytes());
}
std::string Type(const std::string& fields) {
  return Model(Wire().Message(11, Wire().Bytes(1, "x").Bytes(2, fields)).bytes());
}

std::string ErrorOf(const std::string& bytes, const LoadLimits& limits = {}) {
  const absl::StatusOr<OnnxModel> model = ParseOnnxModel(bytes, "x.onnx", limits);
  return model.ok() ? "none" : model.status().ToString();
}

OnnxModel Parsed(const std::string& bytes) {
  absl::StatusOr<OnnxModel> model = ParseOnnxModel(bytes, "x.onnx");
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *std::move(model) : OnnxModel();
}

TEST(OnnxReadTest, ReadsWhatAFileSays) {
  const OnnxModel model =
      Parsed(Node(Wire()
                      .Bytes(1, "x")
                      .Bytes(1, "")
                      .Bytes(2, "y")
                      .Bytes(3, "first")
                      .Bytes(7, "ai.onnx")
                      .Message(5, Wire().Bytes(1, "axis").Integer(3, -1).Integer(20, 2))
                      .bytes()) +
             Wire().Bytes(2, "me").Message(14, Wire().Bytes(1, "k").Bytes(2, "v")).bytes());
  EXPECT_EQ(model.ir_version, 8);
  EXPECT_EQ(model.producer, "me");
  EXPECT_EQ(model.opsets.at(0).version, 18);
  EXPECT_THAT(model.metadata, ElementsAre(std::pair<std::string, std::string>("k", "v")));
  const OnnxNode& node = model.graph.nodes.at(0);
  EXPECT_THAT(node.inputs, ElementsAre("x", ""));
  EXPECT_EQ(node.domain, "");
  EXPECT_EQ(std::get<int64_t>(node.attributes.at(0).value), -1);
  EXPECT_FALSE(model.folder.has_value());
}

// Numbers stand alone, packed, or both in any order.
TEST(OnnxReadTest, TakesRepeatedNumbersEitherWay) {
  const std::string mixed = Wire().Integer(8, 1).Bytes(8, "\x02\x03").Integer(8, -4).bytes();
  const OnnxModel model = Parsed(Attribute(mixed + Wire().Integer(20, 7).bytes()));
  EXPECT_THAT(std::get<std::vector<int64_t>>(model.graph.nodes[0].attributes[0].value),
              ElementsAre(1, 2, 3, -4));
  const OnnxModel floats = Parsed(Attribute(Wire()
                                                .Float(7, 0.5f)
                                                .Bytes(7, std::string("\0\0\x80\x3f\0\0\0\x40", 8))
                                                .Integer(20, 6)
                                                .bytes()));
  EXPECT_THAT(std::get<std::vector<float>>(floats.graph.nodes[0].attributes[0].value),
              ElementsAre(0.5f, 1.0f, 2.0f));
  const OnnxModel dims = Parsed(Initializer(
      Wire().Bytes(1, "\x02\x01").Integer(1, 3).Integer(2, 3).Bytes(9, "abcdef").bytes()));
  EXPECT_THAT(dims.graph.initializers.at(0).dims, ElementsAre(2, 1, 3));
}

// Writers of proto3 leave out fields that are zero or empty.
TEST(OnnxReadTest, MakesUpValuesThatAreLeftOut) {
  const OnnxModel integer = Parsed(Attribute(Wire().Integer(20, 2).bytes()));
  EXPECT_EQ(std::get<int64_t>(integer.graph.nodes[0].attributes[0].value), 0);
  const OnnxModel floats = Parsed(Attribute(Wire().Integer(20, 6).bytes()));
  EXPECT_TRUE(std::get<std::vector<float>>(floats.graph.nodes[0].attributes[0].value).empty());
}

TEST(OnnxReadTest, NamesWhereAFileIsWrong) {
  // 2 bytes of ir_version, 2 of the graph, 2 of the node, 4 of op_type, and the name's own 2.
  EXPECT_EQ(ErrorOf(Node(Wire().Bytes(3, "\xff").bytes())),
            "DATA_LOSS: x.onnx: graph.node[0].name, offset 12: expected UTF-8, got \"\\xff\"");
}

TEST(OnnxReadTest, RefusesFieldsThatAreWrong) {
  const std::string op = Wire().Bytes(4, "Op").bytes();
  const std::string entry = Wire().Bytes(1, "k").Bytes(1, "l").bytes();
  for (const auto& [bytes, expected] : std::vector<std::pair<std::string, std::string>>{
           {"", "expected a field graph, got none: not an ONNX model"},
           {Wire().Integer(1, 8).bytes(), "expected a field graph, got none"},
           {Wire().Bytes(7, "").bytes(), "expected a field ir_version, got none"},
           {Wire().Integer(1, 8).Bytes(7, "").bytes(), "expected an opset_import, got none"},
           {Wire().Integer(1, 2).Bytes(7, "").bytes(), "ir_version: expected 3 to 14, got 2"},
           {Wire().Integer(1, 15).Bytes(7, "").bytes(), "ir_version: expected 3 to 14, got 15"},
           {Model("") + "\xff", "model, offset"},
           {Model("", Wire().Bytes(7, "").bytes()), "graph, offset 12: expected one, got two"},
           {Model("", Wire().Integer(1, 8).bytes()),
            "ir_version, offset 11: expected one, got two"},
           {Model("", Wire().Message(8, Wire().Integer(2, 17)).bytes()),
            "opset_import[1], offset 0: expected one version of domain \"\", got 18 and 17"},
           {Model("", Wire().Message(8, Wire().Bytes(1, "ai.onnx").Integer(2, 17)).bytes()),
            "expected one version of domain"},
           {Model("", Wire().Message(8, Wire().Bytes(1, "z")).bytes()), "at least 1, got 0"},
           {Model("", Wire().Integer(7, 1).bytes()), "graph, offset 11: expected a string or "},
           {Model("", Wire().Integer(9, 1).bytes()), "expected a field of the format, got one of "},
           {Model("", Wire().Integer(99, 1).bytes()), "got one of number 99"},
           {Model("", "\x0b\x0c"), "expected a type of 0, 1, 2 or 5, got 3"},
           {Model("", std::string("\x88\x80\x80\x80\x80\x00\x01", 7)), "more than five bytes"},
           {Model("", Wire().Bytes(14, entry).bytes()), "metadata_props[0].key, offset"},
           {Model(Wire().Bytes(1, "").bytes()),
            "graph.node[0], offset 6: expected a field op_type"},
           {Node(Wire().Bytes(3, std::string("a\0", 2)).bytes()), "a name without zero bytes"},
           {Node(Wire().Bytes(5, "").bytes()),
            "node[0].attribute[0], offset 12: expected a field name"},
           {Attribute(""), "expected a field type, got none"},
           {Attribute(Wire().Integer(20, 15).bytes()), "expected a number of 0 to 14, got 15"},
           {Attribute(Wire().Integer(20, 4).bytes()), "expected a field t, as its type TENSOR has"},
           {Attribute(Wire().Integer(3, 1).Integer(20, 1).bytes()),
            "expected a field f, as its type FLOAT has, got i"},
           {Attribute(Wire().Integer(3, 1).Float(2, 1).Integer(20, 1).bytes()),
            "expected one value, got a second one beside i"},
           {Attribute(Wire().Integer(3, 1).Integer(3, 1).Integer(20, 2).bytes()), "got two"},
           {Attribute(Wire().Bytes(6, "").Bytes(6, "").Integer(20, 5).bytes()), "got two"},
           {Attribute(Wire().Float(8, 1).Integer(20, 7).bytes()),
            "expected an integer, got 4 bytes"},
           {Attribute(Wire().Bytes(7, "abc").Integer(20, 6).bytes()), "numbers of 4 bytes, got 3"},
           {Attribute(Wire().Bytes(21, "b").Integer(3, 1).Integer(20, 2).bytes()),
            "expected no value beside ref_attr_name, got one of field i"},
           {Node(Wire()
                     .Message(5, Wire().Bytes(1, "a").Integer(20, 2))
                     .Message(5, Wire().Bytes(1, "a").Integer(20, 2))
                     .bytes()),
            "expected different attributes, got \"a\" twice"},
           {Type(Wire().Bytes(1, "").Bytes(8, "").bytes()), "expected one type, got two"},
           {Type(Wire().Message(1, Wire().Integer(1, 29)).bytes()), "0 to 28, got 29"},
           {Type(Wire().Message(1, Wire().Integer(1, int64_t{1} << 32)).bytes()),
            "input[0].type.tensor_type.elem_type, offset 14: expected a number of 32 bits"},
           {Type(Wire()
                     .Message(1, Wire().Message(
                                     2, Wire().Message(1, Wire().Integer(1, 2).Bytes(2, "n"))))
                     .bytes()),
            "shape.dim[0].dim_param, offset"}}) {
    EXPECT_THAT(ErrorOf(bytes), HasSubstr(expected));
  }
}

TEST(OnnxReadTest, RefusesTensorsThatAreWrong) {
  const auto f32 = [](const std::string& more) {
    return Initializer(Wire().Integer(1, 2).Integer(2, 1).bytes() + more);
  };
  const std::string eight(8, '\0');
  const auto outside = [&](const std::vector<std::pair<std::string, std::string>>& entries) {
    WireWriter wire;
    for (const auto& [key, value] : entries) {
      wire.Message(13, Wire().Bytes(1, key).Bytes(2, value));
    }
    return f32(wire.Integer(14, 1).bytes());
  };
  for (const auto& [bytes, expected] : std::vector<std::pair<std::string, std::string>>{
           {f32(Wire().Bytes(9, "1234567").bytes()), "raw_data, offset 6: expected 8 bytes"},
           {f32(Wire().Bytes(9, "123456789").bytes()),
            "expected 8 bytes of elements for [2], got 9"},
           {f32(""), "expected 8 bytes of elements for [2], got 0"},
           {f32(Wire().Float(4, 1).bytes()), "dims, offset 6: expected 2 numbers for [2], got 1"},
           {f32(Wire().Bytes(9, eight).Bytes(4, eight).bytes()),
            "in one field, got them in several"},
           {f32(Wire().Bytes(4, eight).Integer(7, 1).bytes()), "got them in a second one"},
           {f32(Wire().Integer(7, 1).Integer(7, 1).bytes()),
            "type FLOAT in field 4, got them in field 7"},
           {f32(Wire().Bytes(6, "a").bytes()), "expected none for type FLOAT"},
           {f32(Wire().Bytes(3, "").bytes()), "segment, offset"},
           {f32(Wire().Integer(14, 2).bytes()), "data_location, offset 14: expected 0 or 1, got 2"},
           {f32(Wire().Bytes(9, eight).Bytes(13, "").bytes()), "where data_location is EXTERNAL"},
           {outside({}), "expected a location, got none"},
           {outside({{"location", "a"}, {"location", "b"}}), "expected one location, got two"},
           {outside({{"location", "a"}, {"offset", " 8"}}), "offset: expected digits"},
           {outside({{"location", "a"}, {"offset", "1_6"}}), "offset: expected digits"},
           {outside({{"location", "a"}, {"offset", "-1"}}), "offset: expected digits"},
           {outside({{"location", "a"}, {"offset", "9223372036854775808"}}), "below 2^63"},
           {outside({{"location", "a"}, {"length", "4"}}), "length: expected the 8 bytes"},
           {outside({{"location", "a"}, {"key", ""}}), "checksum or basepath, got \"key\""},
           {Initializer(Wire().Integer(2, 0).bytes()), "a type of the format, 1 to 28, got 0"},
           {Initializer(Wire().Integer(2, 29).bytes()), "a type of the format, 1 to 28, got 29"},
           {Initializer(Wire().Integer(1, -1).Integer(2, 1).bytes()), "got [-1]"},
           {Initializer(Wire().Integer(1, int64_t{1} << 62).Integer(1, 0).Integer(2, 1).bytes()),
            "expected sizes of at most 2^60 bits"},
           {Initializer(Wire().Integer(1, 2).Integer(2, 8).Bytes(6, "a").bytes()),
            "expected 2 words, got 1"},
           {Initializer(Wire().Integer(2, 8).Bytes(9, "a").bytes()), "the words of a tensor"},
           {Initializer(Wire().Bytes(1, std::string(33, '\1')).Integer(2, 1).bytes()),
            "expected at most 32 dimensions"},
           {Initializer(Wire().Integer(1, 3).Integer(2, 22).Bytes(5, "\1").bytes()),
            "expected 2 numbers for [3], got 1"}}) {
    EXPECT_THAT(ErrorOf(bytes), HasSubstr(expected));
    EXPECT_THAT(ErrorOf(bytes), HasSubstr("DATA_LOSS: x.onnx: graph.initializer[0]"));
  }
}

// Graphs in each other, `depth` of them below the model's.
std::string Nested(int depth) {
  std::string graph;
  for (int i = 0; i < depth; ++i) {
    const auto attribute = Wire().Bytes(1, "g").Bytes(6, graph).Integer(20, 5);
    graph = Wire().Message(1, Wire().Bytes(4, "If").Message(5, attribute)).bytes();
  }
  return Model(graph);
}

TEST(OnnxReadTest, KeepsToItsLimits) {
  EXPECT_EQ(ErrorOf(Nested(16)), "none");
  EXPECT_THAT(ErrorOf(Nested(17)), HasSubstr("UNIMPLEMENTED: x.onnx: graph.node[0].attribute[0]"));
  EXPECT_THAT(ErrorOf(Nested(16), {.max_depth = 20}), HasSubstr("limits.max_depth"));
  std::string type = Wire().Bytes(1, "").bytes();
  for (int i = 0; i < 1000; ++i) type = Wire().Message(4, Wire().Bytes(1, type)).bytes();
  EXPECT_THAT(ErrorOf(Type(type)), HasSubstr("limits.max_depth"));
  const std::string tensor = Initializer(Wire().Integer(1, 0).Integer(2, 1).bytes());
  EXPECT_THAT(ErrorOf(tensor, {.max_tensors = 0}), HasSubstr("limits.max_tensors"));
  EXPECT_THAT(ErrorOf(Node(""), {.max_name_bytes = 1}), HasSubstr("limits.max_name_bytes"));
  // Empty attributes: two bytes of a file each.
  std::string values;
  for (int i = 0; i < 10000; ++i) values += Wire().Bytes(11, "").bytes();
  EXPECT_THAT(ErrorOf(Model(values), {.max_metadata_bytes = 100000}),
              HasSubstr("limits.max_metadata_bytes"));
}

TEST(OnnxReadTest, RefusesWhatIsCut) {
  const std::string whole = Initializer(Wire().Integer(1, 1).Integer(2, 1).Float(4, 1).bytes());
  ASSERT_EQ(ErrorOf(whole), "none");
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_NE(ErrorOf(whole.substr(0, n)), "none") << n;
}

TEST(OnnxReadTest, WritesWhatItReads) {
  const std::string bytes = Attribute(Wire().Integer(8, 5).Integer(8, -1).Integer(20, 7).bytes());
  const std::string once = *FormatOnnxModel(Parsed(bytes));
  EXPECT_EQ(*FormatOnnxModel(Parsed(once)), once);
  const std::string path = TempPath("written.onnx");
  ASSERT_TRUE(WriteOnnxModel(path, Parsed(bytes)).ok());
  const absl::StatusOr<OnnxModel> read = ReadOnnxModel(path);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->graph.nodes.at(0).op_type, "Op");
  EXPECT_TRUE(read->folder.has_value());
  EXPECT_EQ(ReadOnnxModel(TempPath("none.onnx")).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace firn::io::internal
