// A row is one read at its place in the file; a batch is read into its own memory.
#include "io/npy_dataset.h"

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "io/internal/name_errors.h"
#include "io/internal/npy_array.h"
#include "io/internal/random_access.h"
#include "io/internal/value_or_raise.h"
#include "tensor/error.h"

namespace firn::io {
namespace {

using internal::RandomAccess;
using internal::ValueOrRaise;

constexpr char kWho[] = "npy_dataset";

// The rows of one file.
class NpyRows {
 public:
  static absl::StatusOr<NpyRows> Open(const std::string& path, const NpyDatasetOptions& options) {
    NpyRows rows;
    FIRN_ASSIGN_OR_RETURN(rows.file_, RandomAccess::Open(path));
    const NpyOptions npy = {.void_is_bf16 = options.void_is_bf16,
                            .limits = {.max_total_bytes = std::numeric_limits<int64_t>::max()}};
    FIRN_ASSIGN_OR_RETURN(rows.header_, internal::ReadNpyHeader(*rows.file_, npy));
    const internal::NpyHeader& header = rows.header_;
    const int64_t left = rows.file_->size() - header.data_at;
    FIRN_RETURN_IF(
        left / header.type.bytes != header.shape.num_elements() || left % header.type.bytes != 0,
        internal::Damaged(path, header.data_at, "elements",
                          absl::StrCat("expected ", header.type.bytes, " bytes for each of ",
                                       header.shape.num_elements(), " elements, got ", left)));
    FIRN_RETURN_IF(header.shape.rank() < 1,
                   DataLoss(path, ": expected an array of rows, got a single number"));
    FIRN_RETURN_IF(
        header.fortran_order && header.shape.rank() > 1,
        Unimplemented(path, ": expected an array in row-major (C) order, got Fortran's"));
    rows.row_ = Shape(header.shape.span().subspan(1));
    FIRN_RETURN_IF(header.shape[0] > 0 && rows.row_.num_elements() == 0,
                   DataLoss(path, ": expected rows of at least one element, got shape ",
                            header.shape.ToString()));
    FIRN_RETURN_IF(
        rows.row_.num_elements() > options.max_row_bytes / SizeOf(header.type.dtype),
        ResourceExhausted(path, ": a row of shape ", rows.row_.ToString(), " has more than the ",
                          options.max_row_bytes, " bytes allowed"));
    return rows;
  }

  int64_t size() const { return header_.shape[0]; }

  // These rows; `batch` keeps their number as the first dimension.
  absl::StatusOr<Tensor> Read(absl::Span<const int64_t> indices, bool batch) const {
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

class NpyRowsDataset final : public Dataset {
 public:
  NpyRowsDataset(std::string path, NpyRows input, std::unique_ptr<NpyRows> target)
      : path_(std::move(path)), input_(std::move(input)), target_(std::move(target)) {}

  int64_t size() const override { return input_.size(); }
  Sample Get(int64_t i) const override { return Read({&i, 1}, false); }
  Sample GetBatch(absl::Span<const int64_t> indices) const override { return Read(indices, true); }
  std::string NameOf(int64_t i) const override { return absl::StrCat(path_, ", row ", i); }

 private:
  Sample Read(absl::Span<const int64_t> indices, bool batch) const {
    for (const int64_t i : indices) internal::CheckIndex(i, size());
    return {ValueOrRaise(input_.Read(indices, batch), kWho),
            target_ != nullptr ? ValueOrRaise(target_->Read(indices, batch), kWho) : Tensor()};
  }

  const std::string path_;
  const NpyRows input_;
  const std::unique_ptr<const NpyRows> target_;  // null: samples have none
};

}  // namespace

DatasetPtr NpyDataset(const std::string& input, const NpyDatasetOptions& options) {
  NpyRows rows = ValueOrRaise(NpyRows::Open(input, options), kWho);
  std::unique_ptr<NpyRows> targets;
  if (!options.target.empty()) {
    targets = std::make_unique<NpyRows>(ValueOrRaise(NpyRows::Open(options.target, options), kWho));
    if (targets->size() != rows.size()) {
      RaiseStatus(DataLoss(options.target, ": expected as many rows as ", input, " has, ",
                           rows.size(), ", got ", targets->size()),
                  kWho);
    }
  }
  return std::make_shared<NpyRowsDataset>(input, std::move(rows), std::move(targets));
}

}  // namespace firn::io
