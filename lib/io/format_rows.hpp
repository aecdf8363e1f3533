#pragma once

#include "io/format.hpp"

namespace attn {

// The rows of THE LIST, each defined beside its format.
const ArrayFormat& npy_format();
const ArrayFormat& npz_format();
const ArrayFormat& safetensors_format();
const ArrayFormat& json_format();
const ArrayFormat& csv_format();
const ArrayFormat& tsv_format();
const ArrayFormat& plain_text_format();

/// The format whose extension the path ends in (any case), or null.
const ArrayFormat* format_of_extension(std::string_view path);

}  // namespace attn
