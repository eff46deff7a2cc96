// What the functions of tensor/ops/random are called elsewhere, in the order of their headers.

#include "firn/io/exchange/names.h"

FIRN_NAMES(Binomial, .nnabla = "rand_binomial");
FIRN_NAMES(RandGamma, .nnabla = "rand_gamma");
FIRN_NAMES(RandBeta, .nnabla = "rand_beta");
FIRN_NAMES(Rand, .nnabla = "rand", .onnx = "RandomUniform");
FIRN_NAMES(RandLike, .onnx = "RandomUniformLike");
FIRN_NAMES(Uniform, .nnabla = "rand", .onnx = "RandomUniform");
FIRN_NAMES(Randn, .nnabla = "randn", .onnx = "RandomNormal");
FIRN_NAMES(RandnLike, .onnx = "RandomNormalLike");
FIRN_NAMES(Normal, .nnabla = "randn", .onnx = "RandomNormal");
FIRN_NAMES(Randint, .nnabla = "randint");
FIRN_NAMES(Bernoulli, .onnx = "Bernoulli");
FIRN_NAMES(Dropout, .nnabla = "dropout", .onnx = "Dropout");
FIRN_NAMES(Multinomial, .onnx = "Multinomial");
FIRN_NAMES(RandomChoice, .nnabla = "random_choice");
FIRN_NAMES(VatNoise, .nnabla = "vat_noise");
