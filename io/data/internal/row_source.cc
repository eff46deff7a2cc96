#include "firn/io/data/internal/row_source.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/io/data/internal/name_errors.h"
#include "firn/io/internal/value_or_raise.h"

namespace firn::io::internal {
namespace {

class RowDataset final : public Dataset {
 public:
  RowDataset(std::string name, std::unique_ptr<RowSource> input, std::unique_ptr<RowSource> target,
             const char* who)
      : name_(std::move(name)), input_(std::move(input)), target_(std::move(target)), who_(who) {}

  int64_t size() const override { return input_->size(); }
  Sample Get(int64_t i) const override { return Read({&i, 1}, false); }
  Sample GetBatch(absl::Span<const int64_t> indices) const override { return Read(indices, true); }
  std::string NameOf(int64_t i) const override { return absl::StrCat(name_, ", row ", i); }

 private:
  Sample Read(absl::Span<const int64_t> indices, bool batch) const {
    for (const int64_t i : indices) CheckIndex(i, size());
    return {ValueOrRaise(input_->Read(indices, batch), who_),
            target_ != nullptr ? ValueOrRaise(target_->Read(indices, batch), who_) : Tensor()};
  }

  const std::string name_;
  const std::unique_ptr<const RowSource> input_;
  const std::unique_ptr<const RowSource> target_;  // null: samples have none
  const char* const who_;
};

}  // namespace

DatasetPtr DatasetOfRows(std::string name, std::unique_ptr<RowSource> input,
                         std::unique_ptr<RowSource> target, const char* who) {
  return std::make_shared<RowDataset>(std::move(name), std::move(input), std::move(target), who);
}

}  // namespace firn::io::internal
