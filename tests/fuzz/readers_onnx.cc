// Models of other frameworks.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/io/onnx/internal/onnx_check.h"
#include "firn/io/onnx/internal/onnx_read.h"
#include "firn/io/onnx/internal/onnx_tensor.h"
#include "firn/io/onnx/internal/onnx_write.h"
#include "firn/io/onnx/onnx_info.h"
#include "firn/io/onnx/onnx_status.h"
#include "firn/io/wire/internal/wire.h"
#include "firn/tensor/error.h"
#include "tests/fuzz/reader.h"
#include "tests/fuzz/scratch.h"

namespace firn::io {
namespace {

using testing::kFuzzLimits;

// A model that was read is written and read again, and must be equal. If it makes a network, the
// network is made.
FIRN_FUZZ_READER(onnx) {
  absl::StatusOr<internal::OnnxModel> model = internal::ParseOnnxModel(bytes, "fuzz", kFuzzLimits);
  if (!model.ok()) return false;
  TryParseOnnx(bytes, "fuzz", {.limits = kFuzzLimits, .max_nodes = 1000}).status().IgnoreError();
  internal::OnnxElements elements("fuzz", {}, kFuzzLimits);
  for (const internal::OnnxTensor& tensor : model->graph.initializers) {
    elements.Read(tensor, true).IgnoreError();
  }
  internal::CheckOnnxModel(&*model).IgnoreError();
  const absl::StatusOr<std::string> once = internal::FormatOnnxModel(*model);
  if (!once.ok()) return true;  // a number in a typed field that is no element
  const auto again = internal::ParseOnnxModel(*once, "fuzz");
  testing::FuzzCheck(again.ok() && *internal::FormatOnnxModel(*again) == *once,
                     "a model reads back as it was written");
  return true;
}

FIRN_FUZZ_SEEDS(onnx) {
  using internal::WireWriter;
  const auto wire = [] { return WireWriter(); };
  const auto type = wire().Message(
      1, wire().Integer(1, 1).Message(
             2, wire().Message(1, wire().Bytes(2, "n")).Message(1, wire().Integer(1, 3))));
  const auto inner = wire().Message(1, wire().Bytes(1, "x").Bytes(2, "a").Bytes(4, "Relu"));
  const auto node = wire()
                        .Bytes(1, "x")
                        .Bytes(1, "w")
                        .Bytes(2, "y")
                        .Bytes(4, "Op")
                        .Message(5, wire().Bytes(1, "i").Bytes(8, "\1\2").Integer(20, 7))
                        .Message(5, wire().Bytes(1, "g").Message(6, inner).Integer(20, 5))
                        .Message(5, wire().Bytes(1, "f").Float(2, 0.5f).Integer(20, 1));
  const auto typed = wire().Integer(1, 3).Integer(2, 22).Bytes(5, "\x7f\x02").Bytes(8, "v");
  const auto graph = wire()
                         .Message(1, node)
                         .Bytes(2, "g")
                         .Message(5, wire().Integer(1, 1).Integer(2, 1).Bytes(8, "w").Bytes(
                                         9, std::string("\0\0\x80\x3f", 4)))
                         .Message(5, typed)
                         .Message(11, wire().Bytes(1, "x").Message(2, type))
                         .Message(12, wire().Bytes(1, "y").Message(2, type));
  const auto function = wire().Bytes(1, "f").Bytes(4, "p").Bytes(5, "p").Bytes(10, "d");
  // A model that makes a network: a call of a function, and a branch that a constant chooses.
  const auto relu = wire().Bytes(1, "p").Bytes(2, "q").Bytes(4, "Relu");
  const auto rectified = wire()
                             .Bytes(1, "f")
                             .Bytes(4, "p")
                             .Bytes(5, "q")
                             .Message(7, relu)
                             .Message(9, wire().Bytes(1, "").Integer(2, 18))
                             .Bytes(10, "d");
  const auto branch =
      wire()
          .Message(1, wire().Bytes(1, "a").Bytes(1, "w").Bytes(2, "b").Bytes(4, "Add"))
          .Message(12, wire().Bytes(1, "b"));
  const auto chosen =
      wire()
          .Bytes(1, "c")
          .Bytes(2, "y")
          .Bytes(4, "If")
          .Message(5, wire().Bytes(1, "then_branch").Message(6, branch).Integer(20, 5))
          .Message(5, wire().Bytes(1, "else_branch").Message(6, branch).Integer(20, 5));
  const auto network =
      wire()
          .Message(1, wire().Bytes(1, "x").Bytes(2, "a").Bytes(4, "f").Bytes(7, "d"))
          .Message(1, chosen)
          .Bytes(2, "g")
          .Message(5, wire().Integer(2, 1).Bytes(8, "w").Bytes(9, std::string("\0\0\x80\x3f", 4)))
          .Message(5, wire().Integer(2, 9).Bytes(8, "c").Bytes(9, "\1"))
          .Message(11, wire().Bytes(1, "x").Message(2, type))
          .Message(12, wire().Bytes(1, "y").Message(2, type));
  return {wire()
              .Integer(1, 10)
              .Message(7, network)
              .Message(8, wire().Bytes(1, "").Integer(2, 18))
              .Message(8, wire().Bytes(1, "d").Integer(2, 1))
              .Message(25, rectified)
              .bytes(),
          wire()
              .Integer(1, 10)
              .Bytes(2, "seed")
              .Message(7, graph)
              .Message(8, wire().Bytes(1, "").Integer(2, 18))
              .Message(25, function)
              .bytes()};
}

// What `firn onnx info` tells.
FIRN_FUZZ_READER(onnx_info) {
  try {
    ReadOnnxInfo(testing::InMemory(bytes), kFuzzLimits);
    return true;
  } catch (const Error&) {
    return false;
  }
}

FIRN_FUZZ_SEEDS(onnx_info) { return testing::Seeds(testing::FuzzReaders().at("onnx")); }

// Inputs and results beside a model of ONNX's own tests, which `firn onnx check` reads.
FIRN_FUZZ_READER(onnx_tensor) {
  const auto tensor = internal::ReadOnnxTensorFile(testing::InMemory(bytes), kFuzzLimits);
  return tensor.ok() &&
         internal::OnnxElements("fuzz", std::nullopt, kFuzzLimits).Read(*tensor, true).ok();
}

FIRN_FUZZ_SEEDS(onnx_tensor) {
  using internal::WireWriter;
  const auto raw = WireWriter().Integer(1, 1).Integer(1, 2).Integer(2, 1).Bytes(8, "x").Bytes(
      9, std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  const auto typed = WireWriter().Integer(1, 2).Integer(2, 7).Bytes(7, "\1\2").Bytes(8, "y");
  return {raw.bytes(), typed.bytes()};
}

}  // namespace
}  // namespace firn::io
