// List scheduling in the program's order, on a device that is assumed to run two operations at once
// as fast as one.

#include "firn/autograd/graph/streams.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "firn/tensor/op.h"

namespace firn {
namespace {

// The cost of starting an operation, in bytes that a device could move meanwhile (about 1 us).
constexpr int64_t kLaunch = 1 << 20;

// How much more memory two streams may cost: an eighth, or what an allocator rounds up to anyway.
constexpr int64_t kMoreMemory = 8, kLittleMemory = 16 << 20;

using Positions = std::vector<size_t>;

// Which operations an operation must come after, and how long each takes.
struct Order {
  std::vector<Positions> after;  // by operation, ascending
  std::vector<int64_t> cost;     // in bytes; 0 for what runs pass over
};

class OrderFinder {
 public:
  explicit OrderFinder(const Graph& graph) : g_(graph), buffers_(graph.buffers.size()) {}

  Order Run() {
    for (size_t at = 0; at < g_.instrs.size(); ++at) {
      const Instr& instr = g_.instrs[at];
      order_.after.emplace_back();
      order_.cost.push_back(0);
      if (!Computes(g_, instr)) continue;
      order_.cost[at] = kLaunch;
      for (size_t i = 0; i < instr.in.size(); ++i) Touch(at, instr.in[i], instr.op->writes(i));
      for (ValueId id : instr.out) Touch(at, id, true);
      Positions& after = order_.after[at];
      std::sort(after.begin(), after.end());
      after.erase(std::unique(after.begin(), after.end()), after.end());
    }
    return std::move(order_);
  }

 private:
  struct OfBuffer {
    size_t writer = StreamPlan::kNone;  // the last one
    Positions readers;                  // since then
  };

  void Touch(size_t at, ValueId id, bool writes) {
    if (id == kNoValue) return;
    order_.cost[at] += static_cast<int64_t>(g_.value(id).spec.bytes());
    OfBuffer& buffer = buffers_[static_cast<size_t>(g_.value(id).buffer)];
    Positions& after = order_.after[at];
    if (buffer.writer != StreamPlan::kNone && buffer.writer != at) after.push_back(buffer.writer);
    if (!writes) {
      buffer.readers.push_back(at);
      return;
    }
    for (size_t reader : buffer.readers) {
      if (reader != at) after.push_back(reader);
    }
    buffer.readers.clear();
    buffer.writer = at;
  }

