#!/usr/bin/env python3
"""Tensor's methods are a closed set: those below, each as often as it has overloads.

Every source reads tensor.h, and what PyTorch has as a method is a function here anyway:
docs/decisions/tensors.md says why, "Tensor's methods are a closed set".

It reads the header where it lies in the repository, which BUILD says by the tag "external".
"""

import os
import sys
import unittest
from collections import Counter

ROOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")
sys.path.insert(0, os.path.join(ROOT, "tools/scripts"))
from public_api import api  # noqa: E402

HEADER = "tensor/tensor.h"
CLASS = "firn::Tensor::"

# Methods that say what a tensor is, holds and remembers, and methods that change it.
OWN = """
    defined spec shape dtype device rank size num_elements is_contiguous impl impl_ptr Is ToString
    host_view mutable_host_view ToVector Item Equals
    requires_grad SetRequiresGrad is_leaf grad SetGrad ZeroGrad RetainGrad Backward Detach
    operator= operator= operator+= operator-= operator*= operator/= operator[] operator[]
    CopyFrom Fill
"""

# Methods with a function of the same name, or with one that the header names beside the method.
FUNCTIONS = """
    To To Contiguous Clone
    Reshape Reshape View Flatten Squeeze Unsqueeze Transpose T Permute Movedim Flip Expand Expand
    Tile Split Split Split Chunk Unbind
    Select IndexSelect IndexAdd IndexPut Gather ScatterAdd SliceScatter MaskedSelect MaskedFill
    Where Nonzero
    Abs Neg Sign Exp Expm1 Log Log1p Log2 Log10 Logaddexp Sqrt Rsqrt Square Reciprocal Pow
    Sin Cos Tan Asin Acos Atan Atan2 Sinh Cosh Tanh Asinh Acosh Atanh
    Erf Sinc Lgamma Digamma Polygamma Sigmoid Relu Hardshrink
    Floor Ceil Round Round Trunc Clamp Maximum Minimum Fmod Remainder Lerp NanToNum NanToNum
    Isnan Isinf Isinf Isfinite LogicalAnd LogicalOr LogicalXor LogicalNot
    BitwiseAnd BitwiseOr BitwiseXor BitwiseNot BitwiseLeftShift BitwiseRightShift
    Sum Mean Prod Var Std Norm Logsumexp All Any Amax Amin Max Max Min Min
    Argmax Argmax Argmin Argmin
    Softmax LogSoftmax Cumsum Cumsum Cumprod Cumprod Sort Sort Argsort Argsort Topk Topk
    Matmul Bernoulli Multinomial Multinomial
"""


class TensorMethodsTest(unittest.TestCase):

    def test_the_set_is_closed(self):
        declared = Counter(d.name.removeprefix(CLASS) for d in api(ROOT, [HEADER])
                           if d.name.startswith(CLASS) and d.access == "public" and
                           d.kind not in ("constructor", "destructor"))
        known = Counter((OWN + FUNCTIONS).split())
        self.assertFalse(declared - known, f"{HEADER}: Tensor gets no more methods. Write the "
                         "function alone; docs/decisions/tensors.md says why.")
        self.assertFalse(known - declared, f"{HEADER}: methods that programs call are gone.")


if __name__ == "__main__":
    unittest.main()
