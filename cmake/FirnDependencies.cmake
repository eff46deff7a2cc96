# Finds what Firn is linked with, for its own build and, installed, for programs that link the static library.
# Each is named with the Debian package that brings it. FIRN_LINKED_PACKAGES: those that such a
# program needs; FIRN_HEADERS_PACKAGES: those that any program needs.

set(FIRN_DEBIAN_PACKAGES "")

# Says in one line what is missing. In another program's build find_package(firn) decides what
# follows from it.
macro(firn_missing name package)
  if(CMAKE_FIND_PACKAGE_NAME STREQUAL "firn")
    set(firn_FOUND FALSE)
    set(firn_NOT_FOUND_MESSAGE "firn needs ${name}: install ${package}")
    return()
  endif()
  message(FATAL_ERROR " firn: ${name} is missing: install ${package}, or run ./setup")
endmacro()

# firn_dependency(PACKAGE DEBIAN_PACKAGE TARGET): what find_package knows.
macro(firn_dependency name package target)
  list(APPEND FIRN_DEBIAN_PACKAGES ${package})
  if(NOT TARGET ${target})
    find_package(${name} QUIET)
    if(NOT TARGET ${target})
      firn_missing(${name} ${package})
    endif()
  endif()
endmacro()

# firn_plain_dependency(TARGET NAME DEBIAN_PACKAGE HEADER FOLDER LIBRARY...): firn::TARGET, found by its files.
macro(firn_plain_dependency target name package header folder)
  list(APPEND FIRN_DEBIAN_PACKAGES ${package})
  if(NOT TARGET firn::${target})
    find_path(FIRN_${name}_INCLUDE_DIR ${header} PATH_SUFFIXES ${folder} HINTS "${FIRN_CUDA_HOME}/include")
    find_library(FIRN_${name}_LIBRARY NAMES ${ARGN} HINTS "${FIRN_CUDA_HOME}/lib64" "${FIRN_CUDA_HOME}/lib")
    mark_as_advanced(FIRN_${name}_INCLUDE_DIR FIRN_${name}_LIBRARY)
    if(NOT FIRN_${name}_INCLUDE_DIR OR NOT FIRN_${name}_LIBRARY)
      firn_missing(${name} ${package})
    endif()
    add_library(firn::${target} UNKNOWN IMPORTED)
    set_target_properties(firn::${target} PROPERTIES IMPORTED_LOCATION "${FIRN_${name}_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${FIRN_${name}_INCLUDE_DIR}")
  endif()
endmacro()

firn_dependency(absl libabsl-dev absl::status)
set(FIRN_HEADERS_PACKAGES ${FIRN_DEBIAN_PACKAGES})
if(NOT FIRN_ONLY_HEADERS)
  find_package(Threads QUIET REQUIRED)
  firn_dependency(ZLIB zlib1g-dev ZLIB::ZLIB)
  firn_dependency(PNG libpng-dev PNG::PNG)
  firn_dependency(JPEG libjpeg-dev JPEG::JPEG)
  firn_dependency(TIFF libtiff-dev TIFF::TIFF)
  firn_dependency(GIF libgif-dev GIF::GIF)

  # Debian's package for CMake asks for the headers of OpenCL.
  firn_plain_dependency(dnnl oneDNN libdnnl-dev oneapi/dnnl/dnnl.hpp "" dnnl)
  # The serial build; Debian has others beside it.
  firn_plain_dependency(hdf5 HDF5 libhdf5-dev hdf5.h hdf5/serial hdf5_serial hdf5)
endif()

# CUDA comes not from a package of Debian but from the toolkit in $CUDA_HOME, or in /usr/local/cuda.
set(FIRN_LINKED_PACKAGES ${FIRN_DEBIAN_PACKAGES})
set(FIRN_CUDA_HOME "$ENV{CUDA_HOME}")
if(NOT FIRN_CUDA_HOME)
  set(FIRN_CUDA_HOME /usr/local/cuda)
endif()
if(FIRN_CUDA AND NOT FIRN_ONLY_HEADERS)
  firn_plain_dependency(cudart CUDART "a CUDA toolkit" cuda_runtime.h "" cudart_static)
  firn_plain_dependency(cublaslt CUBLASLT "a CUDA toolkit" cublasLt.h "" cublasLt)
  firn_plain_dependency(cudnn CUDNN "cuDNN 9" cudnn.h "" cudnn)
  firn_plain_dependency(cufft CUFFT "a CUDA toolkit" cufftXt.h "" cufft)
  firn_plain_dependency(cublas CUBLAS "a CUDA toolkit" cublas_v2.h "" cublas)
  firn_plain_dependency(cusolver CUSOLVER "a CUDA toolkit" cusolverDn.h "" cusolver)
endif()

# Libraries that only sources include.
if(NOT CMAKE_FIND_PACKAGE_NAME STREQUAL "firn")
  firn_dependency(Eigen3 libeigen3-dev Eigen3::Eigen)
  firn_dependency(cereal libcereal-dev cereal::cereal)
  firn_dependency(nlohmann_json nlohmann-json3-dev nlohmann_json::nlohmann_json)
  if(FIRN_PROGRAM)
    firn_dependency(CLI11 libcli11-dev CLI11::CLI11)
  endif()
endif()
