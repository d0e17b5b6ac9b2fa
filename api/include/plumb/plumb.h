// Plumb's public C++ interface: tensors with a tape, transforms and compilation; and programs from files.
#pragma once
#include <plumb/autograd.h>
#include <plumb/compile.h>
#include <plumb/functions.h>
#include <plumb/program.h>
#include <plumb/tensor.h>
#include <plumb/transforms.h>
