"""Files of one function each, saved by NNabla, with inputs and the outputs that it computes. Two functions are left
out: NNabla 1.39 leaves the output of Einsum at 0 in a static graph, and it saves tensor_normalization with statistics
that no input gives."""

import os

import nnabla as nn
import nnabla.functions as F
import numpy as np
from nnabla.utils.save import save

rng = np.random.RandomState(1)


def r(*s):
    return rng.randn(*s).astype(np.float32)


def u(*s):
    return rng.uniform(0.1, 0.9, s).astype(np.float32)


def i(n, *s):
    return rng.randint(0, n, s).astype(np.float32)

CASES = []


def case(name, f, *arrays):
    CASES.append((name, f, arrays))


x = r(2, 3, 6, 5)
z = r(2, 3, 6, 5)
a = r(4, 6)
b = r(4, 6)
un = ('sigmoid swish tanh relu gelu mish relu6 hard_sigmoid hard_tanh log_sigmoid softplus '
          'softsign tanh_shrink sinc abs exp identity round ceil floor sin cos tan sinh cosh '
          'asinh atan erf logical_not isnan isinf reduce_sum reduce_mean unlink binary_sigmoid '
          'binary_tanh global_average_pooling ').split()
for n in un:
    case(n, getattr(F, n), x)
for n in 'log acosh'.split():
    case(n, getattr(F, n), u(3, 4) + (1 if n == 'acosh' else 0))
for n in 'asin acos atanh'.split():
    case(n, getattr(F, n), u(3, 4))
for n in ('add2 sub2 mul2 div2 minimum2 maximum2 logical_and logical_or logical_xor equal '
          'not_equal greater_equal greater less_equal less atan2 mod2 squared_error '
          'absolute_error huber_loss add_n mul_n ').split():
    case(n, getattr(F, n), x, z)
case('epsilon_insensitive', lambda x, y: F.epsilon_insensitive_loss(x, y, 0.25), a, b)
case('pow2', F.pow2, u(3, 4), u(3, 4))
for n, v in dict(add_scalar=1.5, mul_scalar=2.5, pow_scalar=2, r_sub_scalar=1.5, r_div_scalar=1.5, r_pow_scalar=1.5,
    minimum_scalar=0.5, maximum_scalar=0.5, equal_scalar=0, not_equal_scalar=0, greater_equal_scalar=0.5,
    greater_scalar=0.5, less_equal_scalar=0.5, less_scalar=0.5).items():
    case(n, lambda x, n=n, v=v: getattr(F, n)(x, v), x)
for n in 'logical_and_scalar logical_or_scalar logical_xor_scalar'.split():
    for v in (True, False):
        case(n + str(v), lambda x, n=n, v=v: getattr(F, n)(x, v), i(2, 3, 4))
