// Tensors are dense, of two or three dimensions, with their channels first or last; groups show in
// the weight's number of channels.

#include "firn/tensor/kernels/cuda/dnn_conv_graph.h"

#include <algorithm>

namespace firn::cuda {
namespace {

cudnnDataType_t TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return CUDNN_DATA_DOUBLE;
    case DType::kF16:
      return CUDNN_DATA_HALF;
    case DType::kBF16:
      return CUDNN_DATA_BFLOAT16;
    default:
      return CUDNN_DATA_FLOAT;
  }
}

// The type in which products are added up: half types in float.
cudnnDataType_t ComputeTypeOf(const DnnConvCall& call) {
  return call.dtype == DType::kF64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}

// cuDNN's names for an operation's descriptor and its attributes in each pass.
struct PassNames {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t alpha, beta, convolution, x, weight, y;
};
PassNames NamesOf(ConvPass pass) {
  if (pass == ConvPass::kForward) {
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y};
  }
  if (pass == ConvPass::kBackwardData) {
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY};
  }
  return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY};
}

// Results that only pass between operations have ids too.
enum InnerId : int64_t { kConvolved = 100, kBiased };

// A tensor [batch, channels, image].
absl::StatusOr<Descriptor> TensorOf(const DnnConvCall& call, int64_t id, int64_t batch,
                                    int64_t channels, const Sizes& image) {
  const bool inner = id >= kConvolved;
  std::vector<int64_t> sizes = {batch, channels};
  sizes.insert(sizes.end(), image.span().begin(), image.span().end());
  const int64_t pixels = image.volume();
  std::vector<int64_t> strides = {channels * pixels, call.nhwc ? 1 : pixels};
  int64_t inside = pixels;
  for (const int64_t side : image.span()) {
    inside /= std::max<int64_t>(side, 1);
    strides.push_back(call.nhwc ? inside * channels : inside);
  }
  Descriptor d(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  d.Set(CUDNN_ATTR_TENSOR_DATA_TYPE, inner ? ComputeTypeOf(call) : TypeOf(call.dtype))
      .Set(CUDNN_ATTR_TENSOR_DIMENSIONS, absl::MakeConstSpan(sizes))
      .Set(CUDNN_ATTR_TENSOR_STRIDES, absl::MakeConstSpan(strides))
      .Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id)
      .Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, call.alignment);
  if (inner) d.Set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
  FIRN_RETURN_IF_ERROR(d.Finalize());
  return d;
}

absl::StatusOr<Descriptor> Convolution(const DnnConvCall& call) {
  const ConvAttrs& a = call.problem.attrs;
  Descriptor d(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  FIRN_RETURN_IF_ERROR(d.Set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, ComputeTypeOf(call))
                           .Set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION)
                           .Set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64_t{call.problem.dims()})
                           .Set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, a.stride.span())
                           .Set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, a.padding.span())
                           .Set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, a.padding.span())
                           .Set(CUDNN_ATTR_CONVOLUTION_DILATIONS, a.dilation.span())
                           .Finalize());
  return d;
}

// Builds a graph: its descriptors, and its operations.
class Builder {
 public:
  Builder(const DnnConvCall& call, std::vector<Descriptor>* parts) : call_(call), parts_(parts) {}

  absl::Status Convolve(int64_t result) {
    const ConvProblem& p = call_.problem;
    FIRN_ASSIGN_OR_RETURN(Descriptor x, TensorOf(call_, kX, p.batch, p.in, p.in_size));
    FIRN_ASSIGN_OR_RETURN(Descriptor weight,
                          TensorOf(call_, kWeight, p.out, p.in_per_group(), p.kernel));
    FIRN_ASSIGN_OR_RETURN(last_, Result(result));
    FIRN_ASSIGN_OR_RETURN(Descriptor convolution, Convolution(call_));
    const PassNames names = NamesOf(call_.pass);
    Descriptor operation(names.type);
    operation.Set(names.convolution, convolution)
        .Set(names.x, x)
        .Set(names.weight, weight)
        .Set(names.y, last_);
    if (call_.dtype == DType::kF64) {
      operation.Set(names.alpha, 1.0).Set(names.beta, 0.0);
    } else {
      operation.Set(names.alpha, 1.0f).Set(names.beta, 0.0f);
    }
    FIRN_RETURN_IF_ERROR(operation.Finalize());
    operations_.push_back(std::move(operation));
    return Keep(&x, &weight, &convolution);
  }

  // result = mode(the last result, bias), or mode(the last result) without `bias`.
  absl::Status Pointwise(cudnnPointwiseMode_t mode, const Descriptor* bias, int64_t result) {
    Descriptor pointwise(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    FIRN_RETURN_IF_ERROR(pointwise.Set(CUDNN_ATTR_POINTWISE_MODE, mode)
                             .Set(CUDNN_ATTR_POINTWISE_MATH_PREC, ComputeTypeOf(call_))
                             .Finalize());
    FIRN_ASSIGN_OR_RETURN(Descriptor y, Result(result));
    Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    operation.Set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise)
        .Set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, last_)
        .Set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
    if (bias != nullptr) operation.Set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *bias);
    FIRN_RETURN_IF_ERROR(operation.Finalize());
    operations_.push_back(std::move(operation));
    std::swap(last_, y);
    return Keep(&pointwise, &y);
  }

  absl::Status AddBias(int64_t result) {
    const ConvProblem& p = call_.problem;
    FIRN_ASSIGN_OR_RETURN(Descriptor bias,
                          TensorOf(call_, kBias, 1, p.out, Sizes::Each(p.dims(), 1)));
    FIRN_RETURN_IF_ERROR(Pointwise(CUDNN_POINTWISE_ADD, &bias, result));
    return Keep(&bias);
  }

  absl::StatusOr<Descriptor> Finish(cudnnHandle_t handle) {
    Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    FIRN_RETURN_IF_ERROR(graph.Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle)
                             .Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations_)
                             .Finalize());
    for (Descriptor& operation : operations_) parts_->push_back(std::move(operation));
    FIRN_RETURN_IF_ERROR(Keep(&last_));
    return graph;
  }

 private:
  absl::StatusOr<Descriptor> Result(int64_t id) const {
    const ConvProblem& p = call_.problem;
    return TensorOf(call_, id, p.batch, p.out, p.out_size);
  }
  template <class... D>
  absl::Status Keep(D*... parts) {
    (parts_->push_back(std::move(*parts)), ...);
    return absl::OkStatus();
  }

  const DnnConvCall& call_;
  std::vector<Descriptor>* parts_;
  std::vector<Descriptor> operations_;
  Descriptor last_{CUDNN_BACKEND_TENSOR_DESCRIPTOR};
};

}  // namespace

absl::StatusOr<Descriptor> ConvGraph(cudnnHandle_t handle, const DnnConvCall& call, bool fused,
                                     std::vector<Descriptor>* parts) {
  const bool bias = fused && call.bias;
  const bool relu = fused && call.activation == FusedActivation::kRelu;
  Builder builder(call, parts);
  FIRN_RETURN_IF_ERROR(builder.Convolve(bias || relu ? int64_t{kConvolved} : kY));
  if (bias) FIRN_RETURN_IF_ERROR(builder.AddBias(relu ? int64_t{kBiased} : kY));
  if (relu) FIRN_RETURN_IF_ERROR(builder.Pointwise(CUDNN_POINTWISE_RELU_FWD, nullptr, kY));
  return builder.Finish(handle);
}

}  // namespace firn::cuda
