#ifndef FIRN_FIRN_H_
#define FIRN_FIRN_H_

// Everything that a program about tensors needs: tensors, operations, indexing, random numbers,
// gradients.

#include "autograd/backward.h"
#include "autograd/gradcheck.h"
#include "device/parallel.h"
#include "tensor/dispatch.h"
#include "tensor/dlpack.h"
#include "tensor/error.h"
#include "tensor/format.h"
#include "tensor/from.h"
#include "tensor/index.h"
#include "tensor/ops.h"
#include "tensor/rng.h"
#include "tensor/tensor.h"

#endif  // FIRN_FIRN_H_
