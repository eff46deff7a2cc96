// The arithmetic of the stand-in for cuDNN's graphs: each operation by its definition, in f64, with
// what passes between them rounded to the type that it is said to have.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "firn/tensor/dtype.h"
#include "tests/device/fake_cudnn_graph.h"

namespace firn::fake {
namespace {

using Op = GraphOperation;

// Memory of a tensor as f64, at the places that its strides say.
using Image = std::vector<double>;

double Rounded(cudnnDataType_t type, double x) {
  const auto f = static_cast<float>(x);
  if (type == CUDNN_DATA_HALF) return static_cast<float>(Half(f));
  if (type == CUDNN_DATA_BFLOAT16) return static_cast<float>(BFloat16(f));
  return f;
}

Image Load(const GraphTensor& t, const void* from) {
  Image image(static_cast<size_t>(t.span()));
  for (size_t i = 0; i < image.size(); ++i) {
    if (t.type == CUDNN_DATA_HALF) {
      image[i] = static_cast<float>(static_cast<const Half*>(from)[i]);
    } else if (t.type == CUDNN_DATA_BFLOAT16) {
      image[i] = static_cast<float>(static_cast<const BFloat16*>(from)[i]);
    } else {
      image[i] = static_cast<const float*>(from)[i];
    }
  }
  return image;
}

template <class F>
void ForEach(const Dims4& sizes, const F& f) {
  Dims4 at{};
  for (at[0] = 0; at[0] < sizes[0]; ++at[0]) {
    for (at[1] = 0; at[1] < sizes[1]; ++at[1]) {
      for (at[2] = 0; at[2] < sizes[2]; ++at[2]) {
        for (at[3] = 0; at[3] < sizes[3]; ++at[3]) f(at);
      }
    }
  }
}

// The place of an element in a tensor that is broadcast: heads repeat in groups, all else repeats
// one element.
size_t Place(const GraphTensor& t, const Dims4& at, const Dims4& of) {
  int64_t place = 0;
  for (size_t i = 0; i < 4; ++i) place += at[i] * t.sizes[i] / of[i] * t.strides[i];
  return static_cast<size_t>(place);
}

void Store(const GraphTensor& t, const Image& image, void* to) {
  ForEach(t.sizes, [&](const Dims4& at) {
    const size_t i = Place(t, at, t.sizes);
    if (t.type == CUDNN_DATA_HALF) {
      static_cast<Half*>(to)[i] = Half(static_cast<float>(image[i]));
    } else if (t.type == CUDNN_DATA_BFLOAT16) {
      static_cast<BFloat16*>(to)[i] = BFloat16(static_cast<float>(image[i]));
    } else {
      static_cast<float*>(to)[i] = static_cast<float>(image[i]);
    }
  });
}

double Pointwise(const Op& op, double x, double b, double chosen) {
  switch (op.mode) {
    case CUDNN_POINTWISE_ADD:
      return x + b;
    case CUDNN_POINTWISE_SUB:
      return x - b;
    case CUDNN_POINTWISE_MUL:
      return x * b;
    case CUDNN_POINTWISE_DIV:
      return x / b;
    case CUDNN_POINTWISE_EXP:
      return std::exp(x);
    case CUDNN_POINTWISE_LOG:
      return std::log(x);
    case CUDNN_POINTWISE_CMP_GE:
      return x >= b ? 1 : 0;
    default:  // a choice
      return chosen != 0 ? x : b;
  }
}

class Runner {
 public:
  explicit Runner(const std::map<int64_t, void*>& places) : places_(places) {}

  void Run(const Op& op) {
    const Image& x = Of(op.x);
    Image y(static_cast<size_t>(op.y.span()), std::numeric_limits<double>::quiet_NaN());
    if (op.kind == Op::kReshape) {
      y = x;
    } else if (op.kind == Op::kMatmul) {
      Multiply(op, x, Of(op.b), &y);
    } else if (op.kind == Op::kReduction) {
      Reduce(op, x, &y);
    } else {
      const Image none(1);
      const Image &b = op.has_b ? Of(op.b) : none, &chosen = op.has_chosen ? Of(op.chosen) : none;
      ForEach(op.y.sizes, [&](const Dims4& at) {
        const Dims4& of = op.y.sizes;
        y[Place(op.y, at, of)] =
            op.mode == CUDNN_POINTWISE_GEN_INDEX
                ? static_cast<double>(at[static_cast<size_t>(op.axis)])
                : Pointwise(op, x[Place(op.x, at, of)], op.has_b ? b[Place(op.b, at, of)] : 0,
                            op.has_chosen ? chosen[Place(op.chosen, at, of)] : 0);
      });
    }
    for (double& value : y) value = Rounded(op.y.type, value);
    if (!op.y.between) Store(op.y, y, places_.at(op.y.id));
    images_[op.y.id] = std::move(y);
  }