case('leaky_relu', lambda x: F.leaky_relu(x, 0.3), x)
case('elu', lambda x: F.elu(x, 1.5), x)
case('selu', lambda x: F.selu(x, 1.2, 1.5), x)
case('crelu', lambda x: F.crelu(x, 1), x)
case('celu', lambda x: F.celu(x, 1.5, 2), x)
case('softmax', lambda x: F.softmax(x, 1), x)
case('log_softmax', lambda x: F.log_softmax(x, 2), x)
case('prelu', lambda x, w: F.prelu(x, w, 1), x, r(3))
case('prelu3', lambda x, w: F.prelu(x, w, 3), x, r(5))
case('prelu1', lambda x, w: F.prelu(x, w, 1), x, r(1).reshape(()))
case('sign', lambda x: F.sign(x, 0.5), np.array([-1, 0, 2.0], np.float32))
case('reset_nan', lambda x: F.reset_nan(x, 3.0), np.array([np.nan, 1], np.float32))
case('reset_inf', lambda x: F.reset_inf(x, 3.0), np.array([np.inf, 1], np.float32))
case('where', F.where, i(2, 4), a, b)
case('constant', lambda x: F.constant(0.5, (2, 3)) + x, r(2, 3))
case('arange', lambda x: F.arange(0, 3, 1) + x, r(3))
case('linspace', lambda x: F.linspace(0, 1, 5) + x, r(5))
case('batch_matmul', lambda x, y: F.batch_matmul(x, y, True, False), r(2, 4, 3), r(2, 4, 5))
case('affine', lambda x, w, b: F.affine(x, w, b, 2), r(2, 3, 4), r(4, 5), r(5))
case('affine_nd', lambda x, w, b: F.affine(x, w, b, 1), r(2, 3, 4), r(12, 5, 2), r(5, 2))
case('affine_nob', lambda x, w: F.affine(x, w), r(2, 12), r(12, 5))
case('conv', lambda x, w, b: F.convolution(x, w, b, 1, (1, 0), (2, 1), (2, 1), 3), x, r(6, 1, 2, 3), r(6))
case('conv1d', lambda x, w: F.convolution(x, w, None, 1, (1,), (2,), (1,)), r(2, 3, 7), r(4, 3, 3))
case('conv3d', lambda x, w: F.convolution(x, w, None, 1, (1, 1, 1)), r(2, 3, 4, 4, 4), r(4, 3, 3, 3, 3))
case('conv_base2', lambda x, w: F.convolution(x, w, None, 2, (1, 1)), r(2, 2, 3, 5, 5), r(4, 3, 3, 3))
case('depthwise', lambda x, w, b: F.depthwise_convolution(x, w, b, multiplier=2), x, r(6, 3, 3), r(6))
case('deconv', lambda x, w, b: F.deconvolution(x, w, b, 1, (1, 0), (2, 2), (1, 2), 1, False, (1, 0)), x,
    r(3, 4, 3, 3), r(4))
case('depthwise_deconv', lambda x, w: F.depthwise_deconvolution(x, w), x, r(3, 3, 3))
case('depthwise_deconv2', lambda x, w: F.depthwise_deconvolution(x, w, divisor=2), r(1, 4, 5, 5), r(4, 3, 3))
case('deformable', lambda x, w, o, m, b: F.deformable_convolution(x, w, o, m, b, 1, (1, 1)), r(2, 3, 4, 4),
    r(6, 3, 3, 3), r(2, 18, 4, 4) * 0.5, u(2, 9, 4, 4), r(6))
case('deformable_nomask', lambda x, w, o, b: F.deformable_convolution(x, w, o, None, b, 1, (1, 1)), r(2, 3, 4, 4),
    r(6, 3, 3, 3), r(2, 18, 4, 4) * 0.5, r(6))
case('adaptive_separable', F.adaptive_separable_convolution, r(2, 3, 4, 4), r(2, 3, 2, 2), r(2, 3, 2, 2))
for nm, f in (('max', F.max_pooling), ('avg', F.average_pooling), ('sum', F.sum_pooling)):
    for k, s, ib, p in (((2, 2), (2, 2), True, (0, 0)), ((3, 2), (2, 3), True, (1, 1)),
        ((3, 3), (2, 2), False, (1, 0)), ((2, 2), (3, 3), False, (0, 0)), ((3, 3), (4, 4), False, (1, 1))):
        case(f'{nm}_pool_{k}{s}{ib}{p}'.replace(' ', ''), lambda x, f=f, k=k, s=s, ib=ib, p=p: f(x, k, s, ib, p), x)
    case(f'{nm}_pool3', lambda x, f=f: f(x, (2, 2, 2)), r(2, 3, 4, 4, 4))
for ib in (True, False):
    case(f'avg_excl{ib}', lambda x, ib=ib: F.average_pooling(x, (3, 3), (2, 2), ib, (1, 1), including_pad=False), x)
