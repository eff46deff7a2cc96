// NumPy for C++: arrays, views, indices, broadcasting and random numbers. No tensor here needs a
// gradient, so the tape records nothing.

#include <cstdint>
#include <iostream>
#include <vector>

#include "firn/firn.h"

using namespace firn;  // NOLINT: an example

int main() {
  Tensor a = Arange(12).Reshape({3, 4});
  std::cout << "a = " << a << "\n";

  a[{kAll, Range(0, 4, 2)}] = 0;  // every second column
  std::cout << "with every second column 0: " << a << "\n";
  std::cout << "last row: " << a[-1] << "\n";
  std::cout << "elements above 5: " << a[a > 5] << "\n";

  Tensor x = a.To(DType::kF32);
  std::cout << "column means: " << Mean(x, 0) << "\n";
  std::cout << "minus them: " << x - Mean(x, 0) << "\n";  // broadcasts over rows
  std::cout << "a^T r = " << x.T().Matmul(Randn({3, 2})) << "\n";

  // A view shares elements; Clone does not.
  Tensor row = x[0], copy = x[0].Clone();
  x[{0, 1}] = 100;
  std::cout << "view " << row << ", copy " << copy << "\n";

  // The tensor borrows pixels that belong to other code, and does not copy them.
  std::vector<uint8_t> pixels(2 * 2 * 3, 200);
  Tensor image = FromBlob(pixels.data(), {2, 2, 3}, DType::kU8);
  pixels[0] = 7;
  std::cout << "image " << image.shape() << " " << image.dtype() << ", first " << image[{0, 0, 0}]
            << "\n";
}