 private:
  const Image& Of(const GraphTensor& t) {
    const auto found = images_.find(t.id);
    if (found != images_.end()) return found->second;
    return images_[t.id] = Load(t, places_.at(t.id));
  }
  static void Multiply(const Op& op, const Image& x, const Image& b, Image* y) {
    ForEach(op.y.sizes, [&](const Dims4& at) {
      double sum = 0;
      const Dims4 of_x = {op.y.sizes[0], op.y.sizes[1], op.x.sizes[2], op.x.sizes[3]};
      const Dims4 of_b = {op.y.sizes[0], op.y.sizes[1], op.b.sizes[2], op.b.sizes[3]};
      for (int64_t i = 0; i < op.x.sizes[3]; ++i) {
        sum += x[Place(op.x, {at[0], at[1], at[2], i}, of_x)] *
               b[Place(op.b, {at[0], at[1], i, at[3]}, of_b)];
      }
      (*y)[Place(op.y, at, op.y.sizes)] = sum;
    });
  }
  static void Reduce(const Op& op, const Image& x, Image* y) {
    const bool add = op.mode == CUDNN_REDUCE_TENSOR_ADD;
    const double first = add ? 0 : -std::numeric_limits<double>::infinity();
    ForEach(op.y.sizes, [&](const Dims4& at) { (*y)[Place(op.y, at, op.y.sizes)] = first; });
    ForEach(op.x.sizes, [&](const Dims4& at) {
      double& to = (*y)[Place(op.y, at, op.x.sizes)];
      const double value = x[Place(op.x, at, op.x.sizes)];
      to = add ? to + value : std::max(to, value);
    });
  }

  const std::map<int64_t, void*>& places_;
  std::map<int64_t, Image> images_;
};

// Whether `t` can be read where `of` is computed: as many of each size, or a part that repeats.
bool Broadcasts(const GraphTensor& t, const Dims4& of) {
  for (size_t i = 0; i < 4; ++i) {
    if (t.sizes[i] != of[i] && t.sizes[i] != 1) return false;
  }
  return true;
}

bool IsHalf(cudnnDataType_t t) { return t == CUDNN_DATA_HALF || t == CUDNN_DATA_BFLOAT16; }

bool ProductFits(const Op& op) {
  const Dims4 &x = op.x.sizes, &b = op.b.sizes, &y = op.y.sizes;
  return IsHalf(op.b.type) && x[0] == y[0] && b[0] == y[0] && x[1] == y[1] && y[1] % b[1] == 0 &&
         x[2] == y[2] && b[3] == y[3] && x[3] == b[2];
}

bool PointwiseFits(const Op& op) {
  const Dims4& y = op.y.sizes;
  if (!Broadcasts(op.x, y) || (op.has_b && !Broadcasts(op.b, y))) return false;
  switch (op.mode) {
    case CUDNN_POINTWISE_GEN_INDEX:
      return op.axis >= 0 && op.axis < 4 && op.y.type == CUDNN_DATA_INT32 && !op.has_b;
    case CUDNN_POINTWISE_EXP:
    case CUDNN_POINTWISE_LOG:
      return !op.has_b && !op.has_chosen;
    case CUDNN_POINTWISE_CMP_GE:
      return op.has_b && op.y.type == CUDNN_DATA_BOOLEAN;
    case CUDNN_POINTWISE_BINARY_SELECT:
      return op.has_b && op.has_chosen && op.chosen.type == CUDNN_DATA_BOOLEAN &&
             op.chosen.sizes == y;
    case CUDNN_POINTWISE_ADD:
    case CUDNN_POINTWISE_SUB:
    case CUDNN_POINTWISE_MUL:
    case CUDNN_POINTWISE_DIV:
      return op.has_b && !op.has_chosen;
    default:
      return false;
  }
}

bool ReductionFits(const Op& op) {
  for (size_t i = 0; i < 4; ++i) {
    const bool grouped = i == 1 && op.x.sizes[i] % op.y.sizes[i] == 0;  // heads
    if (op.y.sizes[i] != op.x.sizes[i] && op.y.sizes[i] != 1 && !grouped) return false;
  }
  return op.mode == CUDNN_REDUCE_TENSOR_ADD || op.mode == CUDNN_REDUCE_TENSOR_MAX;
}

}  // namespace

cudnnStatus_t CheckOperation(const GraphOperation& op) {
  bool fits = true;
  if (op.kind == Op::kMatmul) fits = ProductFits(op);
  if (op.kind == Op::kPointwise) fits = PointwiseFits(op);
  if (op.kind == Op::kReduction) fits = ReductionFits(op);
  if (op.kind == Op::kReshape) fits = op.x.count() == op.y.count() && op.x.span() >= op.y.span();
  return fits ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

void RunGraph(const std::vector<GraphOperation>& operations,
              const std::map<int64_t, void*>& places) {
  Runner runner(places);
  for (const GraphOperation& op : operations) runner.Run(op);
}

}  // namespace firn::fake