case('unpool', lambda x: F.unpooling(x, (2, 3)), x)
case('embed', F.embed, i(4, 2, 3), a)
case('bn_test', lambda x, be, g, m, v: F.batch_normalization(x, be, g, m, v, batch_stat=False), x, r(1, 3, 1, 1),
    r(1, 3, 1, 1), r(1, 3, 1, 1), u(1, 3, 1, 1))
case('bn_axis3', lambda x, be, g, m, v: F.batch_normalization(x, be, g, m, v, axes=[3], batch_stat=False), x,
    r(1, 1, 1, 5), r(1, 1, 1, 5), r(1, 1, 1, 5), u(1, 1, 1, 5))
case('bn_train', lambda x, be, g, m, v: F.batch_normalization(x, be, g, m, v, batch_stat=True), x, r(1, 3, 1, 1),
    r(1, 3, 1, 1), r(1, 3, 1, 1), u(1, 3, 1, 1))
case('fused_bn', lambda x, be, g, m, v, z: F.fused_batch_normalization(x, be, g, m, v, z, batch_stat=False), x,
    r(1, 3, 1, 1), r(1, 3, 1, 1), r(1, 3, 1, 1), u(1, 3, 1, 1), z)
case('layer_norm', lambda x, b, g: F.layer_normalization(x, b, g), x, r(1, 3, 6, 5), r(1, 3, 6, 5))
case('instance_norm', lambda x, b, g: F.instance_normalization(x, b, g), x, r(1, 3, 1, 1), r(1, 3, 1, 1))
case('group_norm', lambda x, b, g: F.group_normalization(x, b, g, 2), r(2, 4, 3, 3), r(1, 4, 1, 1), r(1, 4, 1, 1))
case('layer_norm_none', lambda x: F.layer_normalization(x, None, None), x)
case('norm_norm', lambda x: F.norm_normalization(x, 3.0, [1]), x)
case('weight_norm', lambda w, g: F.weight_normalization(w, g, 1), r(4, 3, 2), r(3))
case('weight_std', lambda w: F.weight_standardization(w, 1), r(4, 3, 2, 2))
for n in 'sum mean max min prod'.split():
    case(n, lambda x, n=n: getattr(F, n)(x, (1, 3), True), x)
    case(n + '_all', lambda x, n=n: getattr(F, n)(x), r(2, 3))
case('max_index', lambda x: F.max(x, (1, 3), True, True), x)
case('min_only', lambda x: F.min(x, 2, False, False, True), x)
case('norm', lambda x: F.norm(x, 3.0, 1), x)
case('cumsum', lambda x: F.cumsum(x, 2, True, True), x)
case('cumprod', lambda x: F.cumprod(x, 1), x)
case('concatenate', lambda x, y: F.concatenate(x, y, axis=2), x, z)
case('split', lambda x: F.split(x, 1), x)
case('stack', lambda x, y: F.stack(x, y, axis=1), x, z)
case('slice', lambda x: F.slice(x, (1, 0), (4, 5), (2, 1)), a)
for m in ('constant', 'reflect', 'repeat'):
    case('pad_' + m, lambda x, m=m: F.pad(x, (1, 2, 0, 3), m, 0.5), a)
case('transpose', lambda x: F.transpose(x, (0, 2, 3, 1)), x)
case('broadcast', lambda x: F.broadcast(x, (4, 3, 6)), r(4, 1, 6))
case('broadcast_to', lambda x, y: F.broadcast_to(x, y, 1), x, r(3))
case('tile', lambda x: F.tile(x, (2, 1)), a)
case('one_hot', lambda x: F.one_hot(x, (4,)), i(4, 5, 1))
case('one_hot2', lambda x: F.one_hot(x, (4, 3)), i(3, 5, 2))
case('flip', lambda x: F.flip(x, (1, 3)), x)
for m in ('nearest', 'reflect'):
    case('shift_' + m, lambda x, m=m: F.shift(x, (1, -2), m), a)
