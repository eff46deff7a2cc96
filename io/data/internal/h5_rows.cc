// A row of contiguous elements is one read at its place. Chunks that begin at the same row are a
// band: it is unpacked as a whole, since the bytes before a row have to be unpacked for it anyway.
#include "firn/io/data/internal/h5_rows.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "firn/device/edit_distance.h"
#include "firn/device/status_macros.h"
#include "firn/io/hdf5/internal/h5_chunks.h"
#include "firn/io/hdf5/internal/h5_file.h"
#include "firn/io/hdf5/internal/h5_message.h"
#include "firn/io/hdf5/internal/h5_object.h"
#include "firn/io/hdf5/internal/h5_plan.h"
#include "firn/io/hdf5/internal/h5_walk.h"
#include "firn/io/internal/last_used.h"
#include "firn/io/internal/stored_elements.h"
#include "firn/io/random_access.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/shape.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

namespace {

class H5Rows final : public RowSource {
 public:
  absl::Status Open(const std::string& path, const std::string& name, const LoadLimits& limits,
                    int64_t max_row_bytes);
  int64_t size() const override { return plan_.shape[0]; }
  absl::StatusOr<Tensor> Read(absl::Span<const int64_t> indices, bool batch) const override;

 private:
  using Band = std::vector<char>;  // rows as stored
  static constexpr int64_t kMostBands = 4;

  absl::Status Find(const std::string& name);
  absl::Status CheckRows(int64_t max_row_bytes);
  absl::Status FindElements();
  absl::Status FindUnwritten(int64_t rows, bool all, H5Budget* budget);
  absl::Status CopyRow(int64_t i, char* to) const;
  absl::StatusOr<Band> ReadBand(int64_t band) const;

