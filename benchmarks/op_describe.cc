// The description of a case:
//   {"operation": "pad", "case": "32x64 images", "internal": "", "without_vectors": "",
//    "random": false, "dtypes": ["f32", ...], "layouts": ["contiguous", ...],
//    "inputs": [{"name": "x", "dtype": "f64", "shape": [32, 64, 32, 32], "file": "...",
//                "inout": false, "wanted": true}],
//    "attrs": {"pad": [1, 1, 1, 1], "mode": "reflect"}, "defaults": {"value": 0}}
// Names are those of the golden cases (tests/golden/README.md), and so are the words that stand for
// enumerators; `attrs` holds what differs from the default.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "benchmarks/op_case.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"

namespace firn::benchmarks {
namespace {

using internal::JsonString;

// Python's JSON has words for NaN and the infinities.
std::string Number(double v) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v > 0 ? "Infinity" : "-Infinity";
  return absl::StrFormat("%.17g", v);
}

// The attributes by name, as JSON.
class Reader final : public AttrVisitor {
 public:
  using AttrVisitor::Field;
  void Field(const char* name, int64_t& v) override { fields[name] = absl::StrCat(v); }
  void Field(const char* name, double& v) override { fields[name] = Number(v); }
  void Field(const char* name, bool& v) override { fields[name] = v ? "true" : "false"; }
  void Field(const char* name, std::string& v) override { fields[name] = JsonString(v); }
  void Field(const char* name, std::vector<int64_t>& v) override {
    fields[name] = absl::StrCat("[", absl::StrJoin(v, ", "), "]");
  }
  std::map<std::string, std::string> fields;

 private:
  void Enumerator(const char* name, int64_t& v, const WordList& words) override {
    const char* const word = words.WordFor(v);
    fields[name] = word != nullptr ? JsonString(word) : absl::StrCat(v);
  }
};

std::map<std::string, std::string> FieldsOf(AttrsRef attrs) {
  Reader reader;
  if (attrs.type() != nullptr) attrs.type()->visit(const_cast<void*>(attrs.data()), reader);
  return std::move(reader.fields);
}

std::string Object(const std::map<std::string, std::string>& fields) {
  return absl::StrCat("{",
                      absl::StrJoin(fields, ", ",
                                    [](std::string* out, const auto& field) {
                                      absl::StrAppend(out, JsonString(field.first), ": ",
                                                      field.second);
                                    }),
                      "}");
}

// Samples repeat after this many elements.
constexpr int64_t kPeriod = 65521;

// Writes the elements, once if they repeat.
absl::Status WriteElements(const Tensor& t, const std::string& path) {
  const Tensor rows = t.Contiguous();
  const char* data = rows.impl()->data;
  const auto size = static_cast<size_t>(rows.num_elements() * SizeOf(rows.dtype()));
  const auto period = std::min(size, static_cast<size_t>(kPeriod * SizeOf(rows.dtype())));
  const bool repeats = std::memcmp(data, data + period, size - period) == 0;
  std::ofstream file(path, std::ios::binary);
  file.write(data, static_cast<std::streamsize>(repeats ? period : size));
  file.close();
  FIRN_RETURN_IF(!file, Unavailable("cannot write ", path));
  return absl::OkStatus();
}

const char* Word(bool b) { return b ? "true" : "false"; }

}  // namespace

absl::StatusOr<std::string> OpCase::Describe(const std::string& folder) const {
  const std::vector<size_t> wanted = Wanted();
  std::vector<std::string> inputs, dtypes, layouts;
  for (size_t i = 0; i < sample().inputs.size(); ++i) {
    const Tensor& t = sample().inputs[i];
    if (!t.defined()) continue;
    const std::string path = absl::StrCat(folder, "/input", i);
    FIRN_RETURN_IF_ERROR(WriteElements(t, path));
    inputs.push_back(absl::StrFormat(
        "{\"name\": %s, \"dtype\": \"%s\", \"shape\": [%s], \"file\": %s, \"inout\": %s, "
        "\"wanted\": %s}",
        JsonString(NameOf(i)), DTypeName(t.dtype()), absl::StrJoin(t.shape().dims().span(), ", "),
        JsonString(path), Word(DeclOf(i).inout),
        Word(std::find(wanted.begin(), wanted.end(), i) != wanted.end())));
  }
  for (DType d : DTypes()) dtypes.push_back(JsonString(DTypeName(d)));
  for (const std::string& layout : Layouts()) layouts.push_back(JsonString(layout));
  const Attrs usual = DefaultAttrs(sample().attrs.ref().type());
  std::map<std::string, std::string> attrs = FieldsOf(sample().attrs.ref()),
                                     defaults = FieldsOf(usual.ref());
  std::erase_if(defaults, [&](const auto& field) { return attrs.at(field.first) != field.second; });
  std::erase_if(attrs, [&](const auto& field) { return defaults.contains(field.first); });
  return absl::StrFormat(
      "{\"operation\": %s, \"case\": %s, \"internal\": %s, \"without_vectors\": %s, "
      "\"random\": %s, \"dtypes\": [%s], \"layouts\": [%s], \"inputs\": [%s], \"attrs\": %s, "
      "\"defaults\": %s}",
      JsonString(samples_->declaration.name), JsonString(sample().name),
      JsonString(samples_->internal), JsonString(samples_->without_vectors),
      Word(samples_->random || (op_ != nullptr && op_->random)), absl::StrJoin(dtypes, ", "),
      absl::StrJoin(layouts, ", "), absl::StrJoin(inputs, ", "), Object(attrs), Object(defaults));
}

}  // namespace firn::benchmarks
