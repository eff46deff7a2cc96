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

// The names of a sample's tensors in their order, shared by the samples of a dataset. If null, the
// tensors have none, and are called "input" and "target".
using SampleNames = std::shared_ptr<const std::vector<std::string>>;

// For functions that take them in braces: {{"image", a}, {"boxes", b}}.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// One example, or a batch of them: what goes into a network, and what should come out. Either may
// be undefined. Two names take these apart, `auto [images, labels] = sample`, whatever else there
// is; more tensors, or names of one's own, come from Named. Copies share the tensors' elements.
struct Sample {
  Tensor input = {};
  Tensor target = {};
  std::vector<Tensor> more = {};  // those behind the two
  SampleNames names = {};         // of all of them

  // A sample of these, in this order. Throws where there is none, and for a name that is empty or
  // there twice.
  static Sample Named(NamedTensors tensors);
  // The same of names that other samples have too, without looking at them. Throws unless there are
  // as many.
  static Sample Named(SampleNames names, std::vector<Tensor> tensors);

  // How many tensors there are. Without names and more, 1 where the target is undefined. Throws,
  // like what follows, when a program made a sample with another number of names.
  int64_t size() const;
  // What they are called. Without names: "input", "target", and the places of the others.
  std::vector<std::string> variables() const;

  // Tensor `i` of size(), or the one of this name. Throw OutOfRange, NotFound with the names that
  // there are.
  Tensor& operator[](int64_t i) & { return *Find(i); }
  const Tensor& operator[](int64_t i) const& { return *Find(i); }
  Tensor operator[](int64_t i) && { return std::move(*Find(i)); }
  Tensor& operator[](std::string_view name) & { return *Find(name); }
  const Tensor& operator[](std::string_view name) const& { return *Find(name); }
  Tensor operator[](std::string_view name) && { return std::move(*Find(name)); }
  // Whether one is called so.
  bool Has(std::string_view name) const;

  // All tensors, to be taken apart by as many names. Throws unless there are N, with their names.
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

  // f(tensor) of each, which has to take an undefined target, under the same names.
  template <class F>
  Sample EachBy(F f) const {
    Sample out{f(input), f(target), {}, names};
    out.more.reserve(more.size());
    for (const Tensor& t : more) out.more.push_back(f(t));
    return out;
  }

  // What two names are bound to.
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
  int64_t PlaceOf(std::string_view name) const;  // size() where there is none
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
