// Shows that another workspace can link Firn and the libraries that firn_repositories() defines.
// Exit status 0 means that every answer was the expected one.

#include <cstdio>

#include "absl/status/statusor.h"

int main() {
  const absl::StatusOr<int> answer = 42;
  if (!answer.ok() || *answer != 42) return 1;
  std::puts("consumer: ok");
  return 0;
}
