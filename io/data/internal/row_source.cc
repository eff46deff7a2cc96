#include "firn/io/data/internal/row_source.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/io/data/internal/name_errors.h"
#include "firn/io/value_or_raise.h"

namespace firn::io::internal {
namespace {

class RowDataset final : public Dataset {
 public:
  RowDataset(std::string name, SampleNames names, std::vector<std::unique_ptr<RowSource>> sources,
             const char* who)
      : name_(std::move(name)), names_(std::move(names)), sources_(std::move(sources)), who_(who) {}

  int64_t size() const override { return sources_[0]->size(); }
  std::vector<std::string> variables() const override {
    return names_ != nullptr ? *names_ : Dataset::variables();
  }
  Sample Get(int64_t i) const override { return Read({&i, 1}, false); }
  Sample GetBatch(absl::Span<const int64_t> indices) const override { return Read(indices, true); }
  std::string NameOf(int64_t i) const override { return absl::StrCat(name_, ", row ", i); }

 private:
  Sample Read(absl::Span<const int64_t> indices, bool batch) const {
    for (const int64_t i : indices) CheckIndex(i, size());
    std::vector<Tensor> tensors;
    for (const auto& source : sources_) {
      tensors.push_back(ValueOrRaise(source->Read(indices, batch), who_));
    }
    return Sample::Named(names_, std::move(tensors));
  }

  const std::string name_;
  const SampleNames names_;
  const std::vector<std::unique_ptr<RowSource>> sources_;
  const char* const who_;
};

}  // namespace

DatasetPtr DatasetOfRows(std::string name, SampleNames names,
                         std::vector<std::unique_ptr<RowSource>> sources, const char* who) {
  return std::make_shared<RowDataset>(std::move(name), std::move(names), std::move(sources), who);
}

}  // namespace firn::io::internal
