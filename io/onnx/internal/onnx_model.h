#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_MODEL_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_MODEL_H_

// An ONNX file as data: the messages of its format (github.com/onnx/onnx, IR.md) as plain values,
// independent of operators. Messages about devices are left out.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace firn::io::internal {

// Words by their names, in the file's order, each name once.
using OnnxEntries = std::vector<std::pair<std::string, std::string>>;

// Where the elements of a tensor lie in another file.
struct OnnxExternal {
  std::string location;  // below the model's folder
  std::optional<int64_t> offset, length;
  std::string checksum, basepath;  // never used
};

struct OnnxTensor {
  // Where elements are: nowhere (there are none), as they lie in memory (`bytes`), as numbers of
  // typed fields in the tensor's message (`bytes`), words, or in another file.
  enum class Place { kNone, kRaw, kTyped, kWords, kExternal };

  std::string name, doc;
  std::vector<int64_t> dims;  // never negative; their product is checked
  int type = 0;               // an OnnxElement's id
  Place place = Place::kNone;
  std::string_view bytes;
  std::shared_ptr<const void> owner;  // of `bytes`
  std::vector<std::string> words;
  std::optional<OnnxExternal> external;
  OnnxEntries metadata;
};

// Elements that are not zero: `indices` has a linear index or one of each dimension for them.
struct OnnxSparseTensor {
  OnnxTensor values, indices;  // the tensor's name is that of `values`
  std::vector<int64_t> dims;
};

// A size, the name of one that is not known yet, or neither.
struct OnnxDim {
  std::optional<int64_t> value;
  std::string name, denotation;
};

struct OnnxType {
  enum class Kind { kNone, kTensor, kSparseTensor, kSequence, kMap, kOptional, kOpaque };

  Kind kind = Kind::kNone;
  int element = 0;                            // of tensors, and of a map's keys
  std::optional<std::vector<OnnxDim>> shape;  // of tensors; nothing: not even the rank is known
  std::vector<OnnxType> of;                   // of sequences, maps' values, optionals: one or none
  std::string denotation, domain, name;       // the last two of kOpaque
};

struct OnnxValueInfo {
  std::string name, doc;
  OnnxType type;
  OnnxEntries metadata;
};

struct OnnxGraph;

// The numbers are the format's.
enum class OnnxAttributeType {
  kUndefined,
  kFloat,
  kInt,
  kString,
  kTensor,
  kGraph,
  kFloats,
  kInts,
  kStrings,
  kTensors,
  kGraphs,
  kSparseTensor,
  kSparseTensors,
  kType,
  kTypes,
};

struct OnnxAttribute {
  std::string name, doc;
  OnnxAttributeType type = OnnxAttributeType::kUndefined;
  // In a function: the attribute of its caller that this one is. `value` holds nothing then.
  std::string reference;
  // What goes with `type`: a tensor, a graph and so on are a vector of one.
  std::variant<std::monostate, float, int64_t, std::string, std::vector<float>,
               std::vector<int64_t>, std::vector<std::string>, std::vector<OnnxTensor>,
               std::vector<OnnxGraph>, std::vector<OnnxSparseTensor>, std::vector<OnnxType>>
      value;
};

// "" stands for an input or output that is not there. The domain "ai.onnx" is "".
struct OnnxNode {
  std::string name, op_type, domain, overload, doc;
  std::vector<std::string> inputs, outputs;
  std::vector<OnnxAttribute> attributes;
  OnnxEntries metadata;
};

struct OnnxAnnotation {
  std::string tensor;
  OnnxEntries parameters;
};

struct OnnxGraph {
  std::string name, doc;
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> initializers;
  std::vector<OnnxSparseTensor> sparse_initializers;
  std::vector<OnnxValueInfo> inputs, outputs, values;
  std::vector<OnnxAnnotation> quantization;
  OnnxEntries metadata;
};

struct OnnxOpset {
  std::string domain;  // never "ai.onnx"
  int64_t version = 0;
};

struct OnnxFunction {
  std::string name, domain, overload, doc;
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> attributes;  // that a caller gives,
  std::vector<OnnxAttribute> defaults;  // and that it may give
  std::vector<OnnxNode> nodes;
  std::vector<OnnxOpset> opsets;
  std::vector<OnnxValueInfo> values;
  OnnxEntries metadata;
};

struct OnnxTraining {
  std::optional<OnnxGraph> initialization, algorithm;
  OnnxEntries initialization_binding, update_binding;
};

struct OnnxModel {
  int64_t ir_version = 0, model_version = 0;
  std::string producer, producer_version, domain, doc;
  std::vector<OnnxOpset> opsets;
  OnnxGraph graph;
  std::vector<OnnxFunction> functions;
  std::vector<OnnxTraining> training;
  OnnxEntries metadata;

  std::string file;                   // as messages name it
  std::optional<std::string> folder;  // that may hold elements; nothing: there are none outside
};

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_MODEL_H_
