// The hardest f32 arguments of each function: of all, or of all positive ones where the function is odd or even, those whose
// value lies nearest to the middle of two f32 numbers, relative to it; first comes the nearest, as a power of two.
#pragma once

namespace plumb::backends {

struct HardArguments {
  const char* name;
  double nearest;
  float at[6];
};
inline constexpr HardArguments hard_arguments[] = {
    {"exp", -52.6, {-0x1.d2259ap+3f, -0x1.e1dbe2p-8f, -0x1.c1c4b8p-10f, -0x1p-25f, 0x1.fdff02p-17f, 0x1.62b666p+1f}},
    {"exp2", -58.9, {-0x1.5a3f34p-21f, -0x1.e7526ep-6f, -0x1.a7a04cp-14f, 0x1.853a6ep-9f, -0x1.d8568p-10f, 0x1.0f0af8p-11f}},
};

}  // namespace plumb::backends
