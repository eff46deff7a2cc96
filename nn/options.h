#ifndef FIRN_NN_OPTIONS_H_
#define FIRN_NN_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "firn/device/enum_words.h"
#include "firn/tensor/sizes.h"
#include "firn/tensor/tensor.h"

namespace firn::nn {

// Sees every option of a layer in the order in which a description tells them. A struct of options
// shows them in a template, as an operation's attributes do, which serve as options, too:
//
//   struct Conv2dOptions {
//     int64_t in = kDeferred, out = 0;
//     Sizes kernel = 1, stride = 1;
//     bool bias = true;
//     template <class V>
//     void Visit(V& v) {
//       v.FromTo("in", in, "out", out);
//       v.Always("kernel", kernel);
//       v.Field("stride", stride);
//       v.Field("bias", bias);
//     }
//   };
//
// A layer's text, its buffers and how it is made by its name (nn/make_layer.h) follow from it; a
// writer reads the values, a reader sets them. Visit always shows every field, except those that
// have no text form, such as an initializer.
class OptionVisitor {
 public:
  virtual ~OptionVisitor() = default;
  virtual void Field(const char* name, int64_t& value) = 0;
  virtual void Field(const char* name, double& value) = 0;
  virtual void Field(const char* name, bool& value) = 0;
  virtual void Field(const char* name, std::string& value) = 0;
  virtual void Field(const char* name, std::vector<int64_t>& value) = 0;
  virtual void Field(const char* name, std::vector<double>& value) = 0;
  virtual void Field(const char* name, Sizes& value) = 0;
  // Absent unless given.
  virtual void Field(const char* name, std::optional<int64_t>& value) = 0;
  virtual void Field(const char* name, std::optional<double>& value) = 0;
  // Undefined unless given. A layer of a function keeps it as a buffer of that name.
  virtual void Field(const char* name, Tensor& value) = 0;
  template <class E>
  requires(std::is_enum_v<E>) void Field(const char* name, E& value) {
    int64_t number = static_cast<int64_t>(value);
    Enumerator(name, number, inner::kWordsOf<E>);
    value = static_cast<E>(number);
  }

  // A field that a description shows even if it has its default.
  template <class T>
  void Always(const char* name, T& value) {
    always_ = true;
    Field(name, value);
    always_ = false;
  }
  // A size, or the sizes of several dimensions, that may be left to the first input: kDeferred, or
  // none. Described without its name.
  virtual void Deferred(const char* name, int64_t& value) { Field(name, value); }
  virtual void Deferred(const char* name, std::vector<int64_t>& value) { Field(name, value); }
  // The sizes of a layer's input and result, the first of which may be left to the first input: "3
  // -> 32".
  virtual void FromTo(const char* in_name, int64_t& in, const char* out_name, int64_t& out) {
    Deferred(in_name, in);
    Field(out_name, out);
  }
  // Numbers, or a word in their place: padding=same.
  virtual void SizesOr(const char* name, Sizes& value, const char* word, bool& is_word) = 0;

 protected:
  // Whether the field that is being visited is always shown.
  bool always() const { return always_; }

 private:
  virtual void Enumerator(const char* name, int64_t& number, const inner::WordList& words) = 0;

  bool always_ = false;
};

template <class O>
concept HasVisit = requires(O& options, OptionVisitor& v) {
  options.Visit(v);
};

// Calls f(name, tensor) for the tensors among options. It is no OptionVisitor, since calls use it:
// fields that it skips must cost nothing.
template <class F>
class OptionTensors {
 public:
  explicit OptionTensors(F f) : f_(f) {}
  template <class T>
  void Field(const char* name, T& value) {
    if constexpr (std::is_same_v<T, Tensor>) f_(name, value);
  }
  template <class T>
  void Always(const char* name, T& value) {
    Field(name, value);
  }
  template <class T>
  void Deferred(const char*, T&) {}
  void FromTo(const char*, int64_t&, const char*, int64_t&) {}
  void SizesOr(const char*, Sizes&, const char*, bool&) {}

 private:
  F f_;
};

}  // namespace firn::nn

#endif  // FIRN_NN_OPTIONS_H_
