#ifndef FIRN_NN_LOAD_REPORT_H_
#define FIRN_NN_LOAD_REPORT_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace firn::nn {

// How a state dict and a module fit together. A plain value.
struct LoadReport {
  struct Misshaped {
    std::string name;
    std::string file, net;  // shapes, "[32, 1, 5, 5]"; an open size of the net is "?"
  };

  int64_t loaded = 0;                   // tensors copied
  std::vector<std::string> missing;     // names of the module that the dict lacks
  std::vector<std::string> unexpected;  // names of the dict that the module lacks
  std::vector<Misshaped> misshaped;
  std::vector<std::string> converted;    // "fc.weight: f64 to f32", of those loaded
  std::vector<std::string> suggestions;  // "fc.*": what the unexpected names may have meant

  bool ok() const { return missing.empty() && unexpected.empty() && misshaped.empty(); }
  // Guesses `suggestions` from the names.
  void Suggest();
  // "2 missing (fc.weight, fc.bias), 2 unexpected (head.weight, head.bias; did you mean fc.*?)", or
  // "all 62 loaded", and how many of them were converted.
  std::string ToString() const;
  friend std::ostream& operator<<(std::ostream& os, const LoadReport& r) {
    return os << r.ToString() << "\n";
  }
};

}  // namespace firn::nn

#endif  // FIRN_NN_LOAD_REPORT_H_
