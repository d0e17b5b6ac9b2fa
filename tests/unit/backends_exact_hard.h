// The hardest f32 arguments of each function: of all, or of all positive ones where the function is odd or even, those whose
// value lies nearest to the middle of two f32 numbers, relative to it; first comes the nearest, as a power of two. Found by doubles with an error below 2^-46 and, where those
// could not decide, MPFR. Arguments so small that f(x) is x beside its last place are left out.
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
    {"expm1", -52.8, {0x1.84a5bap-4f, 0x1.94c582p-22f, -0x1.eb97f8p-19f, 0x1.4a9cf4p-11f, 0x1.6a09e6p-24f, -0x1.f676d8p-9f}},
    {"log", -57.8, {0x1.b121a6p+76f, 0x1.bacb4ap+25f, 0x1.c09d7cp+27f, 0x1.5190cp+78f, 0x1.22d57p-65f, 0x1.2f1fd6p+3f}},
    {"log2", -51.3, {0x1.40f572p-2f, 0x1.22952p+127f, 0x1.22952p+126f, 0x1.22952p-126f, 0x1.22952p+125f, 0x1.22952p-125f}},
    {"log10", -55.8, {0x1.4d83bap+70f, 0x1.0acfc8p+67f, 0x1.7bdb9p+12f, 0x1.fddcf4p-98f, 0x1.1727b8p-91f, 0x1.9be058p+65f}},
    {"log1p", -66.4, {0x1.800006p-21f, -0x1.7ffffap-21f, 0x1.b121a6p+76f, 0x1.fb035ap-2f, 0x1.30bf04p+43f, 0x1.200036p-17f}},
    {"sin", -54.2, {0x1.487e0cp+103f, 0x1.33333p+13f, 0x1.95f654p+44f, 0x1.524856p+80f, 0x1.e35bc6p+7f, 0x1.a3eda6p+116f}},
    {"cos", -55.9, {0x1.2b9622p+67f, 0x1.3170fp+63f, 0x1.887814p+51f, 0x1.96344ep+117f, 0x1.119ae6p+115f, 0x1.20ffccp-7f}},
    {"tan", -54.5, {0x1.fa6748p+64f, 0x1.b0e75cp+59f, 0x1.296846p+111f, 0x1.78b08cp+11f, 0x1.5ce84cp+124f, 0x1.02e9bap+2f}},
    {"asin", -53.6, {0x1.107434p-1f, 0x1.cbf43cp-4f, 0x1.0f2b38p-5f, 0x1.d12edp-12f, 0x1.6fe272p-2f, 0x1.137f0cp-5f}},
    {"acos", -57.1, {0x1.04c444p-12f, 0x1.110b46p-26f, -0x1.80d99ap-7f, 0x1.145f36p-6f, -0x1.3abeeap-10f, 0x1.fa5036p-9f}},
    {"atan", -55.1, {0x1.1ad646p-4f, 0x1.f83792p-9f, 0x1.ac6ff4p-10f, 0x1.e00a3p+25f, 0x1.e00a2ep+25f, 0x1.6afe3ap+1f}},
    {"sinh", -54.3, {0x1.250bfep-11f, 0x1.6d543ep-9f, 0x1.fbe4bp-1f, 0x1.322898p+0f, 0x1.112856p+6f, 0x1.1389bp-5f}},
    {"cosh", -53.3, {0x1.deeeap-11f, 0x1.c12a5p-5f, 0x1.0f876cp-10f, 0x1.87eb1p-9f, 0x1.112856p+6f, 0x1.6a09e6p-12f}},
    {"tanh", -50.3, {0x1.86fbc4p-10f, 0x1.dc0accp-2f, 0x1.5969ap+2f, 0x1.a83722p-6f, 0x1.8bd194p+2f, 0x1.f860aap-5f}},
    {"asinh", -57.8, {0x1.b121a6p+75f, 0x1.c09d7cp+26f, 0x1.bacb4ap+24f, 0x1.5190cp+77f, 0x1.6351d8p+94f, 0x1.d1309cp+61f}},
    {"acosh", -57.8, {0x1.b121a6p+75f, 0x1.bacb4ap+24f, 0x1.c09d7cp+26f, 0x1.5190cp+77f, 0x1.6351d8p+94f, 0x1.d1309cp+61f}},
    {"atanh", -52.9, {0x1.e3cf42p-11f, 0x1.713744p-12f, 0x1.ac6fd6p-10f, 0x1.b85d9cp-4f, 0x1.9b2aecp-4f, 0x1.d5fa86p-10f}},
    {"erf", -56.3, {0x1.81d5acp-13f, 0x1.800afap-12f, 0x1.5d48ccp-18f, 0x1.1d3a5ap-20f, 0x1.546418p-54f, 0x1.546418p-59f}},
    {"erfc", -55.7, {-0x1.d93ec4p-17f, 0x1.8d0798p-23f, -0x1.d9366ep-9f, 0x1.949006p-16f, 0x1.d93ec4p-18f, -0x1.8d0798p-22f}},
    {"cbrt", -49.1, {0x1.06a76ap-116f, 0x1.06a76ap-113f, 0x1.06a76ap-23f, 0x1.06a76ap+55f, 0x1.06a76ap-92f, 0x1.06a76ap+34f}},
    {"rsqrt", -51.7, {0x1.7431c6p-49f, 0x1.7431c6p-105f, 0x1.7431c6p-47f, 0x1.7431c6p+55f, 0x1.7431c6p+9f, 0x1.7431c6p-77f}},
    {"sigmoid", -76.6, {-0x1p-24f, 0x1p-23f, -0x1.8p-23f, -0x1.4p-22f, 0x1.8p-22f, -0x1.cp-22f}},
};

}  // namespace plumb::backends
