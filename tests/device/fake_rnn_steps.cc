// The arithmetic of the stand-in for cuDNN's recurrent layers: one sequence after the other, in
// f64. The reserve holds what a step's gradient needs, and then the gradients that those of the
// weights are summed from; its first number says which call must come next.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "firn/tensor/dtype.h"
#include "tests/device/fake_cudnn_rnn.h"
#include "tests/device/fake_library_work.h"

namespace firn::fake {
namespace {

constexpr double kRanForward = 1001, kRanBackward = 1002;

double Get(cudnnDataType_t type, const void* data, int64_t i) {
  switch (type) {
    case CUDNN_DATA_DOUBLE:
      return static_cast<const double*>(data)[i];
    case CUDNN_DATA_HALF:
      return static_cast<float>(static_cast<const Half*>(data)[i]);
    case CUDNN_DATA_BFLOAT16:
      return static_cast<float>(static_cast<const BFloat16*>(data)[i]);
    default:
      return static_cast<const float*>(data)[i];
  }
}
void Put(cudnnDataType_t type, void* data, int64_t i, double value) {
  switch (type) {
    case CUDNN_DATA_DOUBLE:
      static_cast<double*>(data)[i] = value;
      return;
    case CUDNN_DATA_HALF:
      static_cast<Half*>(data)[i] = Half(static_cast<float>(value));
      return;
    case CUDNN_DATA_BFLOAT16:
      static_cast<BFloat16*>(data)[i] = BFloat16(static_cast<float>(value));
      return;
    default:
      static_cast<float*>(data)[i] = static_cast<float>(value);
  }
}

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

// Parts of the reserve, by row.
struct Reserve {
  Reserve(const RnnLayer& l, void* base)
      : state(static_cast<double*>(base)),
        gates(state + 1),
        cells(gates + l.rows * 4 * l.hidden),
        h(cells + l.rows * l.hidden),
        dgx(h + l.rows * l.hidden),
        dgh(dgx + l.rows * l.gates() * l.hidden),
        dh(dgh + l.rows * l.gates() * l.hidden),
        y(dh + l.rows * l.state) {}
  double *state, *gates, *cells, *h, *dgx, *dgh, *dh, *y;
};

// A call's operands in f64.
struct Operands {
  const RnnLayer& l;
  const RnnWork& w;

