// prod and its gradient: see product.cc. The products of the elements that are not 0 come first,
// with how many are 0, and then every element gets the product of the others.

#include "firn/tensor/kernels/cuda/reduce.cuh"
#include "firn/tensor/ops/reduce/product.h"
#include "firn/tensor/ops/reduce/product_body.h"

namespace firn::product_cuda {
namespace {

template <class T>
struct Product {
  T nonzero;
  int64_t zeros;
};

template <class T>
struct ProductFold {
  using Acc = Product<T>;
  using State = Acc;

  Acc* out;

  FIRN_HOST_DEVICE State start() const { return {1, 0}; }
  template <class In>
  FIRN_HOST_DEVICE void add(State& s, int64_t, int64_t, In v) const {
    const T x = static_cast<T>(v);
    s.nonzero *= x == 0 ? T{1} : x;
    s.zeros += x == 0 ? 1 : 0;
  }
  FIRN_HOST_DEVICE Acc total(const State& s) const { return s; }
  FIRN_HOST_DEVICE Acc combine(const Acc& a, const Acc& b) const {
    return {a.nonzero * b.nonzero, a.zeros + b.zeros};
  }
  FIRN_HOST_DEVICE void store(int64_t j, const Acc& a) const { out[j] = a; }
};

template <class T>
struct GradBody {
  using Acc = AccumulatorOf<T>;

  const T *dy, *x;
  const Product<Acc>* products;
  T* dx;
  cuda::Steps kept, reduced;
  int64_t results, length;
  bool by_result;  // neighbouring threads have neighbouring results

  FIRN_HOST_DEVICE FarNumber Far(int64_t j) const {  // each thread walks along all of its result
    return FarProduct(length, [&](int64_t i) {
      return static_cast<double>(static_cast<Acc>(x[kept(j) + reduced(i)]));
    });
  }

  FIRN_HOST_DEVICE void operator()(int64_t task) const {
    int64_t j = task, i = task;
    if (by_result) {
      j = TakeDigit(i, results);
    } else {
      i = TakeDigit(j, length);
    }
    const int64_t at = kept(j) + reduced(i);
    const Acc v = static_cast<Acc>(x[at]);
    const Product<Acc> p = products[j];
    const auto dy_j = static_cast<double>(static_cast<Acc>(dy[j]));
    Acc far;
    if (IsFarProduct(p.nonzero) &&
        FarGrad(Far(j), static_cast<double>(p.zeros), static_cast<double>(v), dy_j, far)) {
      dx[at] = static_cast<T>(far);
      return;
    }
    const Acc others = p.zeros == 0 ? p.nonzero / v : p.zeros == 1 && v == 0 ? p.nonzero : Acc{0};
    dx[at] = static_cast<T>(static_cast<Acc>(dy[j]) * others);
  }
};

size_t ProductBytes(const cuda::ReduceWork& w) {
  return static_cast<size_t>(w.results) * sizeof(Product<double>);
}

size_t GradWorkspace(const KernelQuery& q) {
  const cuda::ReduceWork w = cuda::PlanWork(q.in(1), q.attrs<ReduceAttrs>().dims);
  return ProductBytes(w) + w.Bytes(sizeof(Product<double>));
}

absl::Status RunGrad(KernelContext& k) {
  const cuda::ReduceWork w = cuda::PlanWork(k.in_spec(1), k.attrs<ReduceAttrs>().dims);
  return VisitFloat(k.in_spec(0).dtype, [&]<class T>(TypeTag<T>) {
    using Acc = AccumulatorOf<T>;
    auto* products = k.workspace<Product<Acc>>();
    const T* x = k.in<T>(1);
    FIRN_RETURN_IF_ERROR(cuda::ReduceWith(k, ProductFold<Acc>{products}, w,
                                          k.workspace<char>() + ProductBytes(w), x));
    return cuda::ForEach(k, w.results * w.length,
                         GradBody<T>{k.in<T>(0), x, products, k.out<T>(), w.kept, w.reduced,
                                     w.results, w.length, w.solo});
  });
}

}  // namespace

FIRN_REGISTER_KERNELS(prod) { return cuda::ReductionKernels<ProdReducer>(); }
FIRN_REGISTER_KERNELS(prod_grad) {
  return {
      {.name = "loop", .device = DeviceType::kCuda, .workspace = GradWorkspace, .run = RunGrad}};
}

}  // namespace firn::product_cuda