case('sort', lambda x: F.sort(x, 1, True, True), a)
case('sort_only', lambda x: F.sort(x, 0, False, False, True), a)
case('reshape', lambda x: F.reshape(x, (6, 4)), a)
case('reshape_batch', lambda x: F.reshape(x, (-1, 90)), x)
case('shape', lambda x: F.shape(x, 1, 3), x)
case('shape0', lambda x: F.shape(x), x)
case('matrix_diag', F.matrix_diag, a)
case('matrix_diag_part', F.matrix_diag_part, r(2, 3, 3))
case('trilu', lambda x: F.trilu(x, 1, False), r(2, 3, 3))
case('meshgrid', lambda x, y: F.meshgrid(x, y), r(3), r(4))
case('meshgrid_ij', lambda x, y: F.meshgrid(x, y, ij_indexing=True), r(3), r(4))
case('eye_like', lambda x: F.eye_like(x, 1), a)
spd = r(2, 3, 3)
spd = spd @ spd.transpose(0, 2, 1) + np.eye(3, dtype=np.float32)
for n in 'batch_det batch_inv batch_logdet batch_cholesky'.split():
    case(n, getattr(F, n), spd)
case('gather', lambda x, y: F.gather(x, y, 1), a, i(6, 3))
case('gather_batch', lambda x, y: F.gather(x, y, 1, 1), a, i(6, 4, 2))
case('gather_nd', F.gather_nd, a, i(4, 2, 3))
case('scatter_nd', lambda d, p: F.scatter_nd(d, p, shape=(4, 6)), r(3), np.array([[0, 1, 3], [2, 5, 4]], np.float32))
case('scatter_nd_add', lambda d, p: F.scatter_nd(d, p, shape=(4, 6), add=True), r(3),
    np.array([[0, 0, 3], [2, 2, 4]], np.float32))
case('scatter_add', lambda x, p, y: F.scatter_add(x, p, y, 0), a, i(4, 2, 3), r(2, 3))
case('bool_fill', lambda x, m: F.bool_fill(x, m, 0.5), a, i(2, 4, 6))
case('searchsorted', lambda s, v: F.searchsorted(s, v), np.sort(r(6)), r(4))
case('bce_logits', F.sigmoid_cross_entropy, a, i(2, 4, 6))
case('bce', F.binary_cross_entropy, u(4, 6), i(2, 4, 6))
case('sce', lambda x, t: F.softmax_cross_entropy(x, t, 1), a, np.array([[1], [-1], [5], [2]], np.float32))
case('sce2', lambda x, t: F.softmax_cross_entropy(x, t, 1), r(2, 3, 2, 2), i(3, 2, 1, 2, 2))
case('cce', lambda x, t: F.categorical_cross_entropy(x, t, 1), u(4, 6), i(6, 4, 1))
case('kl', lambda x, y: F.kl_multinomial(x, y, 1), u(4, 6), u(4, 6))
case('sce_axis2', lambda x, t: F.softmax_cross_entropy(x, t, 2), r(2, 3, 4), i(4, 2, 3, 1))
case('top1', lambda x, t: F.top_n_error(x, t, 1, 1), a, i(6, 4, 1))
case('top3', lambda x, t: F.top_n_error(x, t, 1, 3), a, i(6, 4, 1))
case('binary_error', F.binary_error, u(4, 6), i(2, 4, 6))
case('confusion', lambda x, t: F.confusion_matrix(x, t, 1), a, i(6, 4, 1))
case('fixed_point', lambda x: F.fixed_point_quantize(x, True, 4, 0.25), x)
case('pow2_quantize', lambda x: F.pow2_quantize(x, True, True, 4, 1), x)
case('prune', lambda x: F.prune(x, 0.75), a)
case('min_max_quantize', lambda x, a, b, c, d: F.min_max_quantize(x, a, b, c, d), a,
    np.full((1, 1), -0.5, np.float32), np.full((1, 1), 0.75, np.float32), np.full((1, 1), 0, np.float32),
    np.full((1, 1), 255, np.float32))
