// A row is one read at its place in the file; a batch is read into its own memory.
#include "firn/io/data/npy_dataset.h"

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "firn/device/status_macros.h"
#include "firn/io/data/internal/row_source.h"
#include "firn/io/npy/internal/npy_array.h"
#include "firn/io/random_access.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

using internal::RowSource;

constexpr char kWho[] = "npy_dataset";

// The rows of one file.
class NpyRows final : public RowSource {
 public:
  static absl::StatusOr<std::unique_ptr<RowSource>> Open(const std::string& path,
                                                         const NpyDatasetOptions& options) {
    std::unique_ptr<NpyRows> rows(new NpyRows());
    FIRN_ASSIGN_OR_RETURN(rows->file_, RandomAccess::Open(path));
    const NpyOptions npy = {.void_is_bf16 = options.void_is_bf16,
                            .limits = {.max_total_bytes = std::numeric_limits<int64_t>::max()}};
    FIRN_ASSIGN_OR_RETURN(rows->header_, internal::ReadNpyHeader(*rows->file_, npy));
    const internal::NpyHeader& header = rows->header_;
    FIRN_RETURN_IF_ERROR(internal::CheckDataBytes(*rows->file_, header));
    FIRN_RETURN_IF(header.shape.rank() < 1,
                   Unimplemented(path, ": expected an array of rows, got a single number"));
    FIRN_RETURN_IF(
        header.fortran_order && header.shape.rank() > 1,
        Unimplemented(path, ": expected an array in row-major (C) order, got Fortran's"));
    rows->row_ = Shape(header.shape.span().subspan(1));
    FIRN_RETURN_IF(header.shape[0] > 0 && rows->row_.num_elements() == 0,
                   Unimplemented(path, ": expected rows of at least one element, got shape ",
                                 header.shape.ToString()));
    FIRN_RETURN_IF(
        rows->row_.num_elements() > options.max_row_bytes / SizeOf(header.type.dtype),
        ResourceExhausted(path, ": a row of shape ", rows->row_.ToString(), " has more than the ",
                          options.max_row_bytes, " bytes allowed (max_row_bytes)"));
    return std::unique_ptr<RowSource>(std::move(rows));
  }

  int64_t size() const override { return header_.shape[0]; }

  absl::StatusOr<Tensor> Read(absl::Span<const int64_t> indices, bool batch) const override {
    std::vector<int64_t> sizes;
    if (batch) sizes.push_back(static_cast<int64_t>(indices.size()));
    sizes.insert(sizes.end(), row_.begin(), row_.end());
    FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(sizes));
    FIRN_ASSIGN_OR_RETURN(Tensor out, internal::NewArray(header_.type.dtype, shape));
    const int64_t elements = row_.num_elements();
    const int64_t stored = elements * header_.type.bytes;
    char* to = out.impl()->data;
    for (const int64_t i : indices) {
      const int64_t at = header_.data_at + i * stored;
      FIRN_RETURN_IF_ERROR(
          internal::ReadElements(*file_, at, header_.type, elements, absl::StrCat("row ", i), to));
      to += elements * SizeOf(header_.type.dtype);
    }
    return out;
  }

 private:
  NpyRows() = default;

  std::unique_ptr<RandomAccess> file_;
  internal::NpyHeader header_;
  Shape row_;
};

}  // namespace

DatasetPtr NpyDataset(const std::string& input, const NpyDatasetOptions& options) {
  std::vector<std::unique_ptr<RowSource>> rows;
  rows.push_back(ValueOrRaise(NpyRows::Open(input, options), kWho));
  if (!options.target.empty()) {
    rows.push_back(ValueOrRaise(NpyRows::Open(options.target, options), kWho));
    if (rows[1]->size() != rows[0]->size()) {
      RaiseStatus(InvalidArgument(options.target, ": expected as many rows as ", input, " has, ",
                                  rows[0]->size(), ", got ", rows[1]->size()),
                  kWho);
    }
  }
  return internal::DatasetOfRows(input, nullptr, std::move(rows), kWho);
}

}  // namespace firn::io
