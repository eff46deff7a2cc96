// Tensors as text, by the rules of NumPy's array2string.
//
// The visible elements are collected first, because one format is chosen for all of them: digits
// are the shortest that read back as the same number, cut to the precision; the widest parts before
// and behind the decimal point set the padding. The words are then laid out in brackets.

#include "firn/tensor/format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/pending.h"
#include "firn/tensor/reorder.h"

namespace firn {
namespace {

using Words = std::vector<std::string>;

// --- Elements -----------------------------------------------------------------------------------

// The positions of a dimension that are shown: all, or some at either end.
struct Shown {
  int64_t size, edge;  // edge < 0: all
  int64_t count() const { return edge < 0 ? size : 2 * edge; }
  int64_t at(int64_t i) const { return edge < 0 || i < edge ? i : size - 2 * edge + i; }
};

std::vector<Shown> ShownOf(const Shape& shape, const FormatOptions& o) {
  const bool abridged = shape.num_elements() > o.threshold;
  std::vector<Shown> shown;
  for (int64_t n : shape)
    shown.push_back({n, abridged && n > 2 * o.edge_items ? o.edge_items : -1});
  return shown;
}

// The shown elements, row-major.
template <class T>
std::vector<T> Collect(const Tensor& x, const std::vector<Shown>& shown) {
  const T* data = reinterpret_cast<const T*>(x.impl()->data);
  const Dims& strides = x.spec().layout.strides;
  std::vector<T> values;
  std::vector<int64_t> at(shown.size(), 0);
  while (true) {
    int64_t offset = 0;
    for (size_t d = 0; d < at.size(); ++d)
      offset += shown[d].at(at[d]) * strides[static_cast<int>(d)];
    values.push_back(data[offset]);
    size_t d = at.size();
    while (d > 0 && ++at[d - 1] == shown[d - 1].count()) at[--d] = 0;
    if (d == 0) return values;
  }
}

// --- Numbers ------------------------------------------------------------------------------------

// The digits before and behind the decimal point (which is not there), and the exponent.
struct Number {
  std::string whole, fraction, exponent;
};

// Trailing zeros of the fraction say nothing.
Number Split(std::string text) {
  Number n;
  if (const size_t e = text.find('e'); e != std::string::npos) {
    n.exponent = text.substr(e + 1);
    text.resize(e);
  }
  const size_t point = text.find('.');
  n.whole = text.substr(0, point);
  if (point != std::string::npos) n.fraction = text.substr(point + 1);
  n.fraction.erase(n.fraction.find_last_not_of('0') + 1);
  return n;
}

template <class T>
Number Digits(T v, std::chars_format format, int precision) {
  char buffer[512];  // the longest fixed double has 309 digits and the precision
  const auto text = [&](std::to_chars_result r) { return std::string(buffer, r.ptr); };
  Number n = Split(text(std::to_chars(buffer, std::end(buffer), v, format)));
  if (n.fraction.size() > static_cast<size_t>(precision)) {
    n = Split(text(std::to_chars(buffer, std::end(buffer), v, format, precision)));
  }
  return n;
}

template <class T>
bool NeedsExponent(const std::vector<T>& values) {
  T low = std::numeric_limits<T>::infinity(), high = 0;
  for (T v : values) {
    if (!std::isfinite(v) || v == 0) continue;
    low = std::min(low, std::abs(v));
    high = std::max(high, std::abs(v));
  }
  return high != 0 && (high >= T(1e8) || low < T(1e-4) || high / low > 1000);
}

std::string Padded(size_t left, const std::string& text, size_t right = 0) {
  return std::string(left, ' ') + text + std::string(right, ' ');
}

Words RightAligned(Words words) {
  size_t width = 0;
  for (const std::string& w : words) width = std::max(width, w.size());
  for (std::string& w : words) w = Padded(width - w.size(), w);
  return words;
}

template <class T>
Words FloatWords(const std::vector<T>& values, const FormatOptions& o) {
  const bool scientific = NeedsExponent(values);
  const auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
  const int precision = std::clamp(o.precision, 0, 100);
  std::vector<Number> numbers;
  size_t whole = 0, fraction = 0;
  for (T v : values) {
    numbers.push_back(std::isfinite(v) ? Digits(v, format, precision) : Number());
    whole = std::max(whole, numbers.back().whole.size());
    fraction = std::max(fraction, numbers.back().fraction.size());
  }
  Words words;
  for (size_t i = 0; i < values.size(); ++i) {
    Number& n = numbers[i];
    if (!std::isfinite(values[i])) {
      words.push_back(std::isnan(values[i]) ? "nan" : values[i] < 0 ? "-inf" : "inf");
    } else if (scientific) {
      n.fraction.resize(fraction, '0');
      words.push_back(absl::StrCat(n.whole, ".", n.fraction, "e", n.exponent));
    } else {
      words.push_back(
          Padded(whole - n.whole.size(), n.whole + "." + n.fraction, fraction - n.fraction.size()));
    }
  }
  return RightAligned(std::move(words));
}

Words WordsOf(const Tensor& x, const std::vector<Shown>& shown, const FormatOptions& o) {
  return VisitDType(x.dtype(), [&]<class T>(TypeTag<T>) {
    const std::vector<T> values = Collect<T>(x, shown);
    if constexpr (std::is_same_v<T, bool>) {
      Words words;
      for (bool v : values) words.push_back(v ? "true" : "false");
      return RightAligned(std::move(words));
    } else if constexpr (std::is_integral_v<T>) {
      Words words;
      for (T v : values) words.push_back(absl::StrCat(static_cast<int64_t>(v)));
      return RightAligned(std::move(words));
    } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      return FloatWords(values, o);
    } else {
      return FloatWords(std::vector<float>(values.begin(), values.end()), o);
    }
  });
}

// --- Brackets -----------------------------------------------------------------------------------

class Layouter {
 public:
  Layouter(std::vector<Shown> shown, Words words, int line_width)
      : shown_(std::move(shown)), words_(std::move(words)), width_(line_width) {}

