// A line is a list of words; the first says what the line is.

#include "tests/golden/vectors.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "firn/device/check.h"
#include "firn/device/inner.h"
#include "firn/tensor/from.h"

namespace firn::testing {
namespace {

DType DTypeNamed(const std::string& name) {
  const EnumWord* const found = WordList(kWordsOf<DType>).Find(name);
  FIRN_CHECK(found != nullptr, "unknown dtype ", name);
  return static_cast<DType>(found->value);
}

// "2x3", or "scalar".
Shape ShapeFrom(const std::string& text) {
  Dims dims;
  if (text != "scalar") {
    std::istringstream sizes(text);
    for (std::string size; std::getline(sizes, size, 'x');) dims.push_back(std::stoll(size));
  }
  return Shape(dims.span());
}

// The rest of a line: dtype, shape and values.
Tensor ReadTensor(std::istringstream& line) {
  std::string dtype, shape_text, word;
  line >> dtype >> shape_text;
  const Shape shape = ShapeFrom(shape_text);
  std::vector<std::string> words;
  while (line >> word) words.push_back(word);
  FIRN_CHECK(static_cast<int64_t>(words.size()) == shape.num_elements(), words.size(),
             " values for the shape ", shape_text);
  return VisitDType(DTypeNamed(dtype), [&]<class T>(TypeTag<T>) {
    std::vector<T> values;
    for (const std::string& w : words) {
      if constexpr (std::is_integral_v<T>) {
        values.push_back(static_cast<T>(std::stoll(w)));
      } else {
        values.push_back(static_cast<T>(static_cast<AccumulatorOf<T>>(std::stod(w))));
      }
    }
    return FromVector(std::move(values), shape);
  });
}

void ReadLine(const std::string& text, std::vector<GoldenCase>* cases) {
  std::istringstream line(text);
  std::string what, name, word;
  if (!(line >> what) || what[0] == '#' || what == "end") return;
  line >> name;
  if (what == "case") {
    cases->emplace_back();
    cases->back().name = name;
    return;
  }
  FIRN_CHECK(!cases->empty(), text);
  GoldenCase& c = cases->back();
  if (what == "attr") {
    std::vector<std::string>& values = c.attrs[name];
    line >> word;  // the type
    while (line >> word) values.push_back(word);
  } else if (what == "input") {
    c.inputs.Insert(name, ReadTensor(line));
  } else if (what == "output") {
    c.outputs.Insert(name, ReadTensor(line));
  } else if (what == "grad") {
    c.grads.Insert(name, ReadTensor(line));
  } else {
    FIRN_CHECK(what == "grad_output", text);
    c.grad_outputs[std::stoi(name)] = ReadTensor(line);
  }
}

}  // namespace

std::vector<GoldenCase> ReadGolden(const std::string& file) {
  std::ifstream in("tests/golden/" + file);
  FIRN_CHECK(in.good(), "no file tests/golden/", file, "; run from the root of the repository");
  std::vector<GoldenCase> cases;
  for (std::string line; std::getline(in, line);) ReadLine(line, &cases);
  FIRN_CHECK(!cases.empty(), file, " holds no case");
  return cases;
}

std::vector<std::string> GoldenFiles(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("tests/golden/" + folder)) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string Compare(const Tensor& got, const Tensor& want, double rtol, double atol) {
  if (!got.defined()) return "undefined";
  if (got.shape() != want.shape()) {
    return absl::StrCat("shape ", got.shape().ToString(), ", want ", want.shape().ToString());
  }
  const std::vector<double> a = got.ToVector<double>(), b = want.ToVector<double>();
  for (size_t i = 0; i < a.size(); ++i) {
    const bool same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    if (same || std::abs(a[i] - b[i]) <= atol + rtol * std::abs(b[i])) continue;
    return absl::StrCat("element ", i, " is ", a[i], ", want ", b[i]);
  }
  return "";
}

}  // namespace firn::testing
