// embedding: rows of a table are copied in the widest words that their size and alignment allow. An
// index outside the table gives zeros and is noted. The gradient is index_add's.

#include "firn/tensor/kernels/cuda/for_each.cuh"
#include "firn/tensor/kernels/cuda/index_range.cuh"
#include "firn/tensor/kernels/cuda/portable.cuh"
#include "firn/tensor/kernels/divide.h"
#include "firn/tensor/kernels/width.h"
#include "firn/tensor/ops/index/embedding.h"
#include "firn/tensor/ops/index/embedding_body.h"

namespace firn::embedding_cuda {
namespace {

constexpr cuda::IndexSite kSiteEmbedding = {"embedding", "indices"};

struct alignas(16) Word16 {
  uint64_t v[2];
};

template <class Word, class I>
struct LookUpBody {
  const Word* table;
  const I* index;
  Word* out;
  int64_t width;  // of the table, in words
  cuda::IndexRange rows;

  FIRN_HOST_DEVICE void operator()(int64_t i) const {
    int64_t line = i;
    const int64_t at = TakeDigit(line, width), row = rows(index[line]);
    out[i] = row >= 0 ? table[row * width + at] : Word{};
  }
};

template <class Word>
absl::Status LookUp(const KernelContext& k, int64_t row_bytes) {
  const int64_t width = row_bytes / static_cast<int64_t>(sizeof(Word));
  return VisitIndex(k.in_spec(0).dtype, [&]<class I>(TypeTag<I>) {
    const LookUpBody<Word, I> body = {
        k.in<Word>(1),
        k.in<I>(0),
        k.out<Word>(),
        width,
        {cuda::IndexFaults(k, kSiteEmbedding), 0, k.in_spec(1).shape[0]}};
    return cuda::ForEach(k, k.in_spec(0).num_elements() * width, body);
  });
}

absl::Status RunEmbedding(KernelContext& k) {
  const TensorSpec& table = k.in_spec(1);
  int64_t row_bytes = SizeOf(table.dtype);
  for (int d = 1; d < table.shape.rank(); ++d) row_bytes *= table.shape[d];
  const uintptr_t places =
      reinterpret_cast<uintptr_t>(k.in<void>(1)) | reinterpret_cast<uintptr_t>(k.out<void>());
  if (places % 16 == 0 && row_bytes % 16 == 0) return LookUp<Word16>(k, row_bytes);
  return VisitWidth(table.dtype,
                    [&]<class Word>(TypeTag<Word>) { return LookUp<Word>(k, row_bytes); });
}

}  // namespace

FIRN_REGISTER_KERNELS(embedding) {
  return {{.name = "loop", .device = DeviceType::kCuda, .run = RunEmbedding}};
}
FIRN_REGISTER_KERNELS(one_hot) { return cuda::Portable<OneHotKernel>(); }

}  // namespace firn::embedding_cuda
