// Parsing without protobuf's own messages on stderr: the library never prints. Template only, so that no protobuf
// header is needed here; the .cpp file that calls it has included them.
#pragma once
#include <string_view>

namespace plumb::ir::onnx_import {

void silence_protobuf();

/// False when the bytes are no such message. Protobuf bounds nesting (100) and the total size (2 GiB) itself.
template <class Message> bool parse_quietly(Message& m, std::string_view bytes) {
  silence_protobuf();
  return bytes.size() < (std::size_t{1} << 31) && m.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace plumb::ir::onnx_import
