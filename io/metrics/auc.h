#ifndef FIRN_IO_METRICS_AUC_H_
#define FIRN_IO_METRICS_AUC_H_

#include <cstdint>
#include <vector>

#include "firn/tensor/tensor.h"

namespace firn::io {

// The area under the ROC curve of a classifier of two classes, exactly: the probability that a
// positive sample has a larger score than a negative one, ties counting half (Mann and Whitney).
// Keeps every score, 8 bytes a sample. Thread-compatible.
class Auc {
 public:
  // Scores: [N] or [N, 1] of any floating type. Labels: as many, of any type, as the targets of
  // BinaryCrossEntropyWithLogits are: 1 or true for a positive sample, else 0. Any device. Throws
  // kInvalidArgument, and changes nothing, for anything else and for a NaN score.
  void Update(const Tensor& predictions, const Tensor& labels);
  // 0 to 1; NaN until there are samples of both classes.
  double Value() const;
  void Reset();
  // Adds what `other` saw, as if it had come here.
  void Merge(const Auc& other);
  // For MergeRanks.
  template <class V>
  void VisitNumbers(V& v) {
    for (auto* scores : {&positives_, &negatives_}) {
      v.List(*scores, [](V& each, double& score) {
        each(score);
        RequireNumber(score);  // another rank's scores are not trusted
      });
    }
  }

 private:
  static void RequireNumber(double score);

  std::vector<double> positives_, negatives_;
};

}  // namespace firn::io

#endif  // FIRN_IO_METRICS_AUC_H_
