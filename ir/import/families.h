// The tables of operators, one a family; find_entry looks in all of them.
#pragma once
#include "ir/import/node.h"

namespace plumb::ir::onnx_import {

std::span<const OpEntry> elementwise_family();
std::span<const OpEntry> activation_family();
std::span<const OpEntry> constant_family();
std::span<const OpEntry> shape_family();
std::span<const OpEntry> slice_family();
std::span<const OpEntry> gather_family();
std::span<const OpEntry> scatter_family();
std::span<const OpEntry> reduce_family();
std::span<const OpEntry> contract_family();
std::span<const OpEntry> convolution_family();
std::span<const OpEntry> pool_family();
std::span<const OpEntry> normalization_family();
std::span<const OpEntry> pad_family();
std::span<const OpEntry> resize_family();
std::span<const OpEntry> recurrent_family();
std::span<const OpEntry> control_family();
std::span<const OpEntry> quantize_family();
std::span<const OpEntry> loss_family();
std::span<const OpEntry> sample_family();
std::span<const OpEntry> region_family();
std::span<const OpEntry> signal_family();
std::span<const OpEntry> unpool_family();
std::span<const OpEntry> determinant_family();
std::span<const OpEntry> scan_family();
std::span<const OpEntry> selection_family();
std::span<const OpEntry> random_family();
std::span<const OpEntry> ngram_family();
std::span<const OpEntry> roi_pool_family();

}  // namespace plumb::ir::onnx_import
