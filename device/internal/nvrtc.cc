// NVRTC's functions are found by name, and its types are pointers and ints: its header is not
// needed, and neither is the library where nothing is compiled.
#include "firn/device/internal/nvrtc.h"

#include <dlfcn.h>

#include <map>
#include <mutex>

namespace firn::inner::internal {
namespace {

using Program = void*;

struct Nvrtc {
  int (*create)(Program*, const char* text, const char* name, int headers, const char* const* texts,
                const char* const* names);
  int (*compile)(Program, int options, const char* const*);
  int (*log_size)(Program, size_t*);
  int (*log)(Program, char*);
  int (*code_size)(Program, size_t*);
  int (*code)(Program, char*);
  int (*destroy)(Program*);
  const char* (*name_of)(int error);
  std::string missing;  // why NVRTC cannot be used
};

template <class F>
void Find(void* library, const char* name, F* function, std::string* missing) {
  *function = reinterpret_cast<F>(dlsym(library, name));
  if (*function == nullptr) *missing = std::string("it has no ") + name;
}

Nvrtc Load(int cuda_major) {
  Nvrtc n = {};
  const std::string file = "libnvrtc.so." + std::to_string(cuda_major);
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    n.missing = why != nullptr ? why : "cannot load " + file;
    return n;
  }
  Find(library, "nvrtcCreateProgram", &n.create, &n.missing);
  Find(library, "nvrtcCompileProgram", &n.compile, &n.missing);
  Find(library, "nvrtcGetProgramLogSize", &n.log_size, &n.missing);
  Find(library, "nvrtcGetProgramLog", &n.log, &n.missing);
  Find(library, "nvrtcGetCUBINSize", &n.code_size, &n.missing);
  Find(library, "nvrtcGetCUBIN", &n.code, &n.missing);
  Find(library, "nvrtcDestroyProgram", &n.destroy, &n.missing);
  Find(library, "nvrtcGetErrorString", &n.name_of, &n.missing);
  return n;
}

const Nvrtc& Get(int cuda_major) {
  static std::mutex mutex;
  static auto* const loaded = new std::map<int, Nvrtc>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto at = loaded->find(cuda_major);
  return at != loaded->end() ? at->second
                             : loaded->emplace(cuda_major, Load(cuda_major)).first->second;
}

std::string LogOf(const Nvrtc& n, Program program) {
  size_t size = 0;
  if (n.log_size(program, &size) != 0 || size <= 1) return "";
  std::string log(size, '\0');
  if (n.log(program, log.data()) != 0) return "";
  log.resize(size - 1);
  return log;
}

int Compile(const Nvrtc& n, Program program, int capability, std::string* code) {
  const std::string arch = "--gpu-architecture=sm_" + std::to_string(capability);
  // nvcc compiles Firn's kernels in the same way: products and sums of one expression may be
  // contracted.
  const char* const options[] = {arch.c_str(), "--std=c++20", "--fmad=true",
                                 "--device-as-default-execution-space"};
  if (const int error = n.compile(program, 4, options); error != 0) return error;
  size_t size = 0;
  if (const int error = n.code_size(program, &size); error != 0) return error;
  code->resize(size);
  return n.code(program, code->data());
}

}  // namespace

std::string CompileCuda(const CudaSource& source, int capability, int cuda_major,
                        std::string* code) {
  const Nvrtc& n = Get(cuda_major);
  if (!n.missing.empty()) return "no NVRTC: " + n.missing;
  std::vector<const char*> names, texts;
  for (const auto& [name, text] : source.headers) {
    names.push_back(name.c_str());
    texts.push_back(text.c_str());
  }
  Program program = nullptr;
  int error = n.create(&program, source.text.c_str(), "firn_row.cu", static_cast<int>(names.size()),
                       texts.data(), names.data());
  if (error != 0) return std::string("nvrtcCreateProgram: ") + n.name_of(error);
  error = Compile(n, program, capability, code);
  std::string failure;
  if (error != 0) failure = std::string(n.name_of(error)) + "\n" + LogOf(n, program);
  static_cast<void>(n.destroy(&program));
  return failure;
}

}  // namespace firn::inner::internal
