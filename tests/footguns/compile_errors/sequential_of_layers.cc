// error: write nn::New<nn::Linear>({.out = 10})
#include "firn/nn/linear.h"
#include "firn/nn/sequential.h"

void Make() {
#ifdef MISTAKE
  firn::nn::Sequential net({firn::nn::Linear({.out = 10})});
#else
  firn::nn::Sequential net({firn::nn::New<firn::nn::Linear>({.out = 10})});
#endif
}
