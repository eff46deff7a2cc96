// `turns N` does N equal turns of a few instructions, and little else: it is linked statically.

#include <cstdlib>

int main(int, char** argv) {
  for (long left = std::atol(argv[1]); left > 0; --left) asm volatile("");  // stays a loop
}
