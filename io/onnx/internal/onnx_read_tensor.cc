// Tensors, without reading any elements.
#include <limits>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/onnx/internal/onnx_elements.h"
#include "firn/io/onnx/internal/onnx_message.h"

namespace firn::io::internal {
namespace {

using firn::inner::internal::JsonString;

// The fields of a tensor's message that an OnnxTensor does not keep.
struct Stored {
  bool raw = false, outside = false;
  int typed = 0;  // the field with numbers
  int64_t numbers = 0;
  OnnxEntries external;
};

// One field of numbers, counted; it is read when the elements are.
absl::Status CountTyped(OnnxField& field, const char* name, WireType type, Stored* stored) {
  const int64_t before = stored->numbers;
  FIRN_RETURN_IF_ERROR(field.Count(name, type, &stored->numbers));
  if (stored->numbers == before) return absl::OkStatus();
  FIRN_RETURN_IF(stored->typed != 0 && stored->typed != field.number(),
                 field.Fail(name, "expected elements in one field, got them in a second one"));
  stored->typed = field.number();
  return absl::OkStatus();
}

// Digits and nothing else: Python's own reader takes "1_6" and " 8".
std::optional<int64_t> Digits(std::string_view text) {
  int64_t value = 0;
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos ||
      !absl::SimpleAtoi({text.data(), text.size()}, &value)) {
    return {};
  }
  return value;
}

absl::StatusOr<OnnxExternal> ReadExternal(const OnnxSource& source, const OnnxPlace& place,
                                          std::string_view bytes, const OnnxEntries& entries) {
  OnnxExternal external;
  std::vector<std::string_view> seen;
  for (const auto& [key, value] : entries) {
    const OnnxPlace entry = {&place, "external_data"};
    for (const std::string_view other : seen) {
      FIRN_RETURN_IF(other == key, OnnxFault(source, entry, bytes,
                                             absl::StrCat("expected one ", key, ", got two")));
    }
    seen.push_back(key);
    if (key == "location") {
      external.location = value;
    } else if (key == "checksum") {
      external.checksum = value;
    } else if (key == "basepath") {
      external.basepath = value;
    } else if (key == "offset" || key == "length") {
      std::optional<int64_t>& number = key == "offset" ? external.offset : external.length;
      number = Digits(value);
      FIRN_RETURN_IF(!number.has_value(),
                     OnnxFault(source, entry, bytes,
                               absl::StrCat(key, ": expected digits of a number below 2^63, got ",
                                            JsonString(value.substr(0, 40)))));
    } else {
      return OnnxFault(source, entry, bytes,
                       absl::StrCat("expected location, offset, length, checksum or basepath, got ",
                                    JsonString(key)));
    }
  }
  FIRN_RETURN_IF(external.location.empty(), OnnxFault(source, {&place, "external_data"}, bytes,
                                                      "expected a location, got none"));
  return external;
}

// Checks that elements are in one place, and that their number fits the sizes.
absl::Status CheckElements(const OnnxSource& source, const OnnxPlace& place, std::string_view bytes,
                           const Stored& stored, OnnxTensor* out) {
  const auto fault = [&](const char* field, const auto&... parts) {
    return OnnxFault(source, {&place, field}, bytes, absl::StrCat(parts...));
  };
  const OnnxElement* element = FindOnnxElement(out->type);
  FIRN_RETURN_IF(element == nullptr,
                 fault("data_type", "expected a type of the format, 1 to 28, got ", out->type));
  const std::optional<int64_t> n = OnnxCount(*element, out->dims);
  FIRN_RETURN_IF(!n.has_value(),
                 fault("dims", "expected sizes of at most 2^60 bits of elements, got [",
                       absl::StrJoin(out->dims, ", "), "]"));
  FIRN_RETURN_IF((stored.raw ? 1 : 0) + (stored.typed != 0 ? 1 : 0) + (out->words.empty() ? 0 : 1) +
                         (stored.outside ? 1 : 0) >
                     1,
                 fault("data_type", "expected elements in one field, got them in several"));
  FIRN_RETURN_IF(!stored.outside && !stored.external.empty(),
                 fault("external_data", "expected it where data_location is EXTERNAL"));
  if (element->bits == 0) {
    FIRN_RETURN_IF(
        stored.raw || stored.typed != 0 || stored.outside,
        fault("string_data", "expected the words of a tensor of type STRING here alone"));
    FIRN_RETURN_IF(static_cast<int64_t>(out->words.size()) != *n,
                   fault("string_data", "expected ", *n, " words, got ", out->words.size()));
    out->place = OnnxTensor::Place::kWords;
    return absl::OkStatus();
  }
  if (stored.outside) {
    out->place = OnnxTensor::Place::kExternal;
    const std::optional<int64_t>& length = out->external->length;
    FIRN_RETURN_IF(length.has_value() && *length != OnnxBytes(*element, *n),
                   fault("external_data", "length: expected the ", OnnxBytes(*element, *n),
                         " bytes of its sizes, got ", *length));
    return absl::OkStatus();
  }
  FIRN_RETURN_IF(!out->words.empty(),
                 fault("string_data", "expected none for type ", element->word));
  if (stored.typed != 0) {
    out->place = OnnxTensor::Place::kTyped;
    FIRN_RETURN_IF(stored.typed != element->field,
                   fault("data_type", "expected elements of type ", element->word, " in field ",
                         element->field, ", got them in field ", stored.typed));
    FIRN_RETURN_IF(stored.numbers != OnnxNumbers(*element, *n),
                   fault("dims", "expected ", OnnxNumbers(*element, *n), " numbers for [",
                         absl::StrJoin(out->dims, ", "), "], got ", stored.numbers));
    out->bytes = bytes;
    return absl::OkStatus();
  }
  const auto got = static_cast<int64_t>(out->bytes.size());
  FIRN_RETURN_IF(got != OnnxBytes(*element, *n),
                 fault(stored.raw ? "raw_data" : "dims", "expected ", OnnxBytes(*element, *n),
                       " bytes of elements for [", absl::StrJoin(out->dims, ", "), "], got ", got));
  out->place = stored.raw ? OnnxTensor::Place::kRaw : OnnxTensor::Place::kNone;
  return absl::OkStatus();
}

absl::Status ReadPlace(OnnxField& field, Stored* stored) {
  int64_t place = 0;
  FIRN_RETURN_IF_ERROR(field.Integer("data_location", &place));
  FIRN_RETURN_IF(place != 0 && place != 1,
                 field.Fail("data_location", "expected 0 or 1, got ", place));
  stored->outside = place == 1;
  return absl::OkStatus();
}

absl::Status ReadDims(OnnxField& field, std::vector<int64_t>* dims) {
  constexpr size_t kMost = 32;
  FIRN_RETURN_IF_ERROR(field.Integers("dims", dims));
  FIRN_RETURN_IF(dims->size() > kMost,
                 field.Fail("dims", "expected at most ", kMost, " dimensions, got more"));
  return absl::OkStatus();
}

absl::Status ReadTensorField(OnnxField& field, Stored* stored, OnnxTensor* out) {
  switch (field.number()) {
    case 1:
      return ReadDims(field, &out->dims);
    case 2:
      return field.Integer32("data_type", &out->type);
    case 3:
      return field.Fail("segment", "expected whole tensors, got a segment of one");
    case 4:
      return CountTyped(field, "float_data", WireType::kFixed32, stored);
    case 5:
      return CountTyped(field, "int32_data", WireType::kVarint, stored);
    case 6:
      return field.Strings("string_data", &out->words);
    case 7:
      return CountTyped(field, "int64_data", WireType::kVarint, stored);
    case 8:
      return field.Name("name", &out->name);
    case 9:
      stored->raw = true;
      return field.Bytes("raw_data", &out->bytes);
    case 10:
      return CountTyped(field, "double_data", WireType::kFixed64, stored);
    case 11:
      return CountTyped(field, "uint64_data", WireType::kVarint, stored);
    case 12:
      return field.Text("doc_string", &out->doc);
    case 13:
      return field.Entry("external_data", &stored->external);
    case 14:
      return ReadPlace(field, stored);
    case 16:
      return field.Entry("metadata_props", &out->metadata);
  }
  return field.Unknown();
}

}  // namespace

absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxTensor* out) {
  FIRN_RETURN_IF(--source->tensors_left < 0,
                 ResourceExhausted(source->name, ": more than the ", source->limits.max_tensors,
                                   " tensors allowed (limits.max_tensors)"));
  Stored stored;
  FIRN_RETURN_IF_ERROR(ForEachOnnxField(source, place, bytes, [&](OnnxField& field) {
    return ReadTensorField(field, &stored, out);
  }));
  out->owner = source->owner;
  if (stored.outside) {
    FIRN_ASSIGN_OR_RETURN(out->external, ReadExternal(*source, place, bytes, stored.external));
  }
  return CheckElements(*source, place, bytes, stored, out);
}

absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxSparseTensor* out) {
  bool has_values = false, has_indices = false;
  FIRN_RETURN_IF_ERROR(ForEachOnnxField(source, place, bytes, [&](OnnxField& field) {
    switch (field.number()) {
      case 1:
        has_values = true;
        return field.Message("values", &out->values);
      case 2:
        has_indices = true;
        return field.Message("indices", &out->indices);
      case 3:
        return ReadDims(field, &out->dims);
    }
    return field.Unknown();
  }));
  const auto fault = [&](const char* field, const auto&... parts) {
    return OnnxFault(*source, {&place, field}, bytes, absl::StrCat(parts...));
  };
  FIRN_RETURN_IF(!has_values || !has_indices,
                 fault(has_values ? "indices" : "values", "expected a tensor, got none"));
  const auto& values = out->values.dims;
  const auto& indices = out->indices.dims;
  FIRN_RETURN_IF(values.size() != 1, fault("values", "expected 1 dimension, got ", values.size()));
  const auto rank = static_cast<int64_t>(out->dims.size());
  FIRN_RETURN_IF(out->indices.type != OnnxElementOf(DType::kI64) || indices.empty() ||
                     indices.size() > 2 || indices[0] != values[0] ||
                     (indices.size() == 2 && indices[1] != rank),
                 fault("indices", "expected INT64 elements of shape [", values[0], "] or [",
                       values[0], ", ", rank, "], got others"));
  const OnnxElement* element = FindOnnxElement(out->values.type);
  const std::optional<int64_t> n = OnnxCount(*element, out->dims);
  FIRN_RETURN_IF(rank == 0 || n.value_or(0) == 0,
                 fault("dims", "expected sizes of at most 2^60 bits of elements, got [",
                       absl::StrJoin(out->dims, ", "), "]"));
  return absl::OkStatus();
}

}  // namespace firn::io::internal