case('quantize_linear', lambda x, s, z: F.quantize_linear(x, s, z, 'HALF_TO_EVEN', True, np.int8), a * 5,
    np.full((1, 1), 0.25, np.float32), np.full((1, 1), 3, np.float32))
case('dequantize_linear', lambda x, s, z: F.dequantize_linear(x, s, z), np.floor(a * 100),
    np.full((1, 1), 0.25, np.float32), np.full((1, 1), 3, np.float32))
case('binary_connect_affine', lambda x, w, wb, b: F.binary_connect_affine(x, w, wb, b), a, r(6, 5), r(6, 5), r(5))
case('binary_weight_affine', lambda x, w, wb, al, b: F.binary_weight_affine(x, w, wb, al, b), a, r(6, 5), r(6, 5),
    r(5), r(5))
case('binary_connect_conv', lambda x, w, wb, b: F.binary_connect_convolution(x, w, wb, b), x, r(4, 3, 3, 3),
    r(4, 3, 3, 3), r(4))
case('binary_weight_conv', lambda x, w, wb, al, b: F.binary_weight_convolution(x, w, wb, al, b), x, r(4, 3, 3, 3),
    r(4, 3, 3, 3), r(4), r(4))
for L, D in ((1, 1), (2, 2)):

    def rn(f, g, gates, biasg, nst):
        w = [r(D, *([gates] if gates > 1 else []), 3, 7)] + ([r(L - 1, D, *([gates] if gates > 1 else []), 3,
            D * 3 + 3)] if L > 1 else [])
        b = [r(L, D, *([biasg] if biasg > 1 else []), 3)]
        st = [r(L, D, 2, 3) for _ in range(nst)]

        def run(*t, L=L, D=D):
            s, rest = (t[1:1 + nst], t[1 + nst:])
            return f(t[0], *s, rest[0], rest[1] if L > 1 else None, rest[-1], num_layers=L, bidirectional=D == 2)
        case(f'{g}{L}{D}', run, r(5, 2, 4), *st, *w, *b)
    rn(F.rnn, 'rnn', 1, 1, 1)
    rn(F.lstm, 'lstm', 4, 4, 2)
    rn(F.gru, 'gru', 3, 4, 1)
for mode in ('linear', 'nearest'):
    for ac, hp, hn in ((True, False, False), (False, True, False), (False, False, False), (False, True, True)):
        if mode == 'nearest' and ac:
            continue
        case(f'interp_{mode}{ac}{hp}{hn}', lambda x, m=mode, ac=ac, hp=hp,
            hn=hn: F.interpolate(x, output_size=(9, 7), mode=m, align_corners=ac, half_pixel=hp,
            half_pixel_for_nn=hn and m == 'nearest'), x)
case('affine_grid', lambda t: F.affine_grid(t, (3, 5), True), r(2, 2, 3))
case('affine_grid_no', lambda t: F.affine_grid(t, (3, 5), False), r(2, 2, 3))
for pm in ('zero', 'repeat', 'reflect'):
    for m in ('linear', 'nearest'):
        case(f'warp_{pm}{m}', lambda x, g, pm=pm, m=m: F.warp_by_grid(x, g, m, pm, True), x, r(2, 3, 5, 2))
