// NumPy's .npy: versions 1 to 3, little endian; both element orders are read, C order is written.
//
// bf16 and the 8-bit floats are no types of NumPy's own: ml_dtypes' arrays are stored as bare bytes of their width
// ('<V2', '<V1'), and so are ours; in Python, np.load(f).view(ml_dtypes.bfloat16) has them back. When such a file is
// read the caller says what the bytes are; unsaid, two bytes are bf16.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "ir/tensor/literal.h"

namespace plumb::ir {

/// `name` is named in messages. `bare`: the dtype of bare bytes; it has no say over files that state their own.
Literal read_npy(std::string_view bytes, std::string_view name, std::optional<DType> bare = {});
std::string write_npy(const Literal& literal);
Literal load_npy(const std::string& path, std::optional<DType> bare = {});
void save_npy(const std::string& path, const Literal& literal);

}  // namespace plumb::ir
