#ifndef FIRN_IO_DATA_SAMPLE_H_
#define FIRN_IO_DATA_SAMPLE_H_

// What a dataset is made of: a short list of tensors, which may have names.
//
//   auto [images, labels] = batch;                 // two of them
//   auto [image, boxes, labels] = batch.As<3>();   // as many as there are
//   Tensor mask = batch["mask"];

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "firn/tensor/tensor.h"

namespace firn::io {

// The names of a sample's tensors in their order, shared by the samples of a dataset. If
// they are null, the tensors have no names of their own, and are called "input" and "target".
using SampleNames = std::shared_ptr<const std::vector<std::string>>;

// For functions that take them in braces: {{"image", a}, {"boxes", b}}.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// One example, or a batch of them: the input of a network and the target for its output. Either may
// be undefined. `auto [images, labels] = sample` gives these two, even if there are more tensors;
// samples with more tensors, or other names, come from Named. Copies share the tensors' elements.
struct Sample {
  Tensor input = {};
  Tensor target = {};
  std::vector<Tensor> more = {};  // those behind the two
  SampleNames names = {};         // of all of them

  // A sample of these tensors, in this order. Throws if there is none, and for a name that is empty
  // or occurs twice.
  static Sample Named(NamedTensors tensors);
  // The same with names that samples share; the names are not checked again. Throws unless there
  // are as many tensors as names.
  static Sample Named(SampleNames names, std::vector<Tensor> tensors);

  // How many tensors there are; for an input and a target without names, 1 if the target is
  // undefined. Throws, like the functions below, if a program made a sample with another number of
  // names.
  int64_t size() const;
  // The names of the tensors. Without names: "input", "target", and the places of the others.
  std::vector<std::string> variables() const;

  // Tensor `i`, or the tensor of this name. Throws OutOfRange, or NotFound with the names that
  // exist.
  Tensor& operator[](int64_t i) & { return *Find(i); }
  const Tensor& operator[](int64_t i) const& { return *Find(i); }
  Tensor operator[](int64_t i) && { return std::move(*Find(i)); }
  Tensor& operator[](std::string_view name) & { return *Find(name); }
  const Tensor& operator[](std::string_view name) const& { return *Find(name); }
  Tensor operator[](std::string_view name) && { return std::move(*Find(name)); }
  // Whether a tensor has this name.
  bool Has(std::string_view name) const;

  // All tensors as an array of N. Throws, with their names, if there are not N.
  template <size_t N>
  std::array<Tensor, N> As() const {
    CheckSize(N);
    return AsArray(std::make_index_sequence<N>());
  }

  // `for (Tensor& t : sample)`.
  template <class S, class T>
  class Iterator {
   public:
    Iterator(S* sample, int64_t i) : sample_(sample), i_(i) {}
    T& operator*() const { return sample_->At(i_); }
    Iterator& operator++() {
      ++i_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    S* sample_;
    int64_t i_;
  };
  Iterator<Sample, Tensor> begin() { return {this, 0}; }
  Iterator<Sample, Tensor> end() { return {this, size()}; }
  Iterator<const Sample, const Tensor> begin() const { return {this, 0}; }
  Iterator<const Sample, const Tensor> end() const { return {this, size()}; }

  // Tensor `i`. Requires: i is 0, 1 or below size().
  Tensor& At(int64_t i) {
    return i == 0 ? input : i == 1 ? target : more[static_cast<size_t>(i - 2)];
  }
  const Tensor& At(int64_t i) const { return const_cast<Sample*>(this)->At(i); }

  // A sample of f(tensor) for each tensor, under the same names; f must accept an undefined target.
  template <class F>
  Sample EachBy(F f) const {
    Sample out{f(input), f(target), {}, names};
    out.more.reserve(more.size());
    for (const Tensor& t : more) out.more.push_back(f(t));
    return out;
  }

  // The two members that a structured binding of two names gets.
  template <size_t I>
  Tensor& get() & {
    return I == 0 ? input : target;
  }
  template <size_t I>
  const Tensor& get() const& {
    return I == 0 ? input : target;
  }
  template <size_t I>
  Tensor&& get() && {
    return std::move(I == 0 ? input : target);
  }

 private:
  Tensor* Find(int64_t i) const;
  Tensor* Find(std::string_view name) const;
  int64_t PlaceOf(std::string_view name) const;  // size() if no tensor has the name
  void CheckSize(size_t wanted) const;
  template <size_t... I>
  std::array<Tensor, sizeof...(I)> AsArray(std::index_sequence<I...>) const {
    return {At(I)...};
  }
};

}  // namespace firn::io

template <>
struct std::tuple_size<firn::io::Sample> : std::integral_constant<size_t, 2> {};
template <size_t I>
struct std::tuple_element<I, firn::io::Sample> {
  using type = firn::Tensor;
};

#endif  // FIRN_IO_DATA_SAMPLE_H_