  double Weight(int64_t id, int64_t row, int64_t column) const {
    const int64_t width = id == 2 * l.gates() ? l.hidden : id < l.gates() ? l.in : l.state;
    return Get(l.type, w.weights, l.Place(id) + row * width + column);
  }
  double Bias(int64_t id, int64_t u) const {
    return l.bias == CUDNN_RNN_NO_BIAS ? 0 : Get(l.type, w.weights, l.BiasPlace(id) + u);
  }
  double Initial(const void* from, int64_t b, int64_t width, int64_t i) const {
    return from == nullptr ? 0 : Get(l.type, from, b * width + i);
  }
  // The row of step t of sequence b.
  int64_t Row(int64_t t, int64_t b) const {
    int64_t at = b;
    for (int64_t i = 0; i < l.batch; ++i) at += std::min<int64_t>(t, l.lengths[i]);
    return at;
  }
  // Product of gate `id` with x of the row, or with h.
  double OfX(int64_t id, int64_t u, int64_t row) const {
    double sum = Bias(id, u);
    for (int64_t j = 0; j < l.in; ++j) sum += Weight(id, u, j) * Get(l.type, w.x, row * l.in + j);
    return sum;
  }
  double OfH(int64_t id, int64_t u, const std::vector<double>& h) const {
    double sum = Bias(l.gates() + id, u);
    for (int64_t j = 0; j < l.state; ++j) {
      sum += Weight(l.gates() + id, u, j) * h[static_cast<size_t>(j)];
    }
    return sum;
  }
};

// One step: h and c after it; gates and cells go to the row's places.
void Step(const Operands& o, int64_t row, std::vector<double>* h, std::vector<double>* c,
          double* gates, double* cells, double* unprojected) {
  const RnnLayer& l = o.l;
  for (int64_t u = 0; u < l.hidden; ++u) {
    const auto i = static_cast<size_t>(u);
    double* const g = gates + 4 * u;
    if (l.mode == CUDNN_LSTM) {
      for (int64_t k = 0; k < 4; ++k) {
        const double sum = o.OfX(k, u, row) + o.OfH(k, u, *h);
        g[k] = k == 2 ? std::tanh(sum) : Logistic(sum);
      }
      cells[u] = g[1] * (*c)[i] + g[0] * g[2];
      unprojected[u] = g[3] * std::tanh(cells[u]);
    } else if (l.mode == CUDNN_GRU) {
      g[0] = Logistic(o.OfX(0, u, row) + o.OfH(0, u, *h));
      g[1] = Logistic(o.OfX(1, u, row) + o.OfH(1, u, *h));
      g[3] = o.OfH(2, u, *h);
      g[2] = std::tanh(o.OfX(2, u, row) + g[0] * g[3]);
      unprojected[u] = (1 - g[1]) * g[2] + g[1] * (*h)[i];
    } else {
      const double sum = o.OfX(0, u, row) + o.OfH(0, u, *h);
      unprojected[u] = l.mode == CUDNN_RNN_RELU ? std::max(sum, 0.0) : std::tanh(sum);
    }
  }
  if (l.mode == CUDNN_LSTM) c->assign(cells, cells + l.hidden);
  for (int64_t p = 0; p < l.state; ++p) {
    double& to = (*h)[static_cast<size_t>(p)];
    if (!l.projected()) {
      to = unprojected[p];
      continue;
    }
    to = 0;
    for (int64_t u = 0; u < l.hidden; ++u) to += o.Weight(2 * l.gates(), p, u) * unprojected[u];
  }
}

// The gradients of a unit's gates, of x's products and of h's; dc becomes that of c before.
void Unstep(const RnnLayer& l, const double* g, double cell, double h, double before_h,
            double before_c, double d, double* dc, double* dgx, double* dgh) {
  if (l.mode == CUDNN_LSTM) {
    const double t = std::tanh(cell);
    *dc += d * g[3] * (1 - t * t);
    dgx[0] = *dc * g[2] * g[0] * (1 - g[0]);
    dgx[1] = *dc * before_c * g[1] * (1 - g[1]);
    dgx[2] = *dc * g[0] * (1 - g[2] * g[2]);
    dgx[3] = d * t * g[3] * (1 - g[3]);
    *dc *= g[1];
    std::copy_n(dgx, 4, dgh);
  } else if (l.mode == CUDNN_GRU) {
    dgx[2] = d * (1 - g[1]) * (1 - g[2] * g[2]);
    dgx[0] = dgx[2] * g[3] * g[0] * (1 - g[0]);
    dgx[1] = d * (before_h - g[2]) * g[1] * (1 - g[1]);
    std::copy_n(dgx, 2, dgh);
    dgh[2] = dgx[2] * g[0];
  } else {
    dgx[0] = dgh[0] = d * (l.mode == CUDNN_RNN_RELU ? (h > 0 ? 1 : 0) : 1 - h * h);
  }
}

// h before step t of sequence b.
double Before(const Operands& o, const Reserve& r, int64_t t, int64_t b, int64_t p) {
  return t == 0 ? o.Initial(o.w.hx, b, o.l.state, p) : r.y[o.Row(t - 1, b) * o.l.state + p];
}

void BackOfSequence(const Operands& o, const Reserve& r, int64_t b) {
  const RnnLayer& l = o.l;
  const int64_t gates = l.gates(), hidden = l.hidden, state = l.state;
  std::vector<double> dh(static_cast<size_t>(state)), dc(static_cast<size_t>(hidden));
  for (int64_t p = 0; p < state; ++p) {
    dh[static_cast<size_t>(p)] = o.Initial(o.w.dhy, b, state, p);
  }
  for (int64_t u = 0; u < hidden; ++u) {
    dc[static_cast<size_t>(u)] = o.Initial(o.w.dcy, b, hidden, u);
  }
  for (int64_t t = l.lengths[b] - 1; t >= 0; --t) {
    const int64_t row = o.Row(t, b);
    double* const dgx = r.dgx + row * gates * hidden;
    double* const dgh = r.dgh + row * gates * hidden;
    for (int64_t p = 0; p < state; ++p) {
      dh[static_cast<size_t>(p)] += Get(l.type, o.w.dy, row * state + p);
      r.dh[row * state + p] = dh[static_cast<size_t>(p)];
    }
    std::vector<double> next(static_cast<size_t>(state));
    for (int64_t u = 0; u < hidden; ++u) {
      double d = l.projected() ? 0 : dh[static_cast<size_t>(u)];
      for (int64_t p = 0; l.projected() && p < state; ++p) {
        d += o.Weight(2 * gates, p, u) * dh[static_cast<size_t>(p)];
      }
      const double old =
          t == 0 ? o.Initial(o.w.cx, b, hidden, u) : r.cells[o.Row(t - 1, b) * hidden + u];
      const double* const g = r.gates + (row * hidden + u) * 4;
      const double h = l.projected() ? 0 : r.y[row * hidden + u];
      Unstep(l, g, r.cells[row * hidden + u], h, l.projected() ? 0 : Before(o, r, t, b, u), old, d,
             &dc[static_cast<size_t>(u)], dgx + u * gates, dgh + u * gates);
      if (l.mode == CUDNN_GRU) next[static_cast<size_t>(u)] = d * g[1];
    }
    for (int64_t u = 0; u < hidden; ++u) {
      for (int64_t k = 0; k < gates; ++k) {
        for (int64_t p = 0; p < state; ++p) {
          next[static_cast<size_t>(p)] += o.Weight(gates + k, u, p) * dgh[u * gates + k];
        }
      }
    }
    for (int64_t j = 0; j < l.in; ++j) {
      double sum = 0;
      for (int64_t i = 0; i < hidden * gates; ++i) {
        sum += o.Weight(i % gates, i / gates, j) * dgx[i];
      }
      Put(l.type, o.w.dx, row * l.in + j, sum);
    }
    dh = next;
  }
  for (int64_t p = 0; o.w.dhx != nullptr && p < state; ++p) {
    Put(l.type, o.w.dhx, b * state + p, dh[static_cast<size_t>(p)]);
  }
  for (int64_t u = 0; o.w.dcx != nullptr && u < hidden; ++u) {
    Put(l.type, o.w.dcx, b * hidden + u, dc[static_cast<size_t>(u)]);
  }
}

}  // namespace

void RunRnnForward(const RnnWork& w) {
  const RnnLayer& l = w.layer;
  const Operands o{l, w};
  std::memset(w.work, 0xFF, static_cast<size_t>(w.work_bytes));
  std::vector<double> own(static_cast<size_t>(l.reserve()));
  const Reserve r(l, w.training ? w.reserve : own.data());
  for (int64_t b = 0; b < l.batch; ++b) {
    std::vector<double> h, c;
    for (int64_t p = 0; p < l.state; ++p) h.push_back(o.Initial(w.hx, b, l.state, p));
    for (int64_t u = 0; u < l.hidden; ++u) c.push_back(o.Initial(w.cx, b, l.hidden, u));
    for (int64_t t = 0; t < l.lengths[b]; ++t) {
      const int64_t row = o.Row(t, b);
      Step(o, row, &h, &c, r.gates + row * 4 * l.hidden, r.cells + row * l.hidden,
           r.h + row * l.hidden);
      for (int64_t p = 0; p < l.state; ++p) {
        r.y[row * l.state + p] = h[static_cast<size_t>(p)];
        Put(l.type, w.y, row * l.state + p, h[static_cast<size_t>(p)]);
      }
    }
    for (int64_t p = 0; w.hy != nullptr && p < l.state; ++p) {
      Put(l.type, w.hy, b * l.state + p, h[static_cast<size_t>(p)]);
    }
    for (int64_t u = 0; w.cy != nullptr && l.mode == CUDNN_LSTM && u < l.hidden; ++u) {
      Put(l.type, w.cy, b * l.hidden + u, c[static_cast<size_t>(u)]);
    }
  }
  *r.state = kRanForward;
}

void RunRnnBackwardData(const RnnWork& w) {
  const RnnLayer& l = w.layer;
  const Operands o{l, w};
  std::memset(w.work, 0xFF, static_cast<size_t>(w.work_bytes));
  const Reserve r(l, w.reserve);
  const bool turn = *r.state == kRanForward;
  for (int64_t b = 0; b < l.batch; ++b) BackOfSequence(o, r, b);
  *r.state = turn ? kRanBackward : 0;
}

void RunRnnBackwardWeights(const RnnWork& w) {
  const RnnLayer& l = w.layer;
  const Operands o{l, w};
  std::memset(w.work, 0xFF, static_cast<size_t>(w.work_bytes));
  const Reserve r(l, w.reserve);
  const int64_t gates = l.gates();
  const bool turn = *r.state == kRanBackward;
  const auto add = [&](int64_t at, double value) {
    const double sum = Get(l.type, w.dweights, at) + value;
    Put(l.type, w.dweights, at, turn ? sum : std::numeric_limits<double>::quiet_NaN());
  };
  // Sums over all rows, each rounded once.
  std::vector<double> sums(static_cast<size_t>(l.weights()));
  const auto sum = [&](int64_t at, double value) { sums[static_cast<size_t>(at)] += value; };
  for (int64_t b = 0; b < l.batch; ++b) {
    for (int64_t t = 0; t < l.lengths[b]; ++t) {
      const int64_t row = o.Row(t, b);
      for (int64_t i = 0; i < l.hidden * gates; ++i) {
        const int64_t u = i / gates, k = i % gates;
        const double dgx = r.dgx[row * gates * l.hidden + i];
        const double dgh = r.dgh[row * gates * l.hidden + i];
        for (int64_t j = 0; j < l.in; ++j) {
          sum(l.Place(k) + u * l.in + j, dgx * Get(l.type, w.x, row * l.in + j));
        }
        for (int64_t p = 0; p < l.state; ++p) {
          sum(l.Place(gates + k) + u * l.state + p, dgh * Before(o, r, t, b, p));
        }
        if (l.bias == CUDNN_RNN_NO_BIAS) continue;
        sum(l.BiasPlace(k) + u, dgx);
        sum(l.BiasPlace(gates + k) + u, dgh);
      }
      for (int64_t i = 0; l.projected() && i < l.state * l.hidden; ++i) {
        sum(l.Place(2 * gates) + i,
            r.dh[row * l.state + i / l.hidden] * r.h[row * l.hidden + i % l.hidden]);
      }
    }
  }
  for (int64_t i = 0; i < l.weights(); ++i) add(i, sums[static_cast<size_t>(i)]);
}

}  // namespace firn::fake
