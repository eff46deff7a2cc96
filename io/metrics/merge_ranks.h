#ifndef FIRN_IO_METRICS_MERGE_RANKS_H_
#define FIRN_IO_METRICS_MERGE_RANKS_H_

// Metrics of several processes that each saw a part of the samples.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace firn::comm {
class Communicator;  // firn/device/comm/communicator.h
}

namespace firn::io {

namespace internal {

// Collects the numbers that a metric shows by VisitNumbers, in order.
class NumberWriter {
 public:
  template <class T>
  void operator()(const T& x) {
    numbers.push_back(static_cast<double>(x));
  }
  // A list, whose length the other ranks do not know.
  template <class T, class F>
  void List(std::vector<T>& all, F each) {
    (*this)(all.size());
    for (T& x : all) each(*this, x);
  }
  std::vector<double> numbers;
};

// Gives a metric another one's numbers. Throws unless their count is the one that it asks for.
class NumberReader {
 public:
  explicit NumberReader(const std::vector<double>& numbers) : numbers_(numbers) {}
  template <class T>
  void operator()(T& x) {
    if constexpr (std::is_integral_v<T>) {
      x = static_cast<T>(NextCount());
    } else {
      x = static_cast<T>(Next());
    }
  }
  template <class T, class F>
  void List(std::vector<T>& all, F each) {
    all.assign(NextSize(), T());
    for (T& x : all) each(*this, x);
  }
  void Finish() const;

 private:
  double Next();
  double NextCount();  // a number from 0 to 2^53
  size_t NextSize();
  const std::vector<double>& numbers_;
  size_t at_ = 0;
};

// The numbers of each rank. All ranks call it. Throws the communicator's errors.
std::vector<std::vector<double>> NumbersOfRanks(const std::vector<double>& own,
                                                comm::Communicator& ranks);

// Throws the error for a metric that is no RankedMetric.
[[noreturn]] void RefuseRanks();

template <class M>
concept RankedMetric = requires(M m, const M& other, NumberWriter& v) {
  m.VisitNumbers(v);
  m.Merge(other);
};

}  // namespace internal

// A metric that has seen the samples of all ranks; `metric` itself does not change. All ranks call
// it, with metrics of the same options, and get the same to the bit. It takes all metrics of this
// folder, and others that have Merge(other) and show the numbers that they keep (as f64, which
// holds counts to 2^53):
//
//   template <class V>
//   void VisitNumbers(V& v) {
//     v(right_), v(count_);
//     v.List(scores_, [](V& each, double& score) { each(score); });
//   }
//
// Throws firn::Error if the metrics of other ranks are of another kind, and what Merge and the
// communicator throw.
template <internal::RankedMetric M>
M MergeRanks(const M& own, comm::Communicator& ranks) {
  M all = own;
  internal::NumberWriter writer;
  all.VisitNumbers(writer);
  bool first = true;
  for (const std::vector<double>& numbers : internal::NumbersOfRanks(writer.numbers, ranks)) {
    M part = own;
    internal::NumberReader reader(numbers);
    part.VisitNumbers(reader);
    reader.Finish();
    if (std::exchange(first, false)) {
      all = std::move(part);
    } else {
      all.Merge(part);
    }
  }
  return all;
}

}  // namespace firn::io

#endif  // FIRN_IO_METRICS_MERGE_RANKS_H_
