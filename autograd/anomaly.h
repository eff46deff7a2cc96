#ifndef FIRN_AUTOGRAD_ANOMALY_H_
#define FIRN_AUTOGRAD_ANOMALY_H_

#include <memory>

namespace firn {

// While one lives, every operation on this thread is checked, forward and backward, and the first
// one that makes a NaN or an infinity throws firn::Error (FailedPrecondition); so is every step of
// frozen graphs, whose run then ends with this error:
//
//   anomaly: backward of sqrt at encoder.norm: mul made 3 NaN of 128 elements (f32 [8, 16] on cpu,
//   the first at 5); inputs: x f32 [8, 16] on cpu, min 0, max inf, mean inf, 3 inf; ...
//
//   anomaly: mul at encoder.norm (backward) made 3 NaN of 128 elements (...
//
// A NaN is reported even when an input already held it (then the message shows it there); an
// infinity is reported only when neither an input nor an attribute held one, so that masks of -inf
// pass. Reads every result: expect a program to run several times slower. Scopes nest; an error in
// one operation leaves the results of earlier ones intact. Each instance serves one thread.
class AnomalyScope {
 public:
  struct Options {
    bool check_infinities = true;  // otherwise only NaN
  };
  [[nodiscard]] AnomalyScope() : AnomalyScope(Options()) {}
  [[nodiscard]] explicit AnomalyScope(const Options& options);
  ~AnomalyScope();
  AnomalyScope(const AnomalyScope&) = delete;
  AnomalyScope& operator=(const AnomalyScope&) = delete;

 private:
  class Observer;
  const std::unique_ptr<Observer> observer_;
};

}  // namespace firn

#endif  // FIRN_AUTOGRAD_ANOMALY_H_
