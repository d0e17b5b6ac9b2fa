// TensorProto and Literal. Every size is checked against the data before memory is asked for.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "ir/tensor/literal.h"

namespace onnx {
class TensorProto;
}
namespace google::protobuf {
class MessageLite;
}

namespace plumb::ir::onnx_import {

/// Largest size of one axis that an imported program may have; keeps products of a size and a stride within 64 bits.
inline constexpr std::int64_t max_dim = std::int64_t{1} << 40;

/// The dtype of a TensorProto.DataType number; none for strings, complex and 4-bit types.
std::optional<DType> dtype_of(int data_type);
std::string data_type_name(int data_type);
int data_type_of(DType dtype);
/// As dtype_of, unsupported (naming `what`) when there is none.
DType require_dtype(int data_type, const std::string& what, const SourceLocation& where);

/// External data is looked for in `folder` and nowhere else.
Literal to_literal(const ::onnx::TensorProto& tensor, const std::filesystem::path& folder, const SourceLocation& where);
void to_proto(const Literal& value, std::string_view name, ::onnx::TensorProto& out);

/// False when the bytes are no such message. Prints nothing; protobuf bounds nesting (100) and total size (2 GiB) itself.
bool parse_message(::google::protobuf::MessageLite& message, std::string_view bytes);
/// A whole file; bad input when it cannot be read.
std::string read_file(const std::filesystem::path& path);

}  // namespace plumb::ir::onnx_import
