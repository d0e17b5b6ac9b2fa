#include <algorithm>
#include <unordered_map>

#include "ir/import/families.h"

namespace plumb::ir::onnx_import {

const OpEntry* find_entry(std::string_view op_type) {
  static const auto index = [] {
    std::unordered_map<std::string_view, const OpEntry*> all;
    for (auto family : {elementwise_family(), activation_family(), constant_family(), shape_family(), slice_family(), gather_family(), scatter_family(), reduce_family(), contract_family(),
                        convolution_family(), pool_family(), normalization_family(), pad_family(), resize_family(), recurrent_family(), control_family(), quantize_family(), loss_family(),
                        sample_family(), region_family(), signal_family(), unpool_family(), determinant_family(), scan_family(), selection_family(), random_family(), ngram_family(), roi_pool_family()})
      for (const auto& e : family) require(all.emplace(e.name, &e).second, "an operator stands in one table only");
    return all;
  }();
  const auto it = index.find(op_type);
  return it == index.end() ? nullptr : it->second;
}

}  // namespace plumb::ir::onnx_import