  const Graph& g_;
  Order order_;
  std::vector<OfBuffer> buffers_;
};

// Which operations lie on the longest path, and how much later than its earliest time each
// operation may begin.
struct Slack {
  std::vector<bool> on_path;
  std::vector<int64_t> slack;
  Positions heir;  // by operation: of those that wait for it, the one with the longest way to go
};

Slack SlackOf(const Order& order) {
  const size_t n = order.cost.size();
  std::vector<int64_t> before(n, 0), rest = order.cost;  // time until it begins, and from then on
  Slack slack{std::vector<bool>(n, false), std::vector<int64_t>(n, 0),
              Positions(n, StreamPlan::kNone)};
  for (size_t at = 0; at < n; ++at) {
    for (size_t p : order.after[at]) before[at] = std::max(before[at], before[p] + order.cost[p]);
  }
  for (size_t at = n; at-- > 0;) {
    for (size_t p : order.after[at]) {
      if (slack.heir[p] != StreamPlan::kNone && order.cost[p] + rest[at] <= rest[p]) continue;
      rest[p] = order.cost[p] + rest[at];
      slack.heir[p] = at;
    }
  }
  if (n == 0) return slack;
  size_t at = static_cast<size_t>(std::max_element(rest.begin(), rest.end()) - rest.begin());
  const int64_t longest = rest[at];
  for (; at != StreamPlan::kNone; at = slack.heir[at]) slack.on_path[at] = true;
  for (size_t i = 0; i < n; ++i) slack.slack[i] = longest - before[i] - rest[i];
  return slack;
}

// Bytes of temporaries that are in use during each operation.
std::vector<int64_t> MemoryInUse(const Graph& graph, const std::vector<Lifespan>& spans) {
  std::vector<int64_t> change(graph.instrs.size() + 2, 0);
  for (size_t b = 0; b < spans.size(); ++b) {
    if (graph.buffers[b].kind != Buffer::Kind::kTemp || !spans[b].named()) continue;
    change[spans[b].first] += graph.buffers[b].bytes;
    change[spans[b].last + 1] -= graph.buffers[b].bytes;
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  return change;
}

class Scheduler {
 public:
  // `tight`: by operation, whether memory is scarce there.
  Scheduler(const Order& order, const Slack& slack, const std::vector<bool>& may_go_aside,
            const std::vector<bool>& tight)
      : order_(order),
        slack_(slack),
        may_(may_go_aside),
        tight_(tight),
        finish_(order.cost.size(), 0) {}

  StreamPlan Run() {
    const size_t n = order_.cost.size();
    plan_.aside.assign(n, false);
    plan_.wait_for.assign(n, StreamPlan::kNone);
    for (size_t at = 0; at < n; ++at) {
      if (order_.cost[at] != 0) Place(at);
    }
    if (done_[kAside].empty()) return {};
    const size_t last = done_[kAside].back();
    if (!Knows(kMain, last)) plan_.join = last;
    return std::move(plan_);
  }

 private:
  enum Side : size_t { kMain, kAside };

  Side SideOf(size_t at) const { return plan_.aside[at] ? kAside : kMain; }
  // Whether `side` has waited for the other one's operation `at`.
  bool Knows(Side side, size_t at) const { return at < known_[side]; }

  void Place(size_t at) {
    int64_t ready = 0;
    for (size_t p : order_.after[at]) ready = std::max(ready, finish_[p]);
    plan_.aside[at] = GoesAside(at, ready);
    const Side side = SideOf(at);
    size_t last = StreamPlan::kNone;
    for (size_t p : order_.after[at]) {
      if (SideOf(p) != side) last = p;
    }
    const int64_t start = std::max(ready, free_[side]);
    last = OrForItsMemory(last, at, start);
    if (last != StreamPlan::kNone && !Knows(side, last)) {
      plan_.wait_for[at] = last;
      known_[side] = last + 1;
    }
    finish_[at] = free_[side] = start + order_.cost[at];
    done_[side].push_back(at);
  }

  bool GoesAside(size_t at, int64_t ready) const {
    if (!may_[at] || slack_.on_path[at] || slack_.slack[at] < order_.cost[at]) return false;
    if (done_[kAside].empty() && order_.after[at].empty()) return false;  // would wait for nothing
    for (size_t p : order_.after[at]) {
      if (slack_.heir[p] == at && finish_[p] == ready) return SideOf(p) == kAside;
    }
    return std::max(ready, free_[kAside]) <= std::max(ready, free_[kMain]);
  }

  // The operation of the other stream to wait for: `last`, or a later one whose memory the wait
  // gives back. A later one counts if it has had twice its time or, where memory is scarce, if it
  // stands before this stream's last one.
  size_t OrForItsMemory(size_t last, size_t at, int64_t start) const {
    const Side side = SideOf(at);
    const Positions &own = done_[side], &other = done_[side == kMain ? kAside : kMain];
    for (auto p = other.rbegin(); p != other.rend(); ++p) {
      if (Knows(side, *p) || (last != StreamPlan::kNone && *p <= last)) break;
      const bool long_done = finish_[*p] + order_.cost[*p] <= start;
      if (long_done || (tight_[at] && !own.empty() && *p < own.back())) return *p;
    }
    return last;
  }

  const Order& order_;
  const Slack& slack_;
  const std::vector<bool>& may_;
  const std::vector<bool>& tight_;
  StreamPlan plan_;
  std::vector<int64_t> finish_;           // by operation
  std::array<int64_t, 2> free_ = {0, 0};  // when a stream has done what it has
  std::array<size_t, 2> known_ = {0, 0};  // it has waited for the other's operations before this
  std::array<Positions, 2> done_;         // by stream: its operations
};

}  // namespace

StreamPlan PlanStreams(const Graph& graph, const std::vector<bool>& may_go_aside) {
  if (std::find(may_go_aside.begin(), may_go_aside.end(), true) == may_go_aside.end()) return {};
  const Order order = OrderFinder(graph).Run();
  const Slack slack = SlackOf(order);
  const std::vector<int64_t> in_use = MemoryInUse(graph, LifespansOf(graph));
  const int64_t peak = *std::max_element(in_use.begin(), in_use.end());
  for (const double scarce : {1.0, 0.75, 0.0}) {
    std::vector<bool> tight;
    for (int64_t bytes : in_use) {
      tight.push_back(static_cast<double>(bytes) > scarce * static_cast<double>(peak));
    }
    StreamPlan plan = Scheduler(order, slack, may_go_aside, tight).Run();
    if (plan.aside.empty()) return plan;
    const std::vector<int64_t> then = MemoryInUse(graph, LifespansOn(graph, plan));
    const int64_t more = *std::max_element(then.begin(), then.end()) - peak;
    if (more <= std::max(peak / kMoreMemory, kLittleMemory)) return plan;
  }
  return {};
}

// An operation runs beside those of the other stream that have not waited for it. What a stream has
// waited for only grows, so they are the ones up to some position.
std::vector<size_t> InUseUntil(const StreamPlan& plan) {
  const size_t n = plan.aside.size();
  std::array<Positions, 2> instrs, known;  // by stream: its operations, what each has waited for
  std::array<size_t, 2> now = {0, 0};
  for (size_t at = 0; at < n; ++at) {
    const size_t side = plan.aside[at] ? 1 : 0;
    if (plan.wait_for[at] != StreamPlan::kNone) now[side] = plan.wait_for[at] + 1;
    instrs[side].push_back(at);
    known[side].push_back(now[side]);
  }
  std::vector<size_t> until(n);
  for (size_t at = 0; at < n; ++at) {
    const size_t other = plan.aside[at] ? 0 : 1;
    const auto first = std::upper_bound(known[other].begin(), known[other].end(), at);
    const auto beside = static_cast<size_t>(first - known[other].begin());
    until[at] = beside == 0 ? at : std::max(at, instrs[other][beside - 1]);
  }
  return until;
}

std::vector<Lifespan> LifespansOn(const Graph& graph, const StreamPlan& plan) {
  std::vector<Lifespan> spans = LifespansOf(graph);
  if (plan.aside.empty()) return spans;
  const std::vector<size_t> until = InUseUntil(plan);
  const auto extend = [&](ValueId id, size_t at) {
    if (id == kNoValue) return;
    Lifespan& span = spans[static_cast<size_t>(graph.value(id).buffer)];
    span.last = std::max(span.last, until[at]);
  };
  for (size_t at = 0; at < graph.instrs.size(); ++at) {
    if (!Computes(graph, graph.instrs[at])) continue;
    for (ValueId id : graph.instrs[at].in) extend(id, at);
    for (ValueId id : graph.instrs[at].out) extend(id, at);
  }
  return spans;
}

}  // namespace firn
