#ifndef FIRN_DEVICE_LEVEL_H_
#define FIRN_DEVICE_LEVEL_H_

// Which instructions the file being compiled may use. Only this header asks the compiler: it turns
// -m flags into a level, and all other code asks for levels. They are those of the x86-64 psABI:
//   4  AVX-512 F, BW, CD, DQ, VL     3  AVX2, FMA, F16C, BMI2     2  SSE4.2     1  every x86-64
//   0  other processors, of which the vectors of 16 bytes are used that all of them have
// Instructions that only some processors of a level have (AVX512-BF16, AMX) are in functions with a
// target of their own, and ThisCpu() (device/cpu.h) says whether they may be called.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512CD__) && \
    defined(__AVX512DQ__) && defined(__AVX512VL__)
#define FIRN_LEVEL 4
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__) && defined(__BMI2__)
#define FIRN_LEVEL 3
#elif defined(__SSE4_2__)
#define FIRN_LEVEL 2
#elif defined(__x86_64__)
#define FIRN_LEVEL 1
#else
#define FIRN_LEVEL 0
#endif

// Whether a product and a sum can be one instruction, with one rounding.
#if FIRN_LEVEL >= 3 || defined(__aarch64__)
#define FIRN_HAS_FMA 1
#else
#define FIRN_HAS_FMA 0
#endif

#endif  // FIRN_DEVICE_LEVEL_H_