case('warp_by_flow', F.warp_by_flow, r(2, 3, 4, 4), r(2, 2, 4, 4))
case('patch_correlation', lambda x, y: F.patch_correlation(x, y, (1, 1), (1, 1)), x, z)
case('topk_data', lambda x: F.top_k_data(x, 2), a)
case('topk_keep', lambda x: F.top_k_data(x, 2, reduce=False), a)
case('topk_abs', lambda x: F.top_k_data(x, 2, abs=True, largest=False, with_index=True), a)
case('stft', lambda x: F.stft(x, 16, 8, 16), r(2, 64))
case('stft_odd', lambda x: F.stft(x, 9, 3, 9, pad_mode='constant'), r(2, 33))
# At the edges fewer frames overlap; NNabla refuses numbers that no window covers, such as hanning's
# first one.
for n, size, stride, fft, window, center in (('', 16, 4, 16, 'hanning', True), ('_short', 9, 4, 16, 'hamming', True),
    ('_edges', 16, 4, 16, 'hamming', False), ('_apart', 16, 16, 16, 'rectangular', False),
    ('_odd', 15, 5, 15, 'hanning', True), ('_odd_edges', 9, 3, 9, 'hamming', False)):
    case('istft' + n, lambda y, z, n=size, s=stride, f=fft, w=window, c=center: F.istft(y, z, n, s, f, window_type=w,
        center=c, pad_mode='constant'), r(2, fft // 2 + 1, 6), r(2, fft // 2 + 1, 6))
case('roi_align', lambda x, b: F.roi_align(x, b, (2, 2), (1.0, 1.0), 2), x,
    np.array([[0, 0.5, 0.5, 3, 3.5], [1, 1, 0, 4, 2]], np.float32))
case('nms', lambda x: F.nms_detection2d(x, 0.5, 0.45), u(1, 5, 7))
for n, dt in (('u8', np.uint8), ('u32', np.uint32)):
    whole = np.array([1, 2, 12, 60, 255], dt)
    case('shift_left_' + n, lambda x, k: F.bit_shift(x, k, 'LEFT'), whole, np.array([1, 9, 2, 3, 1], dt))
    case('shift_right_' + n, lambda x, k: F.bit_shift(x, k, 'RIGHT'), whole, np.array([1, 9, 2, 3, 1], dt))
# Functions whose elements decide sizes.
mask2 = np.array([[1, 0, 1], [0, 1, 1]], np.float32)
case('bool_gather', F.bool_gather, r(2, 3), mask2)
case('bool_gather_rows', F.bool_gather, r(2, 3, 2, 2), mask2)
case('bool_scatter', F.bool_scatter, r(4, 2), mask2)
case('nonzero', F.nonzero, i(2, 3, 4, 2))
case('unique', lambda x: F.unique(x, True, 0, True, True, True, True), i(4, 3, 4))
case('unique_first', lambda x: F.unique(x, True, 0, False, True, False, True), i(4, 3, 4))
case('unique_axis', lambda x: F.unique(x, False, 1, True, False, True, False), i(2, 2, 6))
case('unique_only', lambda x: F.unique(x, axis=0), i(4, 3, 4))
lengths = np.array([4, 3, 3, 1], np.float32)
sizes = np.array([4, 3, 3, 1], np.float32)
for bf in (False, True):
    case(f'pack{bf}', lambda x, n, bf=bf: F.pack_padded_sequence(x, n, bf), r(*((4, 6, 2) if bf else (6, 4, 2))), lengths)
    for total in (-1, 6):
        case(f'pad_packed{bf}{total}', lambda x, n, bf=bf, total=total: F.pad_packed_sequence(x, n, bf, 0.5, total),
            r(11, 2), sizes)
case('pack_scalars', F.pack_padded_sequence, r(5, 4), lengths)
corners = u(2, 6, 4)
for center in (0, 1):
    case(f'onnx_nms{center}', lambda b, s, c=center: F.onnx_non_max_suppression(b, s, c, 3, 0.3, 0.4), corners,
        u(2, 3, 6))
case('onnx_nms_equal', lambda b, s: F.onnx_non_max_suppression(b, s, 0, 3, 0.3, 0.5), corners,
    np.array([[[0.5, 0.25, 0.75, 0.5, 0.5, 0.125]]] * 2, np.float32))
# Functions that write an input or count their runs.
case('assign', F.assign, r(3, 4), r(3, 4))
for dim in (0, 1, 3):
    case(f'spectral_norm{dim}', lambda w, v, d=dim: F.spectral_norm(w, v, d, 2), r(4, 3, 2, 5), r((4, 3, 2, 5)[dim]))
case('spectral_norm_u', lambda w, v: F.spectral_norm(w, v, 0, 1, test=True, output_u=True), r(4, 3), r(4))
case('mean_subtraction', lambda x, m, n: F.mean_subtraction(x, m, n, 1, False), x, r(3, 6, 5),
    np.array([3], np.float32))
case('mean_subtraction_train', lambda x, m, n: F.mean_subtraction(x, m, n, 1, True), x, r(3, 6, 5),
    np.array([3], np.float32))
for it in ((), (0,), (0, 3)):
    case(f'inq_affine{len(it)}', lambda x, w, f, b, it=it: F.inq_affine(x, w, f, b, 1, 4, it), a, r(6, 5), i(2, 6, 5),
        r(5))
case('inq_affine_nob', lambda x, w, f: F.inq_affine(x, w, f, None, 1, 5, (0, 2)), a, r(6, 5), i(2, 6, 5) * 0)
case('inq_conv', lambda x, w, f, b: F.inq_convolution(x, w, f, b, 1, (1, 0), (2, 1), (1, 1), 1, 4, (0, 1)), x,
    r(4, 3, 3, 2), i(2, 4, 3, 3, 2), r(4))
# Functions that consist of several, and a gradient as a function.
fw, fn = r(4, 3, 3, 3), [r(1, 4, 1, 1), r(1, 4, 1, 1), r(1, 4, 1, 1), u(1, 4, 1, 1)]
for nl, na in (('identity', []), ('relu', []), ('sigmoid', []), ('tanh', []), ('leaky_relu', [0.2]), ('elu', [1.5]),
    ('relu6', [])):
    case(f'fused_conv_{nl}', lambda x, w, b, nl=nl, na=na: F.fused_convolution(x, w, b, pad=(1, 0), nonlinearity=nl,
        nonlinearity_args=na), x, fw, r(4))
for pm, pd in (('constant', (1, 1)), ('reflect', (1, 2)), ('repeat', (1, 0, 0, 2))):
    case(f'fused_conv_{pm}', lambda x, w, pm=pm, pd=pd: F.fused_convolution(x, w, pad=pd, pad_mode=pm,
        constant_value=0.5, stride=(2, 1)), x, fw)
case('fused_conv_z', lambda x, w, y: F.fused_convolution(x, w, z=y, pad=(1, 1)), x, fw, r(2, 4, 6, 5))
case('fused_conv_bias_z', lambda x, w, b, y: F.fused_convolution(x, w, b, z=y, pad=(1, 1)), x, fw, r(4), r(2, 4, 6, 5))
for bs in (True, False):
    case(f'fused_conv_bn{bs}', lambda x, w, *n, bs=bs: F.fused_convolution(x, w, None, *n, pad=(1, 1), batch_stat=bs),
        x, fw, *fn)
case('fused_conv_bn_z', lambda x, w, b, g, m, v, y: F.fused_convolution(x, w, None, b, g, m, v, y, pad=(1, 1),
    batch_stat=False), x, fw, *fn, r(2, 4, 6, 5))
for k, s, ib, p in (((2, 2), (2, 2), True, (0, 0)), ((3, 2), (2, 3), True, (1, 1)), ((3, 3), (2, 2), False, (1, 0)),
    ((3, 3), (1, 1), True, (1, 1))):
    shape = F.max_pooling(nn.Variable(x.shape), k, s, ib, p).shape
    case(f'max_pool_back{k}{s}{ib}'.replace(' ', ''), lambda dy, x, k=k, s=s, ib=ib, p=p: F.max_pooling_backward(dy, x,
        k, s, ib, p), r(*shape), x)
case('max_pool_back3', lambda dy, x: F.max_pooling_backward(dy, x, (2, 2, 2)), r(2, 3, 2, 2, 2), r(2, 3, 4, 4, 4))
for m in ('nearest', 'linear', 'cubic'):
    for cm in ('half_pixel', 'pytorch_half_pixel', 'align_corners', 'asymmetric'):
        case(f'resize_{m}_{cm}', lambda x, m=m, cm=cm: F.onnx_resize(x, sizes=(2, 3, 9, 4), mode=m,
            coordinate_transformation_mode=cm), x)
        case(f'resize_scales_{m}_{cm}', lambda x, m=m, cm=cm: F.onnx_resize(x, scales=(1.0, 1.0, 0.5, 1.75), mode=m,
            coordinate_transformation_mode=cm), x)
for nm in ('round_prefer_ceil', 'floor', 'ceil'):
    case('resize_' + nm, lambda x, nm=nm: F.onnx_resize(x, sizes=(2, 3, 9, 4), nearest_mode=nm), x)
case('resize_crop', lambda x: F.onnx_resize(x, roi=(0, 0, 0.25, -0.25, 1, 1, 0.75, 1.25), sizes=(2, 3, 5, 7),
    mode='linear', coordinate_transformation_mode='tf_crop_and_resize', extrapolation_value=0.5), x)
case('resize_outside', lambda x: F.onnx_resize(x, sizes=(2, 3, 9, 4), mode='cubic', exclude_outside=1,
    cubic_coeff_a=-0.5), x)
case('vat_noise', lambda x, w: F.vat_noise(x, w, 1, 2.0), x, z)
case('vat_noise2', lambda x, w: F.vat_noise(x, w, 2, 0.5), x, z)
# Random functions, with options that leave only one result.
case('random_choice', lambda x, w: F.random_choice(x, w, (4,)), a, np.eye(4, 6, dtype=np.float32))
case('random_shift', lambda x: F.random_shift(x, (0, 0)), x)
case('random_erase_none', lambda x: F.random_erase(x, prob=0.0), x)
case('random_erase_all', lambda x: F.random_erase(x, prob=1.0, area_ratios=(1.0, 1.0), aspect_ratios=(1.0, 1.0),
    replacements=(0.5, 0.5)), r(2, 3, 4, 4))
case('image_augmentation', lambda x: F.image_augmentation(x), x)
case('image_augmentation_pad', lambda x: F.image_augmentation(x, shape=(3, 10, 7), pad=(2, 1)), x)


def make(out):
    """Writes <out>/<case>/net.nnp, x0.npy, ..., y0.npy, ... and returns the folders."""
    folders = []
    for name, function, arrays in CASES:
        nn.clear_parameters()
        inputs = [nn.Variable.from_numpy_array(array.copy()) for array in arrays]
        # Runs at once: if elements decide sizes, NNabla's graphs have no sizes, or those of the run
        # before.
        with nn.auto_forward(True):
            outputs = function(*inputs)
            outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
            folder = os.path.join(out, name)
            os.makedirs(folder)
            ins, outs = ([f"{letter}{k}" for k in range(len(all_))] for letter, all_ in (("x", inputs), ("y", outputs)))
            network = {"name": "net", "batch_size": 1, "outputs": dict(zip(outs, outputs)),
                       "names": dict(zip(ins, inputs))}
            executor = {"name": "run", "network": "net", "data": ins, "output": outs}
            save(os.path.join(folder, "net.nnp"), {"networks": [network], "executors": [executor]},
                 variable_batch_size=False)
            for label, array in zip(ins, arrays):
                np.save(f"{folder}/{label}.npy", array)
        for label, output in zip(outs, outputs):
            np.save(f"{folder}/{label}.npy", output.d.astype(np.float32))
        folders.append(folder)
    return folders
