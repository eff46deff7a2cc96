#ifndef FIRN_IO_ONNX_INTERNAL_ONNX_MESSAGE_H_
#define FIRN_IO_ONNX_INTERNAL_ONNX_MESSAGE_H_

// Messages of an ONNX file, field by field, with the checks that all of them need: a field has the
// wire type that the format gives it, comes once unless it is repeated, text is UTF-8, and the
// values made from them stay within the limits.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "firn/device/message.h"
#include "firn/io/load_limits.h"
#include "firn/io/onnx/internal/onnx_model.h"
#include "firn/io/wire/internal/wire.h"

namespace firn::io::internal {

// A file that is read, and the rest of its limits.
struct OnnxSource {
  OnnxSource(std::string file_name, std::string_view bytes, std::shared_ptr<const void> kept,
             const LoadLimits& most)
      : name(std::move(file_name)),
        file(bytes),
        owner(std::move(kept)),
        limits(most),
        memory_left(most.max_metadata_bytes),
        tensors_left(most.max_tensors) {}

  // Charges memory for a message's struct: an empty message has two bytes in a file and hundreds
  // here.
  absl::Status Charge(size_t bytes);

  const std::string name;
  const std::string_view file;
  const std::shared_ptr<const void> owner;  // of `file`
  const LoadLimits limits;
  int64_t memory_left, tensors_left;
  int messages = 0, graphs = 0;  // that are open
};

// Where in a model something stands: "graph.node[3].attribute[0]". Lives on the stack.
struct OnnxPlace {
  const OnnxPlace* within = nullptr;
  const char* field = nullptr;
  int64_t index = -1;

  std::string ToString() const;
};

// Messages about devices, which Firn does not keep but checks like all others.
enum class OnnxDevices { kConfiguration, kNode, kSharding, kGroups, kShardedDim, kSimpleSharding };
struct OnnxSkipped {
  OnnxDevices kind;
};

// The field of a message that is being read. `name` is the format's word for it.
class OnnxField {
 public:
  OnnxField(OnnxSource* source, const OnnxPlace& within, const WireField& field, uint64_t* seen)
      : source_(source), within_(within), field_(field), seen_(seen) {}

  int number() const { return field_.number; }

  // Those that come once.
  absl::Status Integer(const char* name, int64_t* out);
  absl::Status Integer32(const char* name, int* out);
  absl::Status Float(const char* name, float* out);
  absl::Status Name(const char* name, std::string* out);  // no longer than names may be
  absl::Status Text(const char* name, std::string* out);
  absl::Status Bytes(const char* name, std::string_view* out);
  // `out` is a T, which ReadOnnx reads.
  template <class T>
  absl::Status Message(const char* name, T* out) {
    absl::Status status = Once(name, WireType::kBytes);
    if (status.ok()) status = source_->Charge(sizeof(T));
    return status.ok() ? ReadOnnx(source_, {&within_, name}, field_.bytes, out) : status;
  }

  // Those that are repeated; numbers may be packed.
  absl::Status Integers(const char* name, std::vector<int64_t>* out);
  absl::Status Floats(const char* name, std::vector<float>* out);
  absl::Status Count(const char* name, WireType type, int64_t* count);  // of numbers, kept nowhere
  absl::Status Names(const char* name, std::vector<std::string>* out);
  absl::Status Strings(const char* name, std::vector<std::string>* out);  // any bytes
  absl::Status Entry(const char* name, OnnxEntries* out);
  template <class T>
  absl::Status Messages(const char* name, std::vector<T>* out) {
    const OnnxPlace place = {&within_, name, static_cast<int64_t>(out->size())};
    absl::Status status = Expect(place, WireType::kBytes);
    if (status.ok()) status = source_->Charge(sizeof(T));
    return status.ok() ? ReadOnnx(source_, place, field_.bytes, &out->emplace_back()) : status;
  }

  absl::Status Skip(const char* name, OnnxDevices kind);

  // A field that the format does not have.
  absl::Status Unknown() const;
  // DataLoss: "<file>: <place>.<name>, offset 12: <parts>".
  template <class... Parts>
  absl::Status Fail(const char* name, const Parts&... parts) const {
    return FailAt({&within_, name}, inner::internal::Message(parts...));
  }

 private:
  absl::Status Once(const char* name, WireType type);
  absl::Status Expect(const OnnxPlace& place, WireType type) const;
  absl::Status Numbers(const OnnxPlace& place, WireType type,
                       absl::FunctionRef<absl::Status(uint64_t)> take);
  absl::Status TakeText(const OnnxPlace& place, bool is_name, std::string* out);
  absl::Status FailAt(const OnnxPlace& place, const std::string& what) const;

  OnnxSource* source_;
  const OnnxPlace& within_;
  const WireField& field_;
  uint64_t* seen_;
};

// Calls `take` with all fields of a message. Errors: those of `take`, and DataLoss for bytes that
// are no message.
absl::Status ForEachOnnxField(OnnxSource* source, const OnnxPlace& place, std::string_view message,
                              absl::FunctionRef<absl::Status(OnnxField&)> take);

// DataLoss for a whole message, once its fields are read: "<file>: <place>, offset 12: <what>".
absl::Status OnnxFault(const OnnxSource& source, const OnnxPlace& place, std::string_view message,
                       const std::string& what);

// The messages, each from the bytes of its fields.
absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxModel* out);
absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxGraph* out);
absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxNode* out);
absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxAttribute* out);
absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxFunction* out);
absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxTraining* out);
absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxOpset* out);
absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxAnnotation* out);
absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxValueInfo* out);
absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxType* out);
absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxDim* out);
absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxTensor* out);
absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxSparseTensor* out);

absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxSkipped* out);

}  // namespace firn::io::internal

#endif  // FIRN_IO_ONNX_INTERNAL_ONNX_MESSAGE_H_
