// error: write nn::New<nn::Linear>({.out = 10})
#include "firn/nn/activation.h"
#include "firn/nn/linear.h"
#include "firn/nn/sequential.h"

using namespace firn;

void Make() {
#ifdef MISTAKE
  nn::Sequential net(nn::Linear({.out = 10}), nn::New<nn::Relu>());
#else
  nn::Sequential net({nn::New<nn::Linear>({.out = 10}), nn::New<nn::Relu>()});
#endif
}
