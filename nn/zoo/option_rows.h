#ifndef FIRN_NN_ZOO_OPTION_ROWS_H_
#define FIRN_NN_ZOO_OPTION_ROWS_H_

// Options that are rows of numbers, shown to visitors of options (nn/options.h) as one list, row
// after row.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace firn::zoo {

// Throws unless `numbers` make whole rows of `columns`.
void ExpectWholeRows(const char* name, size_t numbers, size_t columns);
// Throws unless there are `wanted` numbers.
void ExpectNumbers(const char* name, size_t numbers, size_t wanted);

// Shows `rows` as `name`. Throws if a reader has set numbers that make no whole rows.
template <class V, class T, size_t N>
void VisitRows(V& v, const char* name, std::vector<std::array<T, N>>& rows) {
  std::vector<T> numbers;
  for (const std::array<T, N>& row : rows) numbers.insert(numbers.end(), row.begin(), row.end());
  v.Field(name, numbers);
  ExpectWholeRows(name, numbers.size(), N);
  rows.assign(numbers.size() / N, {});
  for (size_t i = 0; i < numbers.size(); ++i) rows[i / N][i % N] = numbers[i];
}

// Shows one row of flags as 0 and 1. Throws if a reader has set another number of them.
template <class V, size_t N>
void VisitFlags(V& v, const char* name, std::array<bool, N>& flags) {
  std::vector<int64_t> numbers(flags.begin(), flags.end());
  v.Field(name, numbers);
  ExpectNumbers(name, numbers.size(), N);
  for (size_t i = 0; i < N; ++i) flags[i] = numbers[i] != 0;
}

}  // namespace firn::zoo

#endif  // FIRN_NN_ZOO_OPTION_ROWS_H_