  // The text of one sub-array from dimension `dim` on, without the indentation of its first line.
  std::string Block(size_t dim) {
    const std::string indent(dim + 1, ' ');
    const bool rows = dim + 1 == shown_.size();
    std::string text = rows ? Row(indent) : "";
    for (int64_t i = 0; !rows && i < shown_[dim].count(); ++i) {
      const std::string gap(shown_.size() - dim - 1, '\n');
      if (i == shown_[dim].edge) absl::StrAppend(&text, gap, indent, "...");
      if (i > 0) absl::StrAppend(&text, gap, indent);
      text += Block(dim + 1);
    }
    return "[" + text + "]";
  }

 private:
  std::string Row(const std::string& indent) {
    // Brackets of all dimensions may end the line.
    const size_t room = static_cast<size_t>(std::max(width_, 0));
    std::string text, line = indent;
    const auto add = [&](const std::string& word) {
      const bool first = line.size() == indent.size();
      if (!first && line.size() + 1 + word.size() + shown_.size() > room) {
        absl::StrAppend(&text, line, "\n");
        line = indent;
      } else if (!first) {
        line += ' ';
      }
      line += word;
    };
    for (int64_t i = 0; i < shown_.back().count(); ++i) {
      if (i == shown_.back().edge) add("...");
      add(words_[next_++]);
    }
    return (text + line).substr(indent.size());
  }

  std::vector<Shown> shown_;
  Words words_;
  int width_;
  size_t next_ = 0;
};

}  // namespace

std::string Format(const Tensor& x, const FormatOptions& options) {
  if (!x.defined()) return "undefined";
  if (IsPending(x)) return DescribePending(x);
  RaiseIfError(CheckHostRead(x), "format");
  FormatOptions o = options;
  o.edge_items = std::max<int64_t>(o.edge_items, 1);
  const std::string kind = absl::StrCat(DTypeName(x.dtype()), " ", x.shape().ToString());
  if (x.num_elements() == 0) return "[]\n" + kind;
  NoGradScope no_grad;
  const Tensor here = x.device().is_cpu() ? x : x.To(Device::Cpu());
  const absl::StatusOr<Tensor> plain =
      here.spec().layout.blocked() ? Reordered(here, 0) : absl::StatusOr<Tensor>(here);
  RaiseIfError(plain.status(), "format");
  const std::vector<Shown> shown = ShownOf(x.shape(), o);
  Words words = WordsOf(*plain, shown, o);
  if (x.rank() == 0) return words[0];
  const std::string text = Layouter(shown, std::move(words), o.line_width).Block(0);
  const bool plainly_seen = x.dtype() == DType::kF32 && x.num_elements() <= o.threshold;
  return plainly_seen ? text : text + "\n" + kind;
}

std::string Tensor::ToString() const { return Format(*this); }

std::ostream& operator<<(std::ostream& os, const Tensor& t) { return os << Format(t); }

}  // namespace firn
