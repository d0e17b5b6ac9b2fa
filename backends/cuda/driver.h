// NVIDIA's driver API, loaded when it is first asked for: a program built here runs on machines without it. Names and values
// are the CUDA Driver API reference's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace plumb::backends::cuda {

using Result = int;
using Device = int;
using DevicePtr = std::uint64_t;
struct ContextHandle; struct ModuleHandle; struct FunctionHandle; struct StreamHandle; struct EventHandle; struct PoolHandle; struct GraphHandle; struct GraphExecHandle;
using Context = ContextHandle*;
using Module = ModuleHandle*;
using Function = FunctionHandle*;
using Stream = StreamHandle*;
using Event = EventHandle*;
using Pool = PoolHandle*;
using Graph = GraphHandle*;
using GraphExec = GraphExecHandle*;

inline constexpr Result out_of_memory = 2, stub_library = 34, device_unavailable = 46, no_device = 100, no_binary_for_gpu = 209, uncorrectable_ecc = 214, invalid_ptx = 218,
                        jit_compiler_not_found = 221, unsupported_ptx_version = 222, operating_system = 304, illegal_address = 700, launch_timeout = 702, context_destroyed = 709,
                        hardware_stack = 714, illegal_instruction = 715, misaligned_address = 716, invalid_address_space = 717, invalid_pc = 718, launch_failed = 719,
                        not_permitted = 800, system_not_ready = 802, driver_mismatch = 803, compatibility_unsupported = 804, unknown = 999;
inline constexpr int major_attribute = 75, minor_attribute = 76, multiprocessors_attribute = 16, shared_bytes_attribute = 97, l2_bytes_attribute = 38;
inline constexpr int function_dynamic_shared_attribute = 8;
inline constexpr int release_threshold_attribute = 4;
inline constexpr unsigned stream_non_blocking = 1;
inline constexpr int log_buffer = 5, log_buffer_bytes = 6;   ///< of cuModuleLoadDataEx: what the assembler says of an error

/// The functions used, by their names in the library less "cu".
#define PLUMB_CUDA_FUNCTIONS(F)                                                                                            \
  F(Init, "cuInit", unsigned)                                                                                              \
  F(DriverGetVersion, "cuDriverGetVersion", int*)                                                                          \
  F(GetErrorName, "cuGetErrorName", Result, const char**)                                                                  \
  F(GetErrorString, "cuGetErrorString", Result, const char**)                                                              \
  F(DeviceGetCount, "cuDeviceGetCount", int*)                                                                              \
  F(DeviceGet, "cuDeviceGet", Device*, int)                                                                                \
  F(DeviceGetName, "cuDeviceGetName", char*, int, Device)                                                                  \
  F(DeviceGetAttribute, "cuDeviceGetAttribute", int*, int, Device)                                                         \
  F(DeviceTotalMem, "cuDeviceTotalMem_v2", std::size_t*, Device)                                                           \
  F(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", Context*, Device)                                                  \
  F(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", Device)                                                       \
  F(CtxSetCurrent, "cuCtxSetCurrent", Context)                                                                             \
  F(MemGetInfo, "cuMemGetInfo_v2", std::size_t*, std::size_t*)                                                             \
  F(DeviceGetDefaultMemPool, "cuDeviceGetDefaultMemPool", Pool*, Device)                                                   \
  F(MemPoolSetAttribute, "cuMemPoolSetAttribute", Pool, int, void*)                                                        \
  F(MemPoolTrimTo, "cuMemPoolTrimTo", Pool, std::size_t)                                                                   \
  F(MemAllocAsync, "cuMemAllocAsync", DevicePtr*, std::size_t, Stream)                                                     \
  F(MemFreeAsync, "cuMemFreeAsync", DevicePtr, Stream)                                                                     \
  F(MemAllocHost, "cuMemAllocHost_v2", void**, std::size_t)                                                                \
  F(MemFreeHost, "cuMemFreeHost", void*)                                                                                   \
  F(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", DevicePtr, const void*, std::size_t, Stream)                                  \
  F(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", void*, DevicePtr, std::size_t, Stream)                                        \
  F(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", DevicePtr, DevicePtr, std::size_t, Stream)                                    \
  F(MemsetD8Async, "cuMemsetD8Async", DevicePtr, unsigned char, std::size_t, Stream)                                       \
  F(StreamCreate, "cuStreamCreate", Stream*, unsigned)                                                                     \
  F(StreamDestroy, "cuStreamDestroy_v2", Stream)                                                                           \
  F(StreamSynchronize, "cuStreamSynchronize", Stream)                                                                      \
  F(StreamBeginCapture, "cuStreamBeginCapture_v2", Stream, int)                                                            \
  F(StreamEndCapture, "cuStreamEndCapture", Stream, Graph*)                                                                \
  F(GraphInstantiate, "cuGraphInstantiateWithFlags", GraphExec*, Graph, unsigned long long)                                \
  F(GraphLaunch, "cuGraphLaunch", GraphExec, Stream)                                                                       \
  F(GraphDestroy, "cuGraphDestroy", Graph)                                                                                 \
  F(GraphExecDestroy, "cuGraphExecDestroy", GraphExec)                                                                     \
  F(EventCreate, "cuEventCreate", Event*, unsigned)                                                                        \
  F(EventDestroy, "cuEventDestroy_v2", Event)                                                                              \
  F(EventRecord, "cuEventRecord", Event, Stream)                                                                           \
  F(EventElapsedTime, "cuEventElapsedTime", float*, Event, Event)                                                          \
  F(ModuleLoadDataEx, "cuModuleLoadDataEx", Module*, const void*, unsigned, int*, void**)                                  \
  F(ModuleUnload, "cuModuleUnload", Module)                                                                                \
  F(ModuleGetFunction, "cuModuleGetFunction", Function*, Module, const char*)                                              \
  F(FuncSetAttribute, "cuFuncSetAttribute", Function, int, int)                                                            \
  F(LaunchKernel, "cuLaunchKernel", Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**, void**)

struct Driver {
#define PLUMB_CUDA_POINTER(name, symbol, ...) Result (*name)(__VA_ARGS__) = nullptr;
  PLUMB_CUDA_FUNCTIONS(PLUMB_CUDA_POINTER)
#undef PLUMB_CUDA_POINTER

  /// Unsupported, naming what was tried, the driver's words and the mend, unless the result is success.
  void check(Result r, const std::string& doing) const;
  std::string message(Result r) const;
};

/// The loaded and initialised driver: libcuda.so.1, or the library that the environment's PLUMB_CUDA_DRIVER names. Unsupported
/// where there is none, or one too old for what is used here.
const Driver& driver();

}  // namespace plumb::backends::cuda
