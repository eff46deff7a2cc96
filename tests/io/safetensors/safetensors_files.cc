// For each path on the standard input: reads the file, types that Firn does not have widened, and
// writes what it read to PATH.firn: a line "OK PATH" or "ERROR PATH CODE MESSAGE".
#include <iostream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "firn/io/safetensors/safetensors.h"
#include "firn/tensor/error.h"
#include "firn/tensor/state_dict.h"

int main() {
  std::string path;
  while (std::getline(std::cin, path)) {
    try {
      firn::io::SaveSafetensors(path + ".firn", firn::io::LoadSafetensors(path, {.widen = true}));
      std::cout << "OK " << path << "\n";
    } catch (const firn::Error& e) {
      std::cout << "ERROR " << path << " " << absl::StatusCodeToString(e.code()) << " "
                << absl::CEscape(e.what()) << "\n";
    }
  }
  return 0;
}