  std::unique_ptr<RandomAccess> source_;
  std::optional<H5File> file_;
  H5Plan plan_;
  Shape row_;
  int64_t stored_ = 0;           // bytes of a row
  H5Grid grid_;                  // of the chunks
  std::vector<H5Chunk> chunks_;  // by their places in the grid
  H5Object object_;
  std::string unwritten_;  // the fill element, if some chunks were never written
  mutable std::optional<LastUsed<Band>> bands_;
};

absl::Status H5Rows::Open(const std::string& path, const std::string& name,
                          const LoadLimits& limits, int64_t max_row_bytes) {
  FIRN_ASSIGN_OR_RETURN(source_, RandomAccess::Open(path));
  FIRN_ASSIGN_OR_RETURN(file_, H5File::Open(*source_, limits));
  FIRN_RETURN_IF_ERROR(Find(name));
  FIRN_RETURN_IF_ERROR(CheckRows(max_row_bytes));
  return FindElements();
}

absl::Status H5Rows::Find(const std::string& name) {
  int found = 0;
  std::vector<std::string> names;
  const auto want = [&](std::string_view other) {
    names.emplace_back(other);
    return other == name;
  };
  const auto take = [&](const H5Found& dataset) -> absl::Status {
    if (++found > 1) return absl::OkStatus();
    FIRN_ASSIGN_OR_RETURN(plan_, MakeH5Plan(*file_, *dataset.object));
    object_ = *dataset.object;
    return absl::OkStatus();
  };
  FIRN_RETURN_IF_ERROR(WalkH5(*file_, want, take).status());
  FIRN_RETURN_IF(found == 0, NotFound(source_->name(), ": expected an array called ", name,
                                      ", got none", inner::internal::InsteadOf(name, names)));
  FIRN_RETURN_IF(found > 1, DataLoss(source_->name(), ": two datasets are named ", name));
  FIRN_RETURN_IF(plan_.shape.rank() < 1,
                 Unimplemented(source_->name(), ", ", name,
                               ": expected an array of rows, got a single number"));
  return absl::OkStatus();
}

absl::Status H5Rows::CheckRows(int64_t max_row_bytes) {
  row_ = Shape(plan_.shape.span().subspan(1));
  FIRN_RETURN_IF(
      size() > 0 && row_.num_elements() == 0,
      Unimplemented(source_->name(), ": expected rows of at least one element, got shape ",
                    plan_.shape.ToString()));
  FIRN_RETURN_IF(
      row_.num_elements() > max_row_bytes / SizeOf(plan_.type.dtype),
      ResourceExhausted(source_->name(), ": a row of shape ", row_.ToString(),
                        " has more than the ", max_row_bytes, " bytes allowed (max_row_bytes)"));
  stored_ = row_.num_elements() * plan_.type.bytes;
  return absl::OkStatus();
}

absl::Status H5Rows::FindElements() {
  if (size() == 0) return absl::OkStatus();
  H5Budget budget(*file_);
  const H5Layout& layout = plan_.layout;
  if (layout.kind == H5Layout::kCompact) {
    return CheckH5StoredSize(*file_, plan_, layout.inside.size());
  }
  if (layout.kind == H5Layout::kContiguous) {
    if (layout.address == kH5Undefined) return FindUnwritten(1, true, &budget);
    FIRN_RETURN_IF_ERROR(CheckH5StoredSize(*file_, plan_, layout.bytes));
    return ClaimH5Bytes(*file_, layout.address, layout.bytes, &budget);
  }
  FIRN_ASSIGN_OR_RETURN(grid_, MakeH5Grid(*file_, plan_));
  const int64_t band_rows = std::min(grid_.chunk[0], size());
  FIRN_RETURN_IF(std::max(grid_.chunk_bytes, stored_) > budget.element_bytes ||
                     band_rows > budget.element_bytes / stored_,
                 ResourceExhausted(source_->name(), ": chunks of ", grid_.chunk[0],
                                   " rows take more than the ", budget.element_bytes,
                                   " bytes allowed (limits.max_total_bytes)"));
  const int64_t fit = budget.element_bytes / (band_rows * stored_);
  bands_.emplace(static_cast<size_t>(std::min(fit, kMostBands)));
  FIRN_ASSIGN_OR_RETURN(chunks_, ListH5Chunks(*file_, plan_, grid_, &budget));
  std::sort(chunks_.begin(), chunks_.end(),
            [](const H5Chunk& a, const H5Chunk& b) { return a.at < b.at; });
  if (static_cast<int64_t>(chunks_.size()) == grid_.chunks) return absl::OkStatus();
  return FindUnwritten(band_rows, chunks_.empty(), &budget);
}

// At most `rows` rows of unwritten elements are made at a time.
absl::Status H5Rows::FindUnwritten(int64_t rows, bool all, H5Budget* budget) {
  FIRN_ASSIGN_OR_RETURN(unwritten_, UnwrittenH5Element(*file_, object_, plan_,
                                                       rows * row_.num_elements(), all, budget));
  return absl::OkStatus();
}

absl::StatusOr<H5Rows::Band> H5Rows::ReadBand(int64_t band) const {
  const int64_t first = band * grid_.chunk[0];
  H5Grid part = grid_;
  part.array[0] = std::min(grid_.chunk[0], size() - first);
  Band elements(static_cast<size_t>(part.array[0] * stored_));
  if (!unwritten_.empty()) {
    FillH5Elements(unwritten_, part.array[0] * row_.num_elements(), elements.data());
  }
  H5ChunkReader reader(*file_, plan_, grid_);
  for (auto it = std::lower_bound(chunks_.begin(), chunks_.end(), first,
                                  [](const H5Chunk&c, int64_t row) { return c.at[0] < row; });
       it != chunks_.end() && it->at[0] == first; ++it) {
    H5Chunk chunk = *it;
    FIRN_ASSIGN_OR_RETURN(const char* const from, reader.Read(chunk));
    chunk.at[0] = 0;
    CopyH5Chunk(part, chunk, plan_.type.bytes, from, elements.data());
  }
  return elements;
}

absl::Status H5Rows::CopyRow(int64_t i, char* to) const {
  const auto bytes = static_cast<size_t>(stored_);
  switch (plan_.layout.kind) {
    case H5Layout::kCompact:
      std::memcpy(to, plan_.layout.inside.data() + i * stored_, bytes);
      return absl::OkStatus();
    case H5Layout::kContiguous:
      if (plan_.layout.address == kH5Undefined) {
        FillH5Elements(unwritten_, row_.num_elements(), to);
        return absl::OkStatus();
      }
      return file_->file().ReadAt(static_cast<int64_t>(plan_.layout.address) + i * stored_, to,
                                  stored_, absl::StrCat("row ", i));
    case H5Layout::kChunked:
      break;
  }
  const int64_t number = i / grid_.chunk[0];
  FIRN_ASSIGN_OR_RETURN(const std::shared_ptr<const Band> band,
                        bands_->Get(number, [&] { return ReadBand(number); }));
  std::memcpy(to, band->data() + i % grid_.chunk[0] * stored_, bytes);
  return absl::OkStatus();
}

absl::StatusOr<Tensor> H5Rows::Read(absl::Span<const int64_t> indices, bool batch) const {
  std::vector<int64_t> sizes(row_.begin(), row_.end());
  if (batch) sizes.insert(sizes.begin(), static_cast<int64_t>(indices.size()));
  FIRN_ASSIGN_OR_RETURN(const Shape shape, Shape::Make(sizes));
  FIRN_ASSIGN_OR_RETURN(
      Tensor out, AllocateTensor(TensorSpec::Contiguous(plan_.type.dtype, shape, Device::Cpu()),
                                 AllocTag::kOther));
  // In the file's order, so that each band is unpacked once.
  std::vector<size_t> order(indices.size());
  for (size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return indices[a] < indices[b]; });
  const int64_t elements = row_.num_elements();
  for (const size_t k : order) {
    char* const to =
        out.impl()->data + static_cast<int64_t>(k) * elements * SizeOf(plan_.type.dtype);
    FIRN_RETURN_IF_ERROR(CopyRow(indices[k], to));
    const absl::Status converted = ConvertStored(plan_.type, elements, to);
    if (converted.ok()) continue;
    return file_->Unconverted(plan_.offset, absl::StrCat("row ", indices[k]).c_str(), converted);
  }
  return out;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RowSource>> OpenH5Rows(const std::string& path,
                                                      const std::string& name,
                                                      const LoadLimits& limits,
                                                      int64_t max_row_bytes) {
  auto rows = std::make_unique<H5Rows>();
  FIRN_RETURN_IF_ERROR(rows->Open(path, name, limits, max_row_bytes));
  return std::unique_ptr<RowSource>(std::move(rows));
}

}  // namespace firn::io::internal
