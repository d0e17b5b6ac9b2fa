// The one list of operations: the families' lists, joined. An operation's number is its place in it.
#pragma once
#include "ir/tensor/ops/activation.h"
#include "ir/tensor/ops/arithmetic.h"
#include "ir/tensor/ops/backward.h"
#include "ir/tensor/ops/bits.h"
#include "ir/tensor/ops/complex.h"
#include "ir/tensor/ops/composite.h"
#include "ir/tensor/ops/contract.h"
#include "ir/tensor/ops/control.h"
#include "ir/tensor/ops/distance.h"
#include "ir/tensor/ops/dynamic.h"
#include "ir/tensor/ops/elementwise.h"
#include "ir/tensor/ops/fft.h"
#include "ir/tensor/ops/gather.h"
#include "ir/tensor/ops/indexing.h"
#include "ir/tensor/ops/linalg_svd.h"
#include "ir/tensor/ops/loss.h"
#include "ir/tensor/ops/normalization.h"
#include "ir/tensor/ops/pad_modes.h"
#include "ir/tensor/ops/pool.h"
#include "ir/tensor/ops/random_draws.h"
#include "ir/tensor/ops/reduce.h"
#include "ir/tensor/ops/resample.h"
#include "ir/tensor/ops/scan.h"
#include "ir/tensor/ops/scatter.h"
#include "ir/tensor/ops/selection.h"
#include "ir/tensor/ops/statistics.h"
#include "ir/tensor/ops/updates.h"
#include "ir/tensor/ops/view.h"

namespace plumb::ir {

using AllOps = JoinLists<ops::ElementwiseOps, ops::ViewOps, ops::GatherOps, ops::ScatterOps, ops::ReduceOps, ops::ScanOps, ops::BitsOps, ops::DynamicOps,
                         ops::RandomOps, ops::DistributionOps, ops::DrawOps, ops::ContractOps, ops::ControlOps, ops::CompositeOps,
                         ops::ComplexOps, ops::LinalgOps, ops::LinalgSolveOps, ops::LinalgSvdOps, ops::FftOps,
                         ops::ActivationOps, ops::ArithmeticOps, ops::StatisticsOps, ops::NormalizationOps, ops::LossOps,
                         ops::PoolOps, ops::ResampleOps, ops::IndexingOps, ops::SelectionOps, ops::PadModeOps, ops::DistanceOps, ops::BackwardOps,
                         ops::UpdateOps>;

consteval bool operations_well_formed() {
  for (const auto& r : AllOps::rows)
    if (r.doc.empty() || std::ranges::count(AllOps::rows, r.name, &OpRow::name) != 1) return false;
  return true;
}
static_assert(operations_well_formed(), "every record has a doc and a name of its own");

}  // namespace plumb::ir
