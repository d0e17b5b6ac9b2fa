// interpreter/SPECIFICATION.md: prose from the fragments beside this file, everything else from the records.
#pragma once
#include <string>

namespace plumb::spec {

/// The whole document in Markdown.
std::string document();

}  // namespace plumb::spec
