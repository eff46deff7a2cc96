// Models, graphs, nodes, functions: one function a message, one line a field.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/onnx/internal/onnx_message.h"

namespace firn::io::internal {
namespace {

using firn::inner::internal::JsonString;

// The format's two words for the domain of the operators that it defines.
void NormalizeDomain(std::string* domain) {
  if (*domain == "ai.onnx") domain->clear();
}

// At most one for each domain, unless they are equal.
absl::Status CheckOpsets(const OnnxSource& source, const OnnxPlace& place, std::string_view bytes,
                         std::vector<OnnxOpset>* opsets) {
  for (size_t i = 0; i < opsets->size(); ++i) {
    const OnnxOpset& opset = (*opsets)[i];
    FIRN_RETURN_IF(opset.version < 1,
                   OnnxFault(source, {&place, "opset_import", static_cast<int64_t>(i)}, bytes,
                             absl::StrCat("version: expected at least 1, got ", opset.version)));
    for (size_t j = 0; j < i; ++j) {
      FIRN_RETURN_IF(
          (*opsets)[j].domain == opset.domain && (*opsets)[j].version != opset.version,
          OnnxFault(source, {&place, "opset_import", static_cast<int64_t>(i)}, bytes,
                    absl::StrCat("expected one version of domain ", JsonString(opset.domain),
                                 ", got ", (*opsets)[j].version, " and ", opset.version)));
    }
  }
  return absl::OkStatus();
}

// There are few, so a search through all of them for each is not slow.
absl::Status AddOpset(OnnxField& field, std::vector<OnnxOpset>* opsets) {
  constexpr size_t kMost = 1000;
  FIRN_RETURN_IF(opsets->size() == kMost,
                 field.Fail("opset_import", "expected at most ", kMost, ", got more"));
  return field.Messages("opset_import", opsets);
}

absl::Status CheckNames(const OnnxSource& source, const OnnxPlace& place, std::string_view bytes,
                        const std::vector<OnnxAttribute>& attributes) {
  absl::flat_hash_set<std::string_view> names;
  for (const OnnxAttribute& attribute : attributes) {
    FIRN_RETURN_IF(!names.insert(attribute.name).second,
                   OnnxFault(source, place, bytes,
                             absl::StrCat("expected different attributes, got ",
                                          JsonString(attribute.name), " twice")));
  }
  return absl::OkStatus();
}

absl::Status CheckModel(const OnnxSource& source, const OnnxPlace& place, std::string_view bytes,
                        bool has_graph, OnnxModel* out) {
  constexpr int64_t kOldest = 3, kNewest = 14;
  FIRN_RETURN_IF(out->ir_version == 0 || !has_graph,
                 OnnxFault(source, place, bytes,
                           absl::StrCat("expected a field ", has_graph ? "ir_version" : "graph",
                                        ", got none: not an ONNX model")));
  FIRN_RETURN_IF(out->ir_version < kOldest || out->ir_version > kNewest,
                 Unimplemented(source.name, ": ir_version: expected ", kOldest, " to ", kNewest,
                               ", got ", out->ir_version));
  FIRN_RETURN_IF(out->opsets.empty(),
                 OnnxFault(source, place, bytes, "expected an opset_import, got none"));
  return CheckOpsets(source, place, bytes, &out->opsets);
}

template <class T>
absl::Status Optional(OnnxField& field, const char* name, std::optional<T>* out) {
  return field.Message(name, &out->emplace());
}

}  // namespace

absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxModel* out) {
  bool has_graph = false;
  FIRN_RETURN_IF_ERROR(ForEachOnnxField(source, place, bytes, [&](OnnxField& field) {
    switch (field.number()) {
      case 1:
        return field.Integer("ir_version", &out->ir_version);
      case 2:
        return field.Text("producer_name", &out->producer);
      case 3:
        return field.Text("producer_version", &out->producer_version);
      case 4:
        return field.Name("domain", &out->domain);
      case 5:
        return field.Integer("model_version", &out->model_version);
      case 6:
        return field.Text("doc_string", &out->doc);
      case 7:
        has_graph = true;
        return field.Message("graph", &out->graph);
      case 8:
        return AddOpset(field, &out->opsets);
      case 14:
        return field.Entry("metadata_props", &out->metadata);
      case 20:
        return field.Messages("training_info", &out->training);
      case 25:
        return field.Messages("functions", &out->functions);
      case 26:
        return field.Skip("configuration", OnnxDevices::kConfiguration);
    }
    return field.Unknown();
  }));
  return CheckModel(*source, place, bytes, has_graph, out);
}

absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxOpset* out) {
  FIRN_RETURN_IF_ERROR(ForEachOnnxField(source, place, bytes, [&](OnnxField& field) {
    switch (field.number()) {
      case 1:
        return field.Name("domain", &out->domain);
      case 2:
        return field.Integer("version", &out->version);
    }
    return field.Unknown();
  }));
  NormalizeDomain(&out->domain);
  return absl::OkStatus();
}

absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxGraph* out) {
  constexpr int kMostGraphs = 16;  // deeper than any that was seen
  FIRN_RETURN_IF(source->graphs > kMostGraphs,
                 Unimplemented(source->name, ": ", place.ToString(), ": expected at most ",
                               kMostGraphs, " graphs in each other, got more"));
  ++source->graphs;
  FIRN_RETURN_IF_ERROR(ForEachOnnxField(source, place, bytes, [&](OnnxField& field) {
    switch (field.number()) {
      case 1:
        return field.Messages("node", &out->nodes);
      case 2:
        return field.Name("name", &out->name);
      case 5:
        return field.Messages("initializer", &out->initializers);
      case 10:
        return field.Text("doc_string", &out->doc);
      case 11:
        return field.Messages("input", &out->inputs);
      case 12:
        return field.Messages("output", &out->outputs);
      case 13:
        return field.Messages("value_info", &out->values);
      case 14:
        return field.Messages("quantization_annotation", &out->quantization);
      case 15:
        return field.Messages("sparse_initializer", &out->sparse_initializers);
      case 16:
        return field.Entry("metadata_props", &out->metadata);
    }
    return field.Unknown();
  }));
  --source->graphs;
  return absl::OkStatus();
}

absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxAnnotation* out) {
  return ForEachOnnxField(source, place, bytes, [&](OnnxField& field) {
    switch (field.number()) {
      case 1:
        return field.Name("tensor_name", &out->tensor);
      case 2:
        return field.Entry("quant_parameter_tensor_names", &out->parameters);
    }
    return field.Unknown();
  });
}

absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxNode* out) {
  FIRN_RETURN_IF_ERROR(ForEachOnnxField(source, place, bytes, [&](OnnxField& field) {
    switch (field.number()) {
      case 1:
        return field.Names("input", &out->inputs);
      case 2:
        return field.Names("output", &out->outputs);
      case 3:
        return field.Name("name", &out->name);
      case 4:
        return field.Name("op_type", &out->op_type);
      case 5:
        return field.Messages("attribute", &out->attributes);
      case 6:
        return field.Text("doc_string", &out->doc);
      case 7:
        return field.Name("domain", &out->domain);
      case 8:
        return field.Name("overload", &out->overload);
      case 9:
        return field.Entry("metadata_props", &out->metadata);
      case 10:
        return field.Skip("device_configurations", OnnxDevices::kNode);
    }
    return field.Unknown();
  }));
  NormalizeDomain(&out->domain);
  FIRN_RETURN_IF(out->op_type.empty(),
                 OnnxFault(*source, place, bytes, "expected a field op_type, got none"));
  return CheckNames(*source, place, bytes, out->attributes);
}

absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxFunction* out) {
  FIRN_RETURN_IF_ERROR(ForEachOnnxField(source, place, bytes, [&](OnnxField& field) {
    switch (field.number()) {
      case 1:
        return field.Name("name", &out->name);
      case 4:
        return field.Names("input", &out->inputs);
      case 5:
        return field.Names("output", &out->outputs);
      case 6:
        return field.Names("attribute", &out->attributes);
      case 7:
        return field.Messages("node", &out->nodes);
      case 8:
        return field.Text("doc_string", &out->doc);
      case 9:
        return AddOpset(field, &out->opsets);
      case 10:
        return field.Name("domain", &out->domain);
      case 11:
        return field.Messages("attribute_proto", &out->defaults);
      case 12:
        return field.Messages("value_info", &out->values);
      case 13:
        return field.Name("overload", &out->overload);
      case 14:
        return field.Entry("metadata_props", &out->metadata);
    }
    return field.Unknown();
  }));
  NormalizeDomain(&out->domain);
  FIRN_RETURN_IF(out->name.empty(),
                 OnnxFault(*source, place, bytes, "expected a field name, got none"));
  FIRN_RETURN_IF_ERROR(CheckNames(*source, place, bytes, out->defaults));
  return CheckOpsets(*source, place, bytes, &out->opsets);
}

absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxTraining* out) {
  return ForEachOnnxField(source, place, bytes, [&](OnnxField& field) {
    switch (field.number()) {
      case 1:
        return Optional(field, "initialization", &out->initialization);
      case 2:
        return Optional(field, "algorithm", &out->algorithm);
      case 3:
        return field.Entry("initialization_binding", &out->initialization_binding);
      case 4:
        return field.Entry("update_binding", &out->update_binding);
    }
    return field.Unknown();
  });
}

}  // namespace firn::io::internal
