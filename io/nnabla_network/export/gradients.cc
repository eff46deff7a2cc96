// Operations that NNabla's networks cannot express.
#include "firn/io/nnabla_network/internal/nnabla_export_call.h"

namespace firn::io::internal {
namespace {

constexpr char kStep[] = "is the step of an optimizer, which is no part of a network in NNabla";
FIRN_NNABLA_NO_EXPORT(adabelief_step, kStep);
FIRN_NNABLA_NO_EXPORT(adabound_step, kStep);
FIRN_NNABLA_NO_EXPORT(adadelta_step, kStep);
FIRN_NNABLA_NO_EXPORT(adagrad_step, kStep);
FIRN_NNABLA_NO_EXPORT(adam_step, kStep);
FIRN_NNABLA_NO_EXPORT(adamax_step, kStep);
FIRN_NNABLA_NO_EXPORT(clip_grad_norm, kStep);
FIRN_NNABLA_NO_EXPORT(clip_grad_value, kStep);
FIRN_NNABLA_NO_EXPORT(lamb_step, kStep);
FIRN_NNABLA_NO_EXPORT(lars_step, kStep);
FIRN_NNABLA_NO_EXPORT(lion_step, kStep);
FIRN_NNABLA_NO_EXPORT(nadam_step, kStep);
FIRN_NNABLA_NO_EXPORT(radam_step, kStep);
FIRN_NNABLA_NO_EXPORT(rmsprop_step, kStep);
FIRN_NNABLA_NO_EXPORT(rprop_step, kStep);
FIRN_NNABLA_NO_EXPORT(sgd_step, kStep);
FIRN_NNABLA_NO_EXPORT(unscale_gradients, kStep);
FIRN_NNABLA_NO_EXPORT(update_loss_scale, kStep);

constexpr char kGradient[] = "is a gradient, which NNabla computes by itself";
FIRN_NNABLA_NO_EXPORT(adaptive_separable_conv2d_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(affine_group_norm_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(atan2_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(avg_pool1d_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(avg_pool2d_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(avg_pool3d_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(batch_norm_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(binary_cross_entropy_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(binary_cross_entropy_target_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(binary_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(cdist_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(clamp_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(conv1d_weight_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(conv2d_weight_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(conv3d_weight_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(cross_entropy_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(ctc_loss_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(digamma_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(dropout_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(elu_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(fake_quantize_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(fmod_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(gelu_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(grid_sample_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(gru_layer_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(hardsigmoid_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(hardswish_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(hardtanh_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(layer_norm_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(leaky_relu_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(log_sigmoid_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(log_softmax_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(logit_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(logsumexp_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(lstm_layer_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(max_pool1d_gather, kGradient);
FIRN_NNABLA_NO_EXPORT(max_pool1d_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(max_pool2d_gather, kGradient);
FIRN_NNABLA_NO_EXPORT(max_pool2d_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(max_pool3d_gather, kGradient);
FIRN_NNABLA_NO_EXPORT(max_pool3d_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(maximum_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(mish_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(multilabel_margin_slopes, kGradient);
FIRN_NNABLA_NO_EXPORT(nll_loss_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(pad_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(patch_correlation_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(pow2_quantize_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(prod_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(rand_gamma_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(relu_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(remainder_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(resample_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(rms_norm_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(recurrent_layer_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(rnn_relu_layer_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(rnn_tanh_layer_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(roi_align_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(scaled_dot_product_attention_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(shrink_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(sigmoid_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(silu_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(sinc_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(softmax_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(softplus_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(tanh_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(threshold_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(unit_rows_grad, kGradient);
FIRN_NNABLA_NO_EXPORT(var_grad, kGradient);

}  // namespace
}  // namespace firn::io::internal
